"""A value that is costly to read, cached for a while for every page that asks for it.

How long is decided in `server_setup.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class TimedCache(Generic[_Value]):
    """Reads a value at most once in `seconds`. Threads that ask meanwhile wait for one reading.

    An error of `read` goes to the caller, and is not kept.
    """

    def __init__(
        self, read: Callable[[], _Value], seconds: float, clock: Callable[[], float]
    ) -> None:
        self._read, self._seconds, self._clock = read, seconds, clock
        self._lock = threading.Lock()
        self._kept: tuple[float, _Value] | None = None

    def read(self) -> _Value:
        """Return the value. Raises what reading it raises."""
        with self._lock:
            if self._kept is None or self._clock() - self._kept[0] >= self._seconds:
                value = self._read()
                self._kept = (self._clock(), value)
            return self._kept[1]
