"""The text of a card on a terminal. Pure.

The card is made in `approvals/cards/approval_card.py`, and its text cleaned in
`approvals/cards/card_text.py`.

Characters that hide or deceive are shown as codes: what a person approves is what is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pulsus.approvals.cards.card_text import card_text
from pulsus.core.telemetry.visible_text import visible_command

CONTINUED: Final = 20
"""The column at which a folded line of a card goes on: no line of a card begins there."""

_SCREEN: Final = 20
"""Lines of a card that a small terminal still shows above the question."""


def card_row(card: dict[str, Any]) -> str:
    """Return a card on one line, with the first line of its reason."""
    reason = next(iter(card_text(card).reason), "")
    return f"{_head(card)}  {_text(card['requester'])}  {reason}".rstrip()


def card_lines(card: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a card. No text in it makes a line of its own (`card_text`)."""
    text = card_text(card)
    yield _head(card)
    yield f"  asked by    {_text(card['requester'])}"
    parts = (("reason", text.reason), ("plan", text.plan), ("difference", text.difference))
    for label, lines in parts:
        for name, line in _labelled(label, lines):
            yield f"  {name:<10}  {line}"
    length = sum(len(lines) for _, lines in parts)
    if length > _SCREEN:
        yield f"  length      {length} lines: scroll up to read them"
    if card["kind"] == "migration" and card["executor"]:
        dry = "nothing is moved" if card["executor"] == "dry-run" else "VMs are moved"
        yield f"  executor    {_text(card['executor'])}: {dry}"
    if card["targets"]:
        yield f"  targets     {_text(', '.join(card['targets']))}"
    yield f"  plan hash   {_text(card['plan_hash'][:12])}"
    yield f"  expires     {_text(card['expires_at'])}"
    if card["decided_by"]:
        at = f", at {_text(card['decided_at'])}" if card.get("decided_at") else ""
        yield f"  decided by  {_text(card['decided_by'])}{at}"
    for name, line in _labelled("result", [_text(row) for row in card["results"]]):
        yield f"  {name:<10}  {line}"


def _head(card: dict[str, Any]) -> str:
    return _text(f"{card['id']}  {_state(card)}  {card['kind']}  risk {card['risk_level']}")


def _state(card: dict[str, Any]) -> str:
    """Return the state of a card in words: of "unknown" there are two sorts."""
    if card["status"] != "unknown":
        return str(card["status"])
    return "in doubt" if card.get("in_doubt") else "never started"


def _labelled(name: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with the name before the first one only."""
    yield from ((name if number == 0 else "", line) for number, line in enumerate(lines))


def _text(value: object) -> str:
    """Return a value on one line, with codes for characters that hide or deceive."""
    return visible_command(str(value))
