"""The journal of runs of plans: records in state.db, results as files, one owner a run (ADR 42)."""
