"""`/metrics`: the counters under `logs/metrics/` in Prometheus's text format. Effect: reads files.

One-shot runs write there as well, so a scrape sees what they counted. At most 64 MiB are read, the
newest files first. `core/telemetry/metrics.py` writes them, and `core/telemetry/logging.py` the
traces.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Final

_MOST_BYTES: Final = 64 * 1024 * 1024
_PREFIX: Final = "pulsus_ai_"


def prometheus_text(log_dir: Path) -> str:
    """Return every `pulsus_ai_*` counter on record, summed over its labels.

    A line that is no measurement is skipped: a run may be writing it now.
    """
    totals: dict[tuple[str, tuple[tuple[str, str], ...]], float] = defaultdict(float)
    budget = _MOST_BYTES
    for path in sorted((log_dir / "metrics").glob("*.jsonl"), reverse=True):
        budget -= path.stat().st_size
        if budget < 0:
            break
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if f'"{_PREFIX}' in line:
                _add(totals, line)
    return _render(totals)


def _add(totals: dict[tuple[str, tuple[tuple[str, str], ...]], float], line: str) -> None:
    try:
        row = json.loads(line)
        name, labels, value = row["metric"], row.get("labels", {}), float(row["value"])
    except (ValueError, KeyError, TypeError):
        return
    if row.get("type") == "counter" and isinstance(name, str) and name.startswith(_PREFIX):
        key = tuple(sorted((str(each), str(text)) for each, text in labels.items()))
        totals[name, key] += value


def _render(totals: dict[tuple[str, tuple[tuple[str, str], ...]], float]) -> str:
    from prometheus_client import CollectorRegistry, Counter, generate_latest

    registry = CollectorRegistry()
    counters: dict[tuple[str, tuple[str, ...]], Counter] = {}
    for (name, labels), value in sorted(totals.items()):
        names = tuple(each for each, _ in labels)
        if not any(known == name for known, _ in counters):
            counters[name, names] = Counter(
                name, "Counted by Pulsus; see docs/metrics.md of Pulsus.", names, registry=registry
            )
        counter = counters.get((name, names))
        if counter is None:  # an older file has other labels
            continue
        (counter.labels(*(text for _, text in labels)) if names else counter).inc(value)
    return generate_latest(registry).decode("utf-8")
