"""The journal of runs of plans: records in state.db, results as files, one owner a run (ADR 42).

The lock that lets one process run a run is in `run_folder.py`, old runs are removed by
`old_runs.py`.

The log of decisions, such as promotions, is `core/storage/decision_log/`.
"""
