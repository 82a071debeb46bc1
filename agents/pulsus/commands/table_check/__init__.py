"""Check whether a table is right (`pulsus commands check`).

`checker.py` finds the mistakes; `cli/commands/table_check.py` prints them.
"""
