"""A change is verified by a read, after the run and before anything else runs (ADR 41)."""
