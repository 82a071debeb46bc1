"""Commands that only a shell knows: run by another program, the name means another program.

`commands/call_check/nested_commands.py` asks it.
"""

from __future__ import annotations

from typing import Final

BUILTINS: Final = frozenset(
    {
        *("alias", "bind", "builtin", "caller", "cd", "command", "compgen", "complete", "dirs"),
        *("hash", "help", "history", "jobs", "set", "shopt", "times", "type", "ulimit", "umask"),
    }
)
"""Builtins that have a table. No program of that name belongs to a usual system."""

HANDS_ON: Final = frozenset({"command", "builtin", "time"})
"""Words of the shell that run a builtin as one."""
