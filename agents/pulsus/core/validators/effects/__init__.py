"""Compare what a module does, by its text and in its dry run, with its contract (ADR 33)."""
