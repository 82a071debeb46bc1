"""Decide what may happen, for agent and plans alike: pure functions over values."""
