"""One YAML table a program, and a call split by it (docs/commands.md)."""
