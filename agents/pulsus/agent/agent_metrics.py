"""Telemetry of agent runs: its counters (architecture §9). Effect: appends to `logs/metrics`.

A label is cut to 64 characters here. `GET /metrics` is written by `web/prometheus_metrics.py`.

The counters of routes, validations and runs are in `routing/delivery/route_metrics.py`.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any, Final

from pulsus.core.telemetry.metrics import Metrics
from pulsus.fast_dataclass import dataclass

PREFIX: Final = "pulsus_ai_"
_LONGEST: Final = 64
_OTHER: Final = re.compile(r"[^A-Za-z0-9_.:/-]+")


@dataclass(frozen=True)
class AgentMetrics:
    """Counts events of a session, each with the prefix `pulsus_ai_`.

    A tool that is not in `tools` is counted as `unknown`: a model may invent any number of names.
    `counted` has the sums of this session by name.
    """

    metrics: Metrics
    tools: Collection[str]
    counted: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name: str, **labels: str) -> None:
        """Add one to a counter. Raises DiskFull or StorageUnwritable."""
        with self._lock:
            self.counted[name] += 1
        self.metrics.count(PREFIX + name, **self._clean(labels))

    def _clean(self, labels: Mapping[str, str]) -> dict[str, Any]:
        cleaned: dict[str, Any] = {key: sanitise_label(value) for key, value in labels.items()}
        if "tool" in labels and labels["tool"] not in self.tools:
            cleaned["tool"] = "unknown"
        return cleaned


def sanitise_label(value: str) -> str:
    """Return a label of at most 64 characters: letters, digits and `_.:/-`, or "unknown"."""
    return _OTHER.sub("_", value.strip())[:_LONGEST] or "unknown"
