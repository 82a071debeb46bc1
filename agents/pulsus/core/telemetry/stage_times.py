"""Latency: measure how long each stage of a run takes (spec §11).

`routing/delivery/route_metrics.py` writes the times. There are no spans: the trace of a run is
written by `logging.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class StageTimes:
    """Milliseconds by stage, in the order in which the stages ended. `monotonic` gives seconds."""

    monotonic: Callable[[], float] = time.monotonic
    milliseconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block, also if it raises. A stage that comes again adds to its time."""
        began = self.monotonic()
        try:
            yield
        finally:
            took = (self.monotonic() - began) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + took
