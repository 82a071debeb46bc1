"""Carry out an approved migration plan, action by action, and verify each on its node (§32.4)."""
