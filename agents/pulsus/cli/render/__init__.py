"""Decisions, plans and reports as text and JSON; the result of a tool: `cli/results/`."""
