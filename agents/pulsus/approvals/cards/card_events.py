"""The events of approval cards (contracts, `GET /api/v1/events`). None carries a token.

`web/events/event_broker.py` numbers and keeps them for the open pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.core.types import JsonValue

CardChange = Literal["requested", "approved", "denied", "expired"]
EmitCardEvent = Callable[[str, Mapping[str, JsonValue]], None]
"""Takes the name of an event and its fields."""


def change_events(
    card: ApprovalCard, change: CardChange, seconds: float
) -> list[tuple[str, dict[str, JsonValue]]]:
    """Return the events of one change. A migration has one of its own beside the general one.

    `seconds` is the time until the card expires.
    """
    general: dict[str, JsonValue] = {"id": card.id, "kind": card.subject.kind}
    events = [(f"approval_{change}", general)]
    if card.subject.kind == "migration":
        events.append(_migration_event(card, change, seconds))
    return events


def _migration_event(
    card: ApprovalCard, change: CardChange, seconds: float
) -> tuple[str, dict[str, JsonValue]]:
    if change == "requested":
        plan = card.subject.plan
        return "migration_proposal", {
            "id": card.id, "plan": plan, "reason": card.reason, "expires_in": int(seconds),
        }  # fmt: skip
    fields: dict[str, JsonValue] = {"id": card.id}
    if change == "approved":
        plan = card.subject.plan
        fields["plan_count"] = len(plan) if isinstance(plan, list) else 1
    return f"migration_{change}", fields


def start_events(card: ApprovalCard) -> list[tuple[str, dict[str, JsonValue]]]:
    """Return the event of a start. A migration reports each of its actions itself."""
    plan = card.subject.plan
    if card.subject.kind != "command" or not isinstance(plan, dict):
        return []
    fields: dict[str, JsonValue] = {
        "id": card.id, "index": 0, "total": 1, "action": plan.get("command", ""), "ok": None,
    }  # fmt: skip
    return [("execution_progress", fields)]


def end_events(card: ApprovalCard) -> list[tuple[str, dict[str, JsonValue]]]:
    """Return the event of the end of an execution. `executed` counts the actions that succeeded."""
    succeeded = sum(str(row).startswith("OK") for row in card.results)
    fields: dict[str, JsonValue] = {
        "id": card.id, "executed": succeeded, "results": [*card.results],
    }  # fmt: skip
    return [("execution_done", fields)]
