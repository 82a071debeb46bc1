"""`.pulsus/state.db`: the one SQLite database of a project (ADR 42)."""
