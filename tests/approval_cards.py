"""Waiting approvals for tests: with clocks that tests set, and decisions that are only listed."""

from __future__ import annotations

from dataclasses import dataclass, field

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.card_ports import CardPorts
from pulsus.approvals.cards.waiting_approvals import WaitingApprovals
from pulsus.core.types import JsonValue

MOVE: dict[str, JsonValue] = {"action": "migrate", "vmid": 101, "source": "pve1", "target": "pve2"}
SUBJECT = ApprovalSubject("migration", [MOVE], "ada", ("vm:pve1:101",), {"t": "ab"}, "1")


@dataclass
class RecordedDecisions:
    """Lists the decisions that it gets. `error` is raised instead, as by a full disk."""

    rows: list = field(default_factory=list)
    error: Exception | None = None

    def _keep(self, what, card):
        if self.error is not None:
            raise self.error
        self.rows.append((what, card.id))

    def approved(self, card):
        self._keep("approved", card)

    def denied(self, card):
        self._keep("denied", card)

    def started(self, card):
        self._keep("started", card)

    def ended(self, card):
        self._keep("ended", card)


class ApprovalsOfTest:
    """Waiting approvals, their clock in seconds, their events and decisions."""

    def __init__(self, approvers=1, decisions=None, **options):
        self.seconds = 0.0
        self.events: list[tuple[str, dict[str, JsonValue]]] = []
        self.decisions = decisions or RecordedDecisions()
        self.approvals = WaitingApprovals(
            CardPorts(
                self.decisions,
                lambda name, fields: self.events.append((name, dict(fields))),
                lambda: self.seconds,
                lambda: approvers,
            ),
            **options,
        )

    def propose(self, subject=SUBJECT, seconds=600):
        return self.approvals.propose(subject, risk="high", reason="drain pve1", seconds=seconds)

    def token(self, card, person="ada", **options):
        return self.approvals.reveal(card.id, person, **options).token

    def approve(self, token, person="ada", **options):
        return self.approvals.approve(token, person, unmoved, **options)


def unmoved(card):
    return card.subject.digest
