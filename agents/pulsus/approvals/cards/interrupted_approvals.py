"""Approvals that a crash left in doubt: their process ended before their end was on record.

Nothing here runs an approval again. A person looks at what happened, and settles it (ADR 49) with
`cli/serve/approvals_command.py`. Approvals that still wait for a person are in
`waiting_approvals.py`. Effect: database, log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from pulsus.approvals.cards.execution_ledger import ExecutionLedger, LedgerRow
from pulsus.approvals.cards.execution_locks import ExecutionLocks
from pulsus.approvals.cards.record_card_decisions import CardDecisions
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.core.types import JsonValue
from pulsus.errors import ApprovalUnknown, UsageError
from pulsus.fast_dataclass import dataclass

_RECENT_SECONDS: Final = 2.0
"""Pages ask for the list at every event of a card: the database is read once in this time."""


@dataclass(frozen=True, slots=True)
class InterruptedApproval:
    """An approval that waits for a person after a crash."""

    row: LedgerRow

    @property
    def in_doubt(self) -> bool:
        """Return True if it was started and may have taken effect; False if it never started."""
        return self.row.state == "started"

    @property
    def since(self) -> str:
        """Return the time of its start, or else the time at which the approval became void."""
        return self.row.started_at if self.in_doubt else self.row.expires_at

    @property
    def reason(self) -> str:
        """Return what is known of it, and what to do."""
        settle = f"pulsus approvals settle {self.row.card}"
        if self.in_doubt:
            return (
                f"Started at {self.since}, and its process ended before the end was on record. "
                f"Look if it took effect, then: {settle} --done or --not-done"
            )
        return (
            f"Approved, and its process ended before it started. It is void since {self.since}, "
            f"and nothing ran. Take it off the list: {settle} --not-done"
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Return it as a card of `GET /api/v1/approvals`, with the status "unknown"."""
        row = self.row
        return {
            "id": row.card,
            "kind": row.kind,
            "risk_level": "high",
            "reason": self.reason,
            "requester": row.requester,
            "targets": [],
            "plan": row.plan,
            "plan_hash": row.digest,
            "executor": "",
            "created_at": row.approved_at,
            "expires_at": row.expires_at,
            "status": "unknown",
            "decided_by": row.approver,
            "decided_at": row.approved_at,
            "note": "",
            "results": [*row.results],
            "in_doubt": self.in_doubt,
            "since": self.since,
        }


class InterruptedApprovals:
    """The approvals of one project that a crash left open. Raises what the ledger raises."""

    def __init__(
        self,
        ledger: ExecutionLedger,
        locks: ExecutionLocks,
        decisions: CardDecisions,
        clock: Clock = utc_now,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger, self._locks, self._decisions, self._clock = ledger, locks, decisions, clock
        self._seconds, self._guard = seconds, threading.Lock()
        self._recent: tuple[InterruptedApproval, ...] = ()
        self._recent_until = float("-inf")

    def find(self) -> tuple[InterruptedApproval, ...]:
        """Return those that no process carries out any more, the oldest first."""
        found = map(InterruptedApproval, self._ledger.unfinished())
        return tuple(each for each in found if self._is_open(each))

    def recent(self) -> tuple[InterruptedApproval, ...]:
        """Return what `find` returned in the last two seconds."""
        with self._guard:
            if self._seconds() >= self._recent_until:
                self._recent = self.find()
                self._recent_until = self._seconds() + _RECENT_SECONDS
            return self._recent

    def get(self, card_id: str) -> InterruptedApproval:
        """Return one of them. Raises ApprovalUnknown for any other."""
        found = next((each for each in self.find() if each.row.card == card_id), None)
        if found is None:
            raise ApprovalUnknown(
                f"no approval {card_id!r} was left without an end",
                hint="pulsus approvals list shows those that were",
            )
        return found

    def settle(self, card_id: str, person: str, reason: str, *, took_effect: bool) -> LedgerRow:
        """Record what a person found, in the decision log and in the ledger. Return the record.

        Raises ApprovalUnknown for an approval that was not left open, UsageError for an effect of
        one that never started, and what the log and the ledger raise. Nothing runs.
        """
        found = self.get(card_id)
        if took_effect and not found.in_doubt:
            raise UsageError(
                f"{card_id} was never started, so it did not take effect",
                hint=f"pulsus approvals settle {card_id} --not-done --reason TEXT",
            )
        self._locks.hold(card_id)  # of two people, one settles it
        try:
            row = self._read_locked(card_id)
            self._decisions.settled(row, person, reason, took_effect=took_effect)
        finally:
            self._locks.release(card_id)
        return self._ledger.row(card_id)

    def _read_locked(self, card_id: str) -> LedgerRow:
        """Return the record of an approval while its lock is held here. Raises ApprovalUnknown."""
        row = self._ledger.row(card_id)
        if row.state not in ("started", "approved"):
            raise ApprovalUnknown(f"the request {card_id} was settled meanwhile: it is {row.state}")
        return row

    def _is_open(self, found: InterruptedApproval) -> bool:
        if found.in_doubt:
            return not self._locks.is_held(found.row.card)
        # Before its time is over, a process may still start it.
        return self._clock() >= datetime.fromisoformat(found.row.expires_at)
