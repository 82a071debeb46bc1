"""Cards of stored requests: promotions and plans, carried out once a person approved (ADR 56).

Other processes store requests while the server runs, and requests outlive it: `sync` makes cards of
those that wait, at the latest after 2 s. One that cannot be shown is tried again (retry) after 30
s. One request runs at a time; it is refused if its subject changed meanwhile. `routing/requests/`
carries it out. Effects: those of a promotion, or of the steps of a plan.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from pulsus.approvals.cards.approval_card import ENDED, ApprovalCard
from pulsus.approvals.cards.card_events import EmitCardEvent
from pulsus.approvals.cards.stored_requests import RequestKind, StoredRequest, StoredRequests
from pulsus.approvals.cards.waiting_approvals import WaitingApprovals
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.core.types import JsonValue
from pulsus.errors import ApprovalUnknown, Busy, PlanMoved, PulsusError, TooManyApprovals
from pulsus.routing.requests.carried_request import CarriedRequest, RequestCarrier, RequestRun

POLL_SECONDS: Final = 2.0
"""A request of another process becomes a card after this time at the latest."""

_SYNC_SECONDS: Final = 0.5
_RETRY_SECONDS: Final = 30.0
"""A request that cannot be shown is looked at again after this time: it reads the catalogue."""

_CLOSE_SECONDS: Final = 10.0


class RequestCards:
    """The stored requests of one server. Safe for use by several threads."""

    def __init__(
        self,
        approvals: WaitingApprovals,
        store: StoredRequests,
        carriers: Mapping[RequestKind, RequestCarrier],
        emit: EmitCardEvent,
        tell: Callable[[str], None],
        clock: Clock = utc_now,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._approvals, self._store, self._carriers, self._emit = approvals, store, carriers, emit
        self._tell = tell
        self._clock, self._seconds = clock, seconds
        self._shown: dict[str, StoredRequest] = {}
        self._retry: dict[str, float] = {}
        self._told: dict[str, str] = {}
        """Failures that were told, by the card; "" is that of reading the store."""
        self._lock = threading.Lock()
        self._next = float("-inf")
        self._running = threading.Semaphore(1)
        self._closed = threading.Event()

    def start(self) -> None:
        """Look for new requests in a thread, until `close`."""
        threading.Thread(target=self._poll, name="requests", daemon=True).start()

    def sync(self) -> None:
        """Make cards of the requests that wait, and end those whose time is over.

        Raises what the store raises. It reads at most twice in a second.
        """
        with self._lock:
            if self._seconds() < self._next:
                return
            self._next = self._seconds() + _SYNC_SECONDS
            self._approvals.expire()
            waiting = self._store.pending()
            self._forget_ended({request.card for request in waiting})
            for request in waiting:
                self._show(request)

    def approve(self, token: str, approver: str, card_id: str | None) -> dict[str, JsonValue]:
        """Approve a request, carry it out, and return the answer to the approval (contracts).

        Raises what `WaitingApprovals.approve` raises. In each case nothing runs.
        """
        card = self._approvals.opened_by(token, approver, card_id=card_id)
        request = self._shown.get(card.id)
        if request is None:
            raise ApprovalUnknown(f"the request {card.id} has ended", hint="ask for it again")
        approved = self._approvals.approve(
            token, approver, lambda card: self._digest_now(card, request), card_id=card.id
        )
        return self._carry_out(approved, request)

    def close(self) -> None:
        """Begin nothing more. Waits some seconds for the record of the end of what runs."""
        self._closed.set()
        if self._running.acquire(timeout=_CLOSE_SECONDS):
            self._running.release()

    def _poll(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            try:
                self.sync()
            except PulsusError as failure:
                self._tell_once("", "requests cannot be read", failure)
            else:
                self._told.pop("", None)

    def _show(self, request: StoredRequest) -> None:
        seconds = request.seconds_left(self._clock())
        if seconds <= 0 or self._has_expired(request.card):
            self._store.expire(request.card)
            return
        if request.card in self._shown or self._seconds() < self._retry.get(request.card, 0.0):
            return
        carrier = self._carriers[request.kind]
        try:
            card = self._approvals.propose(
                carrier.subject(request),
                risk=carrier.risk(request),
                reason=request.reason,
                seconds=seconds,
                card_id=request.card,
            )
        except TooManyApprovals:
            return  # it becomes a card once others were decided
        except PulsusError as failure:
            self._retry[request.card] = self._seconds() + _RETRY_SECONDS
            self._tell_once(request.card, f"the request {request.card} cannot be shown", failure)
            return
        self._shown[card.id] = request

    def _forget_ended(self, waiting: set[str]) -> None:
        """Forget what no longer waits: a server that runs for months keeps no old request."""
        for card_id in self._shown.keys() - waiting:
            if self._has_ended(card_id):
                del self._shown[card_id]
        for card_id in self._retry.keys() - waiting:
            del self._retry[card_id]
        for about in self._told.keys() - waiting - {""}:
            del self._told[about]

    def _has_ended(self, card_id: str) -> bool:
        try:
            return self._approvals.get(card_id).status in ENDED
        except ApprovalUnknown:
            return True

    def _has_expired(self, card_id: str) -> bool:
        if card_id not in self._shown:
            return False
        try:
            return self._approvals.get(card_id).status == "expired"
        except ApprovalUnknown:
            return True  # it ended so long ago that it is no longer listed

    def _tell_once(self, about: str, what: str, failure: PulsusError) -> None:
        message = f"{what}: {'; '.join(filter(None, (failure.message, failure.hint)))}"
        if self._told.get(about) != message:
            self._told[about] = message
            self._tell(message)

    def _digest_now(self, card: ApprovalCard, request: StoredRequest) -> str:
        return self._carriers[request.kind].subject(request).digest

    def _carry_out(self, approved: ApprovalCard, request: StoredRequest) -> dict[str, JsonValue]:
        # One at a time: two that hold alone may not hold together.
        with self._running:
            self._require_startable(approved, request)
            started = self._approvals.start(approved.id)
            run = RequestRun(approved.decided_by, lambda *step: self._report(started.id, *step))
            try:
                done = self._carriers[request.kind].carry_out(request, run)
            except PulsusError as failure:
                done = CarriedRequest(False, (f"FAILED: {failure.message}",), {})
            except BaseException as fault:
                lines = (f"FAILED: the execution ended with {type(fault).__name__}",)
                self._approvals.finish(started.id, lines, ok=False)
                raise
            ended = self._approvals.finish(started.id, done.lines, ok=done.ok)
        return {
            "executed": sum(line.startswith("OK") for line in done.lines),
            "results": [*done.lines],
            "actions": [],
            "status": ended.status,
            **done.fields,
        }

    def _require_startable(self, approved: ApprovalCard, request: StoredRequest) -> None:
        """Withdraw an approval whose subject moved while another one ran. Raises PulsusError."""
        try:
            if self._closed.is_set():
                raise Busy("the server ends", hint="ask again at the next server")
            if self._digest_now(approved, request) != approved.subject.digest:
                raise PlanMoved(
                    f"what the request {approved.id} shows has changed while another one ran",
                    hint="ask for it as it is now",
                )
        except PulsusError as moved:
            self._approvals.withdraw(approved.id, approved.decided_by, moved.message)
            raise

    def _report(self, card_id: str, index: int, total: int, action: str, ok: bool | None) -> None:
        fields: dict[str, JsonValue] = {
            "id": card_id, "index": index, "total": total, "action": action, "ok": ok,
        }  # fmt: skip
        self._emit("execution_progress", fields)
