"""`pulsus commands classify`, `list`, `show` and `check` (docs/commands.md)."""
