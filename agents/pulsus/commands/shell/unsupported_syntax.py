"""Refuse the shell's syntax that is not followed: `while`, `$(…)`, functions and more.

Command substitution, variables (`$HOME`), here-documents (heredoc), functions, `if`, and `&` for
the background are refused by it.

Every kind of node has its reason, and what to write instead, in `unsupported_syntax.yaml`.
"""

from __future__ import annotations

from pathlib import Path

from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shipped_data import rules_of


def unfollowed(kind: str, text: str) -> Unreadable:
    """Return the refusal of a node of this kind that stands as `text` in the command."""
    reasons = rules_of(Path(__file__).with_name("unsupported_syntax.yaml"))
    rule, instead = reasons.get(kind, (f"{kind.replace('_', ' ')} is not followed", ""))
    return Unreadable(text[:40], rule, instead)
