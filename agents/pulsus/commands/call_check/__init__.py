"""Check one program call against its table.

`judge.py` decides, `value_kinds.py` has the kinds of words, `nested_commands.py` follows `xargs`,
`timeout` and `ssh`.
"""
