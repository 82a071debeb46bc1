"""An existing script becomes a tool, statically (docs/guides/add-a-tool.md)."""
