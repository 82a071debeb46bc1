"""One YAML table a program, and a call split by it (docs/commands.md).

A table, `commands/tables/NAME.yaml`, is the allowlist of options and operands of one program:
`program_table.py` has its form, `loader.py` finds its file.
"""
