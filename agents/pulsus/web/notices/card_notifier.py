"""Sends a notice of each new card to every target, in a thread of its own.

A failed delivery is not retried. It is shown on the page and in the terminal of the server, and
stops nothing. At most 200 notices wait. One delivery, with its timeout, is `notice_delivery.py`.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.core.types import JsonValue
from pulsus.errors import ApprovalUnknown
from pulsus.fast_dataclass import dataclass
from pulsus.web.notices.card_notice import CardNotice, card_notice
from pulsus.web.notices.notice_delivery import DeliveryFailed, describe_target

_MOST_WAITING: Final = 200
_KEPT_FAILURES: Final = 20

Deliver = Callable[[CardNotice, str], None]
"""Sends a notice to a target. Raises DeliveryFailed."""


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A notice that did not reach its target. `target` is without secrets."""

    card_id: str
    target: str
    reason: str


class CardNotifier:
    """Hears the events of cards. `tell` is called with each failure.

    `get_card` is set later: the waiting approvals call `hear`, so they are made after this.
    """

    def __init__(
        self,
        targets: Sequence[str],
        deliver: Deliver,
        address: str,
        tell: Callable[[FailedDelivery], None],
    ) -> None:
        self._targets, self._deliver = tuple(targets), deliver
        self._address, self._tell = address, tell
        self.get_card: Callable[[str], ApprovalCard] | None = None
        self._waiting: queue.Queue[str | None] = queue.Queue(_MOST_WAITING)
        self._failures: deque[FailedDelivery] = deque(maxlen=_KEPT_FAILURES)
        self._thread: threading.Thread | None = None

    @property
    def failures(self) -> tuple[FailedDelivery, ...]:
        """Return the latest failed deliveries, newest first."""
        return tuple(reversed(self._failures))

    def hear(self, name: str, fields: Mapping[str, JsonValue]) -> None:
        """Send the notices of a new card later. It never waits: the waiting approvals call it."""
        if name != "approval_requested" or not self._targets:
            return
        card_id = str(fields["id"])
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="notices", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(card_id)
        except queue.Full:
            reason = f"{_MOST_WAITING} notices wait already"
            for target in self._targets:
                self._fail(FailedDelivery(card_id, describe_target(target), reason))

    def close(self, seconds: float) -> None:
        """Send what waits, for `seconds` at most."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(seconds)

    def _work(self) -> None:
        while (card_id := self._waiting.get()) is not None:
            assert self.get_card is not None
            try:
                card = self.get_card(card_id)
            except ApprovalUnknown:
                continue
            notice = card_notice(card, self._address)
            for target in self._targets:
                try:
                    self._deliver(notice, target)
                except DeliveryFailed as failure:
                    self._fail(FailedDelivery(card_id, describe_target(target), str(failure)))

    def _fail(self, failure: FailedDelivery) -> None:
        self._failures.append(failure)
        self._tell(failure)
