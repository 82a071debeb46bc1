"""Rate the risk of a command: its level, secrets and devices.

`secret_files.py` refuses secret files, `secret_printing_calls.py` calls that print secrets,
`risk_level.py` rates a command. The list of secret places is `commands/rules/sensitive.yaml`.
"""
