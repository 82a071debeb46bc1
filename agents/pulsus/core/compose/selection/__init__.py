"""Decide whether to select one tool, compose several or generate one (spec §5, §6)."""
