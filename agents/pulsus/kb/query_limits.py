"""Limits of one query: answers and time (tool calling chapter, §32.3.2: 5 s a query).

A query that takes longer ends with KnowledgeTimeout. The settings are `kb.max_answers` and
`kb.query_seconds`; `goal_engine.py` cuts the answers off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from pulsus.errors import KnowledgeTimeout
from pulsus.fast_dataclass import dataclass

STEPS_BETWEEN_CHECKS: Final = 256
"""Steps of a search after which the clock is read again: reading it costs as much as a step."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The most answers and seconds of a query.

    With `use_degraded` a degraded node joins links and paths too, else a nominal one only.
    """

    max_answers: int = 1000
    seconds: float = 5.0
    use_degraded: bool = False
    clock: Callable[[], float] = time.monotonic


class QueryDeadline:
    """The end of the time of one query."""

    __slots__ = ("_clock", "_ends", "_seconds")

    def __init__(self, limits: QueryLimits) -> None:
        self._clock, self._seconds = limits.clock, limits.seconds
        self._ends = limits.clock() + limits.seconds

    def check(self) -> None:
        """Raise KnowledgeTimeout if the time is over."""
        if self._clock() > self._ends:
            raise KnowledgeTimeout(
                f"the query took longer than {self._seconds:g} s and was ended",
                hint="name a node in place of a variable, or raise kb.query_seconds",
                seconds=self._seconds,
            )
