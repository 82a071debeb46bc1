"""Decide whether SQL only reads.

`sql.py` decides: INSERT, UPDATE, DELETE and DDL are writes. Joins without a condition are refused
in `unbounded_joins.py`, unknown functions in `sql_functions.py`, settings with passwords in
`printed_settings.py`.
"""
