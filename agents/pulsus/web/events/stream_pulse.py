"""Wakes the streams of a server together, and not more often than it can serve them: every 0.1 s.

An event wakes one callback of the event loop, not one for each of 500 streams. What happens until
the next round is sent together: each round costs every stream one message, however many events it
has. Without an event, streams wake every 5 s to see if their client may still follow. The stream
itself and its heartbeat (keep-alive) are in `web/api/event_stream.py`.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Final

from pulsus.web.events.event_broker import EventBroker

ROUND_SECONDS: Final = 0.1
"""From one round to the next. An event waits so long at most."""

CHECK_SECONDS: Final = 5.0
"""Without an event, streams are woken so often, to see if their clients may still follow."""


class StreamPulse:
    """The rounds of one event loop. It beats while streams take part; all are of one thread."""

    def __init__(self, broker: EventBroker) -> None:
        self._broker = broker
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams = 0
        self._round = asyncio.Event()
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._is_due = False
        self._lock = threading.Lock()

    def join(self) -> None:
        """Take part, from the running loop on. Raises RuntimeError in the loop of another one."""
        loop = asyncio.get_running_loop()
        if self._streams and loop is not self._loop:
            raise RuntimeError("the streams of a server run in one event loop")
        self._streams += 1
        if self._streams == 1:
            self._loop, self._is_due, self._next = loop, False, loop.time()
            self._round = asyncio.Event()
            self._timer = loop.call_later(CHECK_SECONDS, self._beat)
            self._broker.listen(self._wake)

    def leave(self) -> None:
        """Take part no more."""
        self._streams -= 1
        if self._streams == 0:
            self._broker.leave(self._wake)
            if self._timer is not None:
                self._timer.cancel()

    @property
    def round(self) -> asyncio.Event:
        """Return the event that is set with the next round. Take it before you look for events."""
        return self._round

    def _wake(self) -> None:
        """Ask for a round, from any thread: once until it comes."""
        with self._lock:
            if self._is_due or self._loop is None:
                return
            self._is_due = True
        with suppress(RuntimeError):  # the loop has ended, and its streams with it
            self._loop.call_soon_threadsafe(self._prepare)

    def _prepare(self) -> None:
        if self._streams and self._loop is not None and self._timer is not None:
            self._timer.cancel()
            self._timer = self._loop.call_at(max(self._next, self._loop.time()), self._beat)

    def _beat(self) -> None:
        if self._loop is None:
            return
        # Before the streams look: an event that comes meanwhile asks for a further round.
        with self._lock:
            self._is_due = False
        self._next = self._loop.time() + ROUND_SECONDS
        self._timer = self._loop.call_later(CHECK_SECONDS, self._beat)
        self._round, begun = asyncio.Event(), self._round
        begun.set()
