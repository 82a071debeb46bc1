"""Approvals of one agent session: calls that wait for an answer, or got one (architecture §6).

They are in memory and expire after `agent.approval_minutes` (`config/settings.py`); at most 100
wait. Each is answered once, and is bound to the exact call (plan) that was shown: if its hash
changed, it is refused (`call_question.py` computes it). A restart voids all of them.

If a call needs an approval at all is decided in `call_verdict.py`. The cards on which several
people decide at `pulsus serve` are in `approvals/cards/waiting_approvals.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from pulsus.core.text.plurals import counted
from pulsus.errors import ApprovalNeeded, Denied
from pulsus.fast_dataclass import dataclass

ApprovalStatus = Literal["pending", "approved", "denied", "expired", "consumed"]

MOST_PENDING: Final = 100
_MOST_KEPT: Final = 1000
"""Answered and expired requests that are still shown. The oldest go first."""


@dataclass(frozen=True, slots=True)
class CallApproval:
    """One request. Times are seconds of the clock; `reason` is that of a denial."""

    approval_id: str
    plan_hash: str
    command: str
    created: float
    expires: float
    status: ApprovalStatus = "pending"
    reason: str = ""


class CallApprovals:
    """The requests of one session. Safe for use by several threads."""

    def __init__(
        self, clock: Callable[[], float], *, seconds: float, most: int = MOST_PENDING
    ) -> None:
        self._clock, self.seconds, self._most = clock, seconds, most
        self._records: dict[str, CallApproval] = {}
        self._lock = threading.Lock()

    def create(
        self, approval_id: str, plan_hash: str, command: str, *, seconds: float | None = None
    ) -> CallApproval:
        """Add a request. Raises Denied if too many wait, ValueError for an id that is taken."""
        with self._lock:
            self._expire()
            if approval_id in self._records:
                raise ValueError(f"approval {approval_id} exists already")
            waiting = sum(each.status == "pending" for each in self._records.values())
            if waiting >= self._most:
                raise Denied(
                    f"no more than {counted(waiting, 'request')} for approval can wait at a time",
                    hint="approve or deny some of them first",
                )
            now = self._clock()
            expires = now + (self.seconds if seconds is None else seconds)
            record = CallApproval(approval_id, plan_hash, command, now, expires)
            self._records[approval_id] = record
            return record

    def get(self, approval_id: str) -> CallApproval:
        """Return the request as it is now. Raises Denied for an unknown one."""
        with self._lock:
            self._expire()
            return self._find(approval_id)

    def pending(self) -> tuple[CallApproval, ...]:
        """Return the requests that wait, the oldest first."""
        with self._lock:
            self._expire()
            return tuple(each for each in self._records.values() if each.status == "pending")

    def approve(self, approval_id: str) -> CallApproval:
        """Approve a request that waits. Raises Denied for any other."""
        return self._answer(approval_id, "approved", "")

    def deny(self, approval_id: str, reason: str) -> CallApproval:
        """Deny a request that waits. Raises Denied for any other."""
        return self._answer(approval_id, "denied", reason)

    def consume(self, approval_id: str, plan_hash: str) -> CallApproval:
        """Use up an approval for the call of this hash. Raises ApprovalNeeded or Denied.

        An approval of another call stays as it is.
        """
        with self._lock:
            self._expire()
            record = self._find(approval_id)
            if record.status != "approved":
                raise ApprovalNeeded(
                    f"approval {approval_id} is {record.status}", hint="ask for a new approval"
                )
            if record.plan_hash != plan_hash:
                raise Denied(
                    f"approval {approval_id} is for another call: {record.command}",
                    hint="ask for an approval of the call as it is now",
                )
            return self._set(replace(record, status="consumed"))

    def clean_up(self) -> int:
        """Mark requests whose time is over as expired, and return how many they are."""
        with self._lock:
            return self._expire()

    def _answer(self, approval_id: str, status: ApprovalStatus, reason: str) -> CallApproval:
        with self._lock:
            self._expire()
            record = self._find(approval_id)
            if record.status != "pending":
                raise Denied(
                    f"approval {approval_id} is {record.status} already",
                    hint="each request is answered once",
                )
            return self._set(replace(record, status=status, reason=reason))

    def _find(self, approval_id: str) -> CallApproval:
        record = self._records.get(approval_id)
        if record is None:
            raise Denied(
                f"there is no approval {approval_id!r}",
                hint="a restart voids all requests: run the agent again",
            )
        return record

    def _set(self, record: CallApproval) -> CallApproval:
        self._records[record.approval_id] = record
        return record

    def _expire(self) -> int:
        """Expire what was not used in time: requests, and approvals as well."""
        now, count = self._clock(), 0
        for record in list(self._records.values()):
            if record.status in {"pending", "approved"} and now >= record.expires:
                self._set(replace(record, status="expired"))
                count += 1
        over = len(self._records) - _MOST_KEPT
        for record in list(self._records.values()) if over > 0 else ():
            if over > 0 and record.status not in {"pending", "approved"}:
                del self._records[record.approval_id]
                over -= 1
        return count
