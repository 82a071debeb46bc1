"""Project settings that need the approval of this machine's user (ADR 27).

An untrusted value is refused or ignored in `bootstrap/project_trust.py`. The command is
`cli/setup/config_trust_command.py`.
"""
