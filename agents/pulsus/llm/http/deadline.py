"""A firm end to one exchange over the network. Effect: a timer thread that shuts the connection.

A read timeout starts anew with every byte, so a server that drips would never reach it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Any, Self


class Deadline:
    """Shuts the connection it is told of when `seconds` have passed; `expired` says so."""

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(seconds, 0.001), self._expire)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._connection = None

    def watch(self, event: str, info: dict[str, Any]) -> None:
        """Take note of a connection: the `trace` callback of the HTTP client."""
        extra = getattr(info.get("return_value"), "get_extra_info", None)
        if extra is None or not event.endswith(".complete"):
            return
        found = extra("socket")
        with self._lock:
            self._connection = found if isinstance(found, socket.socket) else None
            if self.expired:
                self._shut()

    def _expire(self) -> None:
        with self._lock:
            self.expired = True
            self._shut()

    def _shut(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                # Not the TLS object's own: that would take its state from under a reader.
                socket.socket.shutdown(self._connection, socket.SHUT_RDWR)
