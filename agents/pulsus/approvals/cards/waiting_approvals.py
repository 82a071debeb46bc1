"""The approval cards that wait at `pulsus serve`: decided, denied or expired (ADR 49).

`approve` checks that an approval is still valid and for the same change. `_refuse_own` refuses the
approval of an own request (four eyes) if there are several approvers. This is where a waiting
(pending) approval is kept: in memory, until one person approves or denies it, or its time is over.
Approving takes a token that was revealed to that person. Whatever happens at the same time, a card
is decided once, and a denial before the start wins. Safe for use by several threads: while the
decision on one card is written, others are decided too, and share the write (tool calling §32.5).

How long a card waits is a setting: `approvals.request_minutes`, `agent.approval_minutes` or
`migrations.approval_minutes` (`config/settings.py`).

Elsewhere: one card is `approval_card.py`; a request of another process that waits for a server is
in `stored_requests.py`; a decision is recorded by `record_card_decisions.py`, and what was approved
is in `execution_ledger.py`; a call of the agent at the terminal waits in
`agent/control/call_approvals.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from pulsus.approvals.cards.approval_card import (
    ENDED,
    ApprovalCard,
    ApprovalSubject,
    CardStatus,
)
from pulsus.approvals.cards.card_events import (
    CardChange,
    change_events,
    end_events,
    start_events,
)
from pulsus.approvals.cards.card_ports import CardPorts
from pulsus.approvals.cards.one_time_token import LiveTokens, is_token
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.errors import (
    ApprovalUnknown,
    PlanMoved,
    SelfApprovalRefused,
    TooManyApprovals,
    UsageError,
)
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk

MOST_PENDING: Final = 100
OS_USER: Final = "os:"
"""Begins a requester who showed no token of an account. No account has such a name."""

MOST_KEPT: Final = 1000
"""Cards that ended and are still shown. The oldest go first."""

_MOST_REASON: Final = 1000
"""Characters of the reason of a denial."""


@dataclass(frozen=True, slots=True)
class RevealedToken:
    """A token for the person who asked for it. `repr` does not show it."""

    token: str
    expires_in: int

    def __repr__(self) -> str:
        """Return a text without the token."""
        return f"RevealedToken(expires_in={self.expires_in})"


class WaitingApprovals:
    """All cards of one process. They end with it; what was approved is in the ledger."""

    def __init__(
        self, ports: CardPorts, *, most: int = MOST_PENDING, most_kept: int = MOST_KEPT
    ) -> None:
        self._ports, self._most, self._most_kept = ports, most, most_kept
        self._cards: dict[str, ApprovalCard] = {}
        self._ends: dict[str, float] = {}
        self._tokens = LiveTokens(ports.random)
        self._lock = threading.RLock()
        # Cards whose change is being kept. Nothing else changes them, and they do not expire.
        self._changing: set[str] = set()
        self._released = threading.Condition(self._lock)

    def propose(
        self,
        subject: ApprovalSubject,
        *,
        risk: ApprovalRisk,
        reason: str,
        seconds: float,
        card_id: str = "",
    ) -> ApprovalCard:
        """Add a card and return it. Without `card_id` it gets a new id.

        Raises TooManyApprovals; ValueError for no time to decide, and for an id that is taken.
        """
        if seconds <= 0:
            raise ValueError("a card needs time to be decided")
        with self._lock:
            self._expire()
            if card_id in self._cards:
                raise ValueError(f"there is a card {card_id} already")
            waiting = sum(card.status == "pending" for card in self._cards.values())
            if waiting >= self._most:
                raise TooManyApprovals(
                    f"no more than {counted(waiting, 'request')} for approval can wait at a time",
                    hint="approve or deny some of them first",
                )
            now = self._ports.now()
            card = ApprovalCard(
                card_id or f"apr-{self._ports.random(8)}",
                subject,
                risk,
                reason,
                _as_text(now),
                _as_text(now + timedelta(seconds=seconds)),
            )
            self._cards[card.id] = card
            self._ends[card.id] = self._ports.seconds() + seconds
            self._announce(card, "requested")
            self._forget_old()
            return card

    def cards(self) -> tuple[ApprovalCard, ...]:
        """Return all cards as they are now, the oldest first."""
        with self._lock:
            self._expire()
            return tuple(self._cards.values())

    def get(self, card_id: str) -> ApprovalCard:
        """Return a card as it is now. Raises ApprovalUnknown."""
        with self._lock:
            self._expire()
            return self._find(card_id)

    def reveal(self, card_id: str, approver: str, *, to_deny: bool = False) -> RevealedToken:
        """Return a new token of a pending card for one signed-in person.

        It voids an earlier token of that person for that card, and no other. Raises
        ApprovalUnknown for a card that is not pending, and SelfApprovalRefused unless `to_deny`:
        a denial runs nothing, and `approve` refuses an own request by itself.
        """
        with self._lock:
            self._expire()
            card = self._find(card_id)
            if card.status != "pending":
                raise _decided(card)
            if not to_deny:
                self._refuse_own(card, approver)
            token = self._tokens.mint(card_id, approver)
            return RevealedToken(token, int(self._ends[card_id] - self._ports.seconds()))

    def approve(
        self,
        token: str,
        approver: str,
        digest_now: Callable[[ApprovalCard], str],
        *,
        card_id: str | None = None,
    ) -> ApprovalCard:
        """Approve the card of a token, and return it. Exactly one caller gets it.

        `digest_now` computes the digest of the subject from what is on disk and in the facts now.
        `card_id` is the card that the caller means, if it said so. Raises ApprovalUnknown for a
        token that is unknown, used, expired or of another person; PlanMoved if the digest differs;
        SelfApprovalRefused; and any error of keeping the decision. In each case nothing runs.
        """
        with self._change(lambda: self._open(token, approver, card_id)) as card:
            self._refuse_own(card, approver)
            if digest_now(card) != card.subject.digest:
                with self._lock:
                    self._tokens.void(card.id)
                raise PlanMoved(
                    f"what the request {card.id} shows has changed since it was made",
                    hint="deny it, and ask for the plan as it is now",
                )
            approved = replace(
                card, status="approved", decided_by=approver, decided_at=self._now_text()
            )
            self._ports.decisions.approved(approved)
            self._end_decision(approved, "approved")
            return approved

    def opened_by(self, token: str, approver: str, *, card_id: str | None = None) -> ApprovalCard:
        """Return the pending card of a token, without deciding it. Raises as `approve` does."""
        with self._lock:
            self._expire()
            card = self._open(token, approver, card_id)
            self._refuse_own(card, approver)
            return card

    def deny(
        self, token: str, approver: str, reason: str, *, card_id: str | None = None
    ) -> ApprovalCard:
        """Deny the card of a token, and return it. Raises ApprovalUnknown.

        Everyone who may approve may deny, also an own request.
        """
        with self._change(lambda: self._open(token, approver, card_id)) as card:
            denied = self._denied(card, approver, reason)
            self._ports.decisions.denied(denied)
            self._end_decision(denied, "denied")
            return denied

    def withdraw(self, card_id: str, approver: str, reason: str) -> ApprovalCard:
        """Deny a card without a token: a denial of what was approved wins until it starts.

        Raises ApprovalUnknown for a card that was started, has ended, or does not exist.
        """
        with self._change(lambda: self._find(card_id)) as card:
            if card.status not in ("pending", "approved"):
                raise _decided(card)
            denied = self._denied(card, approver, reason)
            self._ports.decisions.denied(denied)
            self._end_decision(denied, "denied")
            return denied

    def start(self, card_id: str) -> ApprovalCard:
        """Mark an approved card as started, and return it. Exactly one caller gets it.

        Raises ApprovalUnknown for any other state, and any error of keeping the start.
        """
        with self._change(lambda: self._find(card_id)) as card:
            if card.status != "approved":
                raise _unknown(f"the request {card_id} is {card.status}, not approved")
            started = replace(card, status="started")
            self._ports.decisions.started(started)
            with self._lock:
                self._cards[card_id] = started
                self._emit(start_events(started))
            return started

    def finish(self, card_id: str, results: tuple[JsonValue, ...], *, ok: bool) -> ApprovalCard:
        """Mark a started card as done or failed, and return it."""
        with self._change(lambda: self._find(card_id)) as card:
            if card.status != "started":
                raise _unknown(f"the request {card_id} is {card.status}, not started")
            status: CardStatus = "done" if ok else "failed"
            ended = replace(card, status=status, results=results)
            self._ports.decisions.ended(ended)
            with self._lock:
                self._cards[card_id] = ended
                self._emit(end_events(ended))
            return ended

    def expire(self) -> int:
        """End the cards whose time is over, and return their number."""
        with self._lock:
            return self._expire()

    def _open(self, token: str, approver: str, card_id: str | None) -> ApprovalCard:
        """Return the pending card of a token of this person."""
        if not is_token(token):
            raise UsageError("the token is missing or no token", hint="reveal the request first")
        opened = self._tokens.card_of(token, approver)
        if opened is None or card_id not in (None, opened):
            raise ApprovalUnknown(
                "the token is unknown, used or expired", hint="reveal the request again"
            )
        card = self._find(opened)
        if card.status != "pending":
            raise _decided(card)
        return card

    def _refuse_own(self, card: ApprovalCard, approver: str) -> None:
        requester = card.subject.requester
        if requester.startswith(OS_USER) and self._ports.approvers() > 1:
            raise SelfApprovalRefused(
                f"the system user {requester.removeprefix(OS_USER)} asked for {card.id}, and that "
                "may be any of the approvers",
                hint="deny it, and let it be asked for with a token: --token-file FILE",
            )
        if requester == approver and self._ports.approvers() > 1:
            raise SelfApprovalRefused(
                f"{approver} asked for {card.id}, so another person has to approve it",
                hint="ask another approver; you may deny it",
            )

    def _denied(self, card: ApprovalCard, approver: str, reason: str) -> ApprovalCard:
        note = reason[:_MOST_REASON].strip()
        return replace(
            card, status="denied", decided_by=approver, decided_at=self._now_text(), note=note
        )

    def _now_text(self) -> str:
        return _as_text(self._ports.now())

    def _find(self, card_id: str) -> ApprovalCard:
        card = self._cards.get(card_id)
        if card is None:
            raise _unknown(f"there is no request {card_id!r}")
        return card

    @contextmanager
    def _change(self, find: Callable[[], ApprovalCard]) -> Iterator[ApprovalCard]:
        """Yield the card that `find` returns, for this thread alone to change.

        Other cards can be changed meanwhile. Raises what `find` raises.
        """
        with self._released:
            self._expire()
            while (card := find()).id in self._changing:
                self._released.wait()
                self._expire()
            self._changing.add(card.id)
        try:
            yield card
        finally:
            with self._released:
                self._changing.discard(card.id)
                self._released.notify_all()

    def _end_decision(self, card: ApprovalCard, change: CardChange) -> None:
        with self._lock:
            self._cards[card.id] = card
            self._tokens.void(card.id)
            self._announce(card, change)

    def _announce(self, card: ApprovalCard, change: CardChange) -> None:
        rest = self._ends[card.id] - self._ports.seconds()
        self._emit(change_events(card, change, rest))

    def _emit(self, events: list[tuple[str, dict[str, JsonValue]]]) -> None:
        for name, fields in events:
            self._ports.emit(name, fields)

    def _expire(self) -> int:
        now, count = self._ports.seconds(), 0
        for card in list(self._cards.values()):
            # An approval that was not started in time is void as well.
            is_open = card.status in ("pending", "approved") and card.id not in self._changing
            if is_open and now >= self._ends[card.id]:
                self._end_decision(replace(card, status="expired"), "expired")
                count += 1
        return count

    def _forget_old(self) -> None:
        ended = [one for one in self._cards.values() if one.status in ENDED]
        for card in ended[: max(0, len(self._cards) - self._most_kept)]:
            del self._cards[card.id], self._ends[card.id]


def _as_text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _unknown(message: str) -> ApprovalUnknown:
    return ApprovalUnknown(
        message, hint="`pulsus approvals list` shows what waits, with --all also what ended"
    )


def _decided(card: ApprovalCard) -> ApprovalUnknown:
    """Return the error for a card that waits for no decision any more: it says who decided."""
    why = f"{card.decided_by} decided it at {card.decided_at}"
    if card.status == "expired":
        why = f"its time was over at {card.expires_at}"
        if card.decided_by:
            why += f". {card.decided_by} approved it at {card.decided_at}, but it was not started"
    return ApprovalUnknown(
        f"the request {card.id} is {card.status} already: {why}",
        hint=f"`pulsus approvals show {card.id}` shows how it ended",
    )
