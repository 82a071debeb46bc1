"""The `pulsus` command: one module a subcommand."""
