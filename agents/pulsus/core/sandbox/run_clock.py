"""A time limit for a sandbox that other work of the machine does not use up (spec §8).

`sandbox_session.py` starts one for each stage, and ends the sandbox with a timeout when its time is
over. On a busy machine it says if the sandbox was starved of processor time.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pulsus.core.sandbox.resource_monitor import ResourceMonitor

HARNESS = 2
"""The number of the main process inside: bubblewrap is the first."""

_CLOCK_FACTOR = 4  # after this many times the limit by the clock, the run ends without a verdict


class RunClock:
    """Counts `seconds` from now. Without `watch` it counts every second of the clock.

    Lost time does not count: then the main process was ready to run, and the sandbox, which has one
    core, used none. So neither sleeping nor load of its own prolongs a run.
    """

    def __init__(
        self,
        seconds: float,
        watch: ResourceMonitor | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._watch, self._now = seconds, watch, now
        self._began = now()
        self._waited, self._used = self._read_clocks()

    def ended(self) -> bool:
        """True once the time is up."""
        elapsed = self._now() - self._began
        if elapsed <= self._seconds:
            return False
        return elapsed - self.lost() > self._seconds or elapsed > _CLOCK_FACTOR * self._seconds

    def starved(self) -> bool:
        """True if the time was up by the clock alone: that says nothing about the candidate."""
        if self._watch is None:
            return False
        return self._now() - self._began - self.lost() <= self._seconds

    def lost(self) -> float:
        """Return the seconds that other work of this machine took so far."""
        waited, used = self._read_clocks()
        elapsed = self._now() - self._began
        return max(0.0, min(waited - self._waited, elapsed - (used - self._used)))

    def shorten(self, seconds: float) -> None:
        """Leave at most `seconds` of it; lost time still does not count."""
        self._seconds = min(self._seconds, self._now() - self._began - self.lost() + seconds)

    def cut(self, seconds: float) -> None:
        """Leave at most `seconds` of it, by the clock."""
        self._seconds = min(self._seconds, self._now() - self._began + seconds)
        self._watch = None

    def _read_clocks(self) -> tuple[float, float]:
        if self._watch is not None:
            with suppress(OSError):  # its first process is just ending
                return self._watch.waited_seconds(HARNESS), self._watch.used_seconds()
        return 0.0, 0.0
