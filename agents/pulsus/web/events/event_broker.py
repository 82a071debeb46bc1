"""Events for every open page: numbered, kept for a while, and resumed after a broken connection.

The last 5,000 events are kept. The number of streams that listen has no limit
(`web/api/event_stream.py`). Each stream knows the number of the last event that it has. A client
that is slower than the events are forgotten is cut off, and so is one that was away for too long:
it has to load everything again (server-sent events: `Last-Event-ID`).
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

KEPT_EVENTS: Final = 5000


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events that follow each other. `last` is the number of the last one, from 1.

    `text` has them as a stream has it: written once, and not again for each client.
    """

    text: bytes
    last: int


def stream_message(number: int, name: str, fields: Mapping[str, JsonValue]) -> bytes:
    """Return an event as a stream of server-sent events has it."""
    return f"id: {number}\r\nevent: {name}\r\ndata: {json.dumps(dict(fields))}\r\n\r\n".encode()


class EventsLost(Exception):
    """The events that a client missed are no longer kept: it has to load everything again."""


class EventBroker:
    """Numbers every event, and keeps the last ones. Safe for use by several threads.

    `most_kept` are kept.
    """

    def __init__(self, most_kept: int = KEPT_EVENTS) -> None:
        self._kept: deque[bytes] = deque(maxlen=most_kept)
        self._number = 0
        self._batch = EventBatch(b"", 0)
        self._batch_after = 0
        self._wakes: tuple[Callable[[], None], ...] = ()
        self._lock = threading.Lock()

    def emit(self, name: str, fields: Mapping[str, JsonValue]) -> None:
        """Add an event, and wake those who listen. Never waits for one of them."""
        with self._lock:
            self._number += 1
            self._kept.append(stream_message(self._number, name, fields))
            wakes = self._wakes
        for wake in wakes:
            wake()

    def listen(self, wake: Callable[[], None]) -> None:
        """Let `wake` be called after each event, from any thread."""
        with self._lock:
            self._wakes = (*self._wakes, wake)

    def leave(self, wake: Callable[[], None]) -> None:
        """Call `wake` no more."""
        with self._lock:
            self._wakes = tuple(each for each in self._wakes if each != wake)

    def after(self, number: int) -> EventBatch | None:
        """Return the events after that number; None without a later one.

        Raises EventsLost if some are no longer kept, or the number is from another server.
        """
        with self._lock:
            if number == self._number:
                return None
            count = self._number - number
            if not 0 < count <= len(self._kept):
                raise EventsLost
            # Most clients have seen the same events, and get the same bytes.
            if (self._batch_after, self._batch.last) != (number, self._number):
                found = islice(self._kept, len(self._kept) - count, None)
                self._batch = EventBatch(b"".join(found), self._number)
                self._batch_after = number
            return self._batch

    @property
    def last_number(self) -> int:
        """Return the number of the latest event, 0 before the first."""
        return self._number
