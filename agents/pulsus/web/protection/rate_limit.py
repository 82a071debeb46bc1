"""Rate limits: how often sign-ins, changes and agent runs may be tried. Pure.

They throttle a client that guesses passwords (brute force). The numbers are in
`web/server_setup.py`. A sign-in counts by address and by name (`web/pages/sign_in_routes.py`), a
decision or an agent run by its user (`web/api/`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_MOST_KEYS: Final = 10_000


class RateLimit:
    """Lets each key try `most` times in `seconds` (a token bucket). Safe for several threads."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most, self._rate, self._clock = float(most), most / seconds, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_seconds(self, key: str) -> float:
        """Count one try. Return 0, or the seconds until the next one is allowed."""
        with self._lock:
            now = self._clock()
            rest, at = self._buckets.pop(key, (self._most, now))
            rest = min(self._most, rest + (now - at) * self._rate)
            allowed = rest >= 1.0
            self._buckets[key] = (rest - 1.0 if allowed else rest, now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
            return 0.0 if allowed else (1.0 - rest) / self._rate
