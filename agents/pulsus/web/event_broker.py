"""Events for every open page: numbered, kept for a while, and resumed after a broken connection.

A client that is slower than the events is cut off, and comes back with the number of the last event
that it saw. Then it gets what it missed (server-sent events: `Last-Event-ID`).
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

KEPT_EVENTS: Final = 5000
MOST_WAITING: Final = 1000
"""Events that wait for one client, at most."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event. `number` counts from 1.

    `message` is the event as a stream has it: written once, and not again for each client.
    """

    number: int
    name: str
    fields: Mapping[str, JsonValue]
    message: bytes


def stream_message(number: int, name: str, fields: Mapping[str, JsonValue]) -> bytes:
    """Return an event as a stream of server-sent events has it."""
    return f"id: {number}\r\nevent: {name}\r\ndata: {json.dumps(dict(fields))}\r\n\r\n".encode()


class EventsLost(Exception):
    """The events that a client missed are no longer kept: it has to load everything again."""


class Subscription:
    """The events for one client. `wake` is called, from any thread, when there are new ones.

    It is called once until they are taken: waking 500 clients for each event of many costs more
    than sending the events.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: deque[ServerEvent] = deque()
        self._woken = False
        self.too_slow = False

    def put(self, event: ServerEvent) -> None:
        """Add an event, unless the client is too slow already."""
        if self.too_slow:
            return
        if len(self._waiting) >= MOST_WAITING:
            self.too_slow = True
            self._waiting.clear()
        else:
            self._waiting.append(event)
        if not self._woken:
            self._woken = True
            self._wake()

    def take(self) -> list[ServerEvent]:
        """Return the events that wait, the oldest first."""
        # Before the first is taken: an event that comes meanwhile is taken too, or wakes again.
        self._woken = False
        taken = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken


class EventBroker:
    """Gives every event to every subscription. Safe for use by several threads."""

    def __init__(self) -> None:
        self._kept: deque[ServerEvent] = deque(maxlen=KEPT_EVENTS)
        self._subscriptions: set[Subscription] = set()
        self._number = 0
        self._lock = threading.Lock()

    def emit(self, name: str, fields: Mapping[str, JsonValue]) -> None:
        """Send an event to all clients. Never waits for one of them."""
        with self._lock:
            self._number += 1
            message = stream_message(self._number, name, fields)
            event = ServerEvent(self._number, name, dict(fields), message)
            self._kept.append(event)
            for each in self._subscriptions:
                each.put(event)

    def subscribe(self, wake: Callable[[], None], after: int | None = None) -> Subscription:
        """Return a subscription, with what came after the event number `after`.

        Raises EventsLost if some of that is no longer kept, or the number is from another server.
        """
        subscription = Subscription(wake)
        with self._lock:
            if after is not None:
                oldest = self._kept[0].number if self._kept else self._number + 1
                if after > self._number or after + 1 < oldest:
                    raise EventsLost
                for event in self._kept:
                    if event.number > after:
                        subscription.put(event)
            self._subscriptions.add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription."""
        with self._lock:
            self._subscriptions.discard(subscription)

    @property
    def last_number(self) -> int:
        """Return the number of the latest event, 0 before the first."""
        return self._number
