"""Prove that a shell command only reads, without a model and without running anything.

`classify.py` decides, and its functions ask the folders: `shell/` parses, `call_check/` compares a
call with its table, `risk/` finds secrets and rates, `cost/` finds what runs too long,
`destinations/` finds hosts, `inspectors/` read SQL, awk, jq and others.

If a policy allows or blocks a command is decided in `gates/command_policy.py`. docs/commands.md has
the model and how to add a program.
"""

from pulsus.commands.classify import classify
from pulsus.commands.command_verdict import CommandVerdict

__all__ = ["CommandVerdict", "classify"]
