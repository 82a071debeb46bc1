r"""List the metrics in a Prometheus text exposition: names, types, values, filtered by label.

Reads a saved scrape (`curl .../metrics`) line by line, in the Prometheus text format or
OpenMetrics. Escaped label values, time stamps, histograms, summaries and exemplars are understood.
NaN and infinite values are given as the texts `NaN`, `+Inf` and `-Inf`, since JSON has no such
numbers. Lines that do not fit are reported with their number.

Args:
    path (str): The saved exposition.
    name (str): Only metrics whose name contains this text.
    labels (dict[str, str] | None): Only samples with exactly these label values.
    limit (int): How many samples to list, at least 1. All are counted.

Returns:
    rows (list[dict[str, Any]]): The samples: `name`, `type` (counter, gauge, histogram, summary,
        untyped), `labels`, `value` (a number or one of the texts above), `timestamp_ms`.
    samples (int): How many samples fit the filter.
    families (list[dict[str, Any]]): One a metric family: `name`, `type`, `help`, `samples`.
    malformed (list[dict[str, Any]]): Lines that do not fit: `line`, `reason`.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/metrics.txt, labels: {code: "500"}}
      files:
        /tmp/metrics.txt: |
          # HELP http_requests_total Requests served.
          # TYPE http_requests_total counter
          http_requests_total{code="200",path="/a\"b"} 1027 1395066363000
          http_requests_total{code="500",path="/a"} 3
          temperature NaN
          broken{ 1
      output:
        rows:
          - name: http_requests_total
            type: counter
            labels: {code: "500", path: /a}
            value: 3.0
            timestamp_ms: null
        samples: 1
        families:
          - {name: http_requests_total, type: counter, help: Requests served., samples: 1}
        malformed: [{line: 6, reason: the labels are not closed}]
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:.]*")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|(?=\}))')
_ESCAPE = re.compile(r"\\(.)")
_SUFFIXES = {
    "histogram": ("_bucket", "_sum", "_count"),
    "summary": ("_sum", "_count"),
    "counter": ("_total", "_created"),
}


def run(
    path: str, name: str = "", labels: dict[str, str] | None = None, limit: int = 1000
) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    wanted = {key: str(value) for key, value in (labels or {}).items()}
    types: dict[str, str] = {}
    helps: dict[str, str] = {}
    counts: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    malformed: list[dict[str, Any]] = []
    with Path(path).open(encoding="utf-8-sig", errors="replace") as stream:
        for number, raw in enumerate(stream, 1):
            line = raw.strip()
            if line.startswith("#"):
                _comment(line, types, helps)
                continue
            if not line:
                continue
            try:
                sample = _sample(line)
            except ValueError as error:
                malformed.append({"line": number, "reason": str(error)})
                continue
            found = sample["labels"]
            if name not in sample["name"] or any(found.get(k) != v for k, v in wanted.items()):
                continue
            family = _family(sample["name"], types)
            counts[family] = counts.get(family, 0) + 1
            if len(rows) < limit:
                kind = types.get(family, "untyped")
                rows.append({"name": sample["name"], "type": kind, **sample})
    families = [
        {"name": family, "type": types.get(family, "untyped")}
        | {"help": helps.get(family, ""), "samples": count}
        for family, count in sorted(counts.items())
    ]
    return {"rows": rows, "samples": sum(counts.values()), "families": families} | {
        "malformed": malformed
    }


def _comment(line: str, types: dict[str, str], helps: dict[str, str]) -> None:
    words = line.split(None, 3)
    if len(words) >= 3 and words[1] == "TYPE":
        types[words[2]] = words[3].strip().lower() if len(words) > 3 else "untyped"
    elif len(words) >= 3 and words[1] == "HELP":
        helps[words[2]] = _unescape(words[3]) if len(words) > 3 else ""


def _family(name: str, types: dict[str, str]) -> str:
    if name in types:
        return name
    for kind, suffixes in _SUFFIXES.items():
        for suffix in suffixes:
            base = name.removesuffix(suffix)
            if base != name and types.get(base) == kind:
                return base
    return name


def _sample(line: str) -> dict[str, Any]:
    start = _NAME.match(line)
    if start is None:
        raise ValueError("no metric name at the start")
    labels, position = _labels(line, start.end())
    words = line[position:].split(" # ", 1)[0].split()  # an exemplar follows " # "
    if not 1 <= len(words) <= 2:
        raise ValueError("no value, or too many, after the name")
    try:
        value = float(words[0].replace("_", "x"))
        timestamp = float(words[1]) if len(words) == 2 else None
    except ValueError:
        raise ValueError(f"{' '.join(words)[:60]!r} is no value and time stamp") from None
    # OpenMetrics writes seconds with a fraction, Prometheus milliseconds.
    seconds = timestamp is not None and "." in words[1]
    milliseconds = None
    if timestamp is not None and math.isfinite(timestamp):
        milliseconds = round(timestamp * 1000) if seconds else int(timestamp)
    return {"name": start[0], "labels": labels, "value": _finite(value)} | {
        "timestamp_ms": milliseconds
    }


def _labels(line: str, position: int) -> tuple[dict[str, str], int]:
    """The labels that start at `position`, and where they end."""
    labels: dict[str, str] = {}
    if line[position : position + 1] != "{":
        return labels, position
    position += 1
    while label := _LABEL.match(line, position):
        labels[label[1]] = _unescape(label[2])
        position = label.end()
    rest = line[position:].lstrip()
    if not rest.startswith("}"):
        raise ValueError("the labels are not closed")
    return labels, line.index("}", position) + 1


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda mark: "\n" if mark[1] == "n" else mark[1], text)


def _finite(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("+Inf" if value > 0 else "-Inf")
