"""Typed settings: every threshold, weight and limit."""
