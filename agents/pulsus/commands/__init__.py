"""Prove that a shell command only reads, without a model and without running anything.

`examine` finds, `classify` decides. docs/commands.md has the model and how to add a program.
"""

from pulsus.commands.classify import classify
from pulsus.commands.command_verdict import CommandVerdict

__all__ = ["CommandVerdict", "classify"]
