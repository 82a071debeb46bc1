"""Approval cards for tests: a book with clocks that tests set, and decisions that are only kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from pulsus.approvals.cards.approval_book import ApprovalBook, BookPorts
from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.core.types import JsonValue

MOVE: dict[str, JsonValue] = {"action": "migrate", "vmid": 101, "source": "pve1", "target": "pve2"}
SUBJECT = ApprovalSubject("migration", [MOVE], "ada", ("vm:pve1:101",), {"t": "ab"}, "1")


@dataclass
class KeptDecisions:
    """Keeps what a book tells it. `error` is raised instead, as by a full disk."""

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


class BookOfTest:
    """A book, its clock in seconds, its events and what it kept."""

    def __init__(self, approvers=1, keep=None, **options):
        self.seconds = 0.0
        self.events: list[tuple[str, dict[str, JsonValue]]] = []
        self.keep = keep or KeptDecisions()
        self.book = ApprovalBook(
            BookPorts(
                self.keep,
                lambda name, fields: self.events.append((name, dict(fields))),
                lambda: self.seconds,
                lambda: approvers,
            ),
            **options,
        )

    def propose(self, subject=SUBJECT, seconds=600):
        return self.book.propose(subject, risk="high", reason="drain pve1", seconds=seconds)

    def token(self, card, person="ada"):
        return self.book.reveal(card.id, person).token

    def approve(self, token, person="ada", **options):
        return self.book.approve(token, person, unmoved, **options)


def unmoved(card):
    return card.subject.digest
