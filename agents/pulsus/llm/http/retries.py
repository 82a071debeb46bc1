"""Trying again what may pass, within one deadline. Effect: waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pulsus.llm.http.failures import ExchangeFailure

T = TypeVar("T")
FIRST_WAIT = 0.5
"""Seconds; doubled each time, where the server does not say how long."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often to try again, and the clock (seconds) and the sleep to do it by."""

    retries: int
    clock: Callable[[], float]
    sleep: Callable[[float], None]

    def within(self, seconds: float, once: Callable[[float], T]) -> T:
        """What `once` gives in the end; it is told how many seconds are left.

        Raises Failed where trying again is of no use, or would end too late.
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
