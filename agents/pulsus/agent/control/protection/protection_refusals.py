"""Word refusals for the sake of Pulsus itself. Pure.

What is protected is decided in `self_protection.py`.
"""

from __future__ import annotations

from pulsus.commands.shell.words import Unreadable
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse, tool_blocked


@dataclass(frozen=True, slots=True)
class BlockedWord:
    """The word that decides, and the rule in a sentence."""

    word: str
    rule: str


def refuse_file(blocked: BlockedWord, kind: CallKind) -> ToolResponse:
    """Return the refusal of a call that reads or writes a file of Pulsus."""
    return tool_blocked(
        "POLICY_BLOCKED" if kind == "write" else "SENSITIVE_PATH",
        f"{blocked.word}: {blocked.rule}, and no approval changes that",
        auto_recoverable=False,
    )


def refuse_process(word: str, rule: str) -> ToolResponse:
    """Return the refusal of a call that starts, ends or reaches Pulsus."""
    return tool_blocked(
        "POLICY_BLOCKED",
        f"{word}: {rule}, and no approval changes that",
        auto_recoverable=False,
    )


def refuse_unread(error: Unreadable) -> ToolResponse:
    """Return the refusal of a write whose words do not say what it would change."""
    instead = error.instead or "write out each command with its values"
    return tool_blocked(
        "POLICY_BLOCKED",
        f"{error.word}: {error.rule}, so it is not known what the command would change",
        recovery_hint=instead,
        auto_recoverable=True,
    )
