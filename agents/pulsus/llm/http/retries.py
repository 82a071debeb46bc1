"""Repeat an exchange that failed for now: which statuses, how often, how long between.

One exchange, the HTTP call with its timeouts, is `exchange.py`. The wait doubles from 0.5 s
(backoff, no jitter), unless `Retry-After` names another, which `failures.py` reads. A timeout is
not repeated, which `failures.py` decides. The number of retries is `model.retries`. A server that
fails again and again is left alone by `llm/circuit_breaker.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pulsus.errors import ModelError

BUSY = (408, 409, 425, 429, 503, 529)
"""HTTP statuses of a server that has too much to do."""

T = TypeVar("T")
FIRST_WAIT = 0.5
"""Seconds before the second attempt, doubled each time. The server may name another time."""


class ExchangeFailure(Exception):
    """One attempt failed. `again` is True if another one may succeed.

    `wait` is in seconds, where the server asks for one. `server_text` are the words in which it
    refused the form of a request; they may name what it does not take.
    """

    def __init__(
        self,
        error: ModelError,
        *,
        again: bool = False,
        wait: float | None = None,
        server_text: str = "",
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.again = again
        self.wait = wait
        self.server_text = server_text


def is_transient(status: int) -> bool:
    """Return True for an HTTP status that may be another one soon."""
    return status in BUSY or (status >= 500 and status != 501)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Repeats an exchange that may succeed later."""

    retries: int
    clock: Callable[[], float]
    sleep: Callable[[float], None]

    def within(self, seconds: float, once: Callable[[float], T]) -> T:
        """Return the result of `once`, which receives the seconds that are left.

        Raises ExchangeFailure if another attempt cannot help, or would end too late.
        """
        end = self.clock() + seconds
        for attempt in range(self.retries + 1):
            try:
                return once(end - self.clock())
            except ExchangeFailure as failed:
                wait = FIRST_WAIT * 2**attempt if failed.wait is None else failed.wait
                late = self.clock() + wait >= end
                if not failed.again or late or attempt == self.retries:
                    raise
                self.sleep(wait)
        raise AssertionError("the last attempt returns or raises")
