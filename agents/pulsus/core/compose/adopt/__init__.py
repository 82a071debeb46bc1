"""Existing scripts turned into tools, statically (docs/guides/add-a-tool.md)."""
