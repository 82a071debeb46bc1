"""The store of counters and timers (spec §11). Effect: appends to `logs/metrics/YYYY-MM-DD.jsonl`.

The setting `log.metrics` switches it off. What is counted: `routing/delivery/route_metrics.py`
(routes, runs, validations, promotions) and `agent/agent_metrics.py` (the agent).
`web/prometheus_metrics.py` shows it at `/metrics`. Traces are written by `logging.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path

from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.logging import log_folder, write_event
from pulsus.core.telemetry.redaction import Redactor
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Metrics:
    """Writes one line a measurement; `enabled=False` (setting `log.metrics`) writes none.

    `monotonic` gives seconds. Every write may raise DiskFull or StorageUnwritable.
    """

    log_dir: Path
    clock: Clock
    redactor: Redactor
    enabled: bool = True
    monotonic: Callable[[], float] = time.perf_counter

    def count(self, name: str, n: int = 1, **labels: object) -> None:
        """Add `n` to the counter `name`."""
        self._write_record({"metric": name, "type": "counter", "value": n, "labels": labels})

    @contextmanager
    def time(self, name: str, **labels: object) -> Iterator[None]:
        """Record how many milliseconds the block took, and whether it raised (`ok`)."""
        started = self.monotonic()
        ok = False
        try:
            yield
            ok = True
        finally:
            self.observe_ms(name, (self.monotonic() - started) * 1000, ok=ok, **labels)

    def observe_ms(self, name: str, milliseconds: float, **labels: object) -> None:
        """Record a duration measured elsewhere, in milliseconds."""
        value = round(milliseconds, 3)
        self._write_record({"metric": name, "type": "timer_ms", "value": value, "labels": labels})

    def _write_record(self, record: dict[str, object]) -> None:
        if not self.enabled:
            return
        now = self.clock().astimezone(UTC)
        path = log_folder(self.log_dir, "metrics") / f"{now:%Y-%m-%d}.jsonl"
        write_event(path, {"ts": now.isoformat(timespec="milliseconds")} | record, self.redactor)
