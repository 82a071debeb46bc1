"""Show how counters changed between two Prometheus scrapes, and how much per second.

Compares two saved expositions sample by sample. A counter that became smaller was reset (the
program restarted), so its new value counts as the change. Gauges are compared too when asked for.
The time between the scrapes is given, taken from the samples' time stamps, or else from the
files' modification times; the result says which.

Args:
    before (str): The earlier scrape.
    after (str): The later scrape.
    seconds (float): Time between them; 0 finds it out.
    name (str): Only metrics whose name contains this text.
    gauges (bool): Also compare gauges and untyped metrics.
    unchanged (bool): Also list samples that did not change.

Returns:
    rows (list[dict[str, Any]]): One a sample, largest change first: `name`, `labels`, `type`,
        `before`, `after`, `delta`, `per_second` (null when the time is unknown), `reset`.
    compared (int): How many samples were compared.
    resets (int): How many counters were reset.
    seconds (float | None): Time between the scrapes.
    seconds_from (str | None): `argument`, `timestamps` or `file times`.
    new (int): Samples that are only in the later scrape.
    gone (int): Samples that are only in the earlier scrape.
    malformed (int): Lines of both files that are no sample.

Side effects:
    none

Kind: read

Effects:
    paths: both files
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {before: /tmp/1.txt, after: /tmp/2.txt, seconds: 10}
      files:
        /tmp/1.txt: |
          # TYPE requests_total counter
          requests_total{code="200"} 100
          requests_total{code="500"} 50
        /tmp/2.txt: |
          # TYPE requests_total counter
          requests_total{code="200"} 160
          requests_total{code="500"} 5
      output:
        rows:
          - {name: requests_total, labels: {code: "200"}, type: counter, before: 100.0,
             after: 160.0, delta: 60.0, per_second: 6.0, reset: false}
          - {name: requests_total, labels: {code: "500"}, type: counter, before: 50.0,
             after: 5.0, delta: 5.0, per_second: 0.5, reset: true}
        compared: 2
        resets: 1
        seconds: 10.0
        seconds_from: argument
        new: 0
        gone: 0
        malformed: 0
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

_SAMPLE = re.compile(
    r"([a-zA-Z_:][\w:.]*)(?:\{((?:[^\"}]++|\"(?:[^\"\\]++|\\.)*+\")*+)\})?\s+(\S+)(?:\s+(\S+))?"
)
_LABEL = re.compile(r'([a-zA-Z_][\w.]*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_COUNTING = ("_total", "_bucket", "_count", "_sum")
Key = tuple[str, tuple[tuple[str, str], ...]]


class _Scrape:
    def __init__(self, path: str) -> None:
        self.values: dict[Key, float] = {}
        self.types: dict[str, str] = {}
        self.time: float | None = None
        self.malformed = 0
        self.changed = Path(path).stat().st_mtime
        with Path(path).open(encoding="utf-8-sig", errors="replace") as stream:
            for line in stream:
                self._add(line.strip())

    def _add(self, line: str) -> None:
        words = line.split()
        if words[:2] == ["#", "TYPE"] and len(words) > 3:
            self.types[words[2]] = words[3].lower()
        if not line or line.startswith("#"):
            return
        found = _SAMPLE.match(line)
        try:
            if found is None:
                raise ValueError(line)
            value = float(found[3])
            time = float(found[4]) if found[4] and found[4] != "#" else None
        except ValueError:
            self.malformed += 1
            return
        labels = tuple(sorted((k, _unescape(v)) for k, v in _LABEL.findall(found[2] or "")))
        self.values[(found[1], labels)] = value
        if time is not None and math.isfinite(time):
            time = time if "." in found[4] else time / 1000
            self.time = max(time, self.time or time)

    def kind(self, name: str) -> str:
        """The type; a sample of a histogram or summary counts as a counter, except quantiles."""
        for suffix in ("", *_COUNTING):
            base = name.removesuffix(suffix)
            if base in self.types and (suffix == "" or base != name):
                kind = self.types[base]
                return "counter" if kind in ("histogram", "summary") and suffix else kind
        return "counter" if name.endswith("_total") else "untyped"


def run(
    before: str,
    after: str,
    seconds: float = 0.0,
    name: str = "",
    gauges: bool = False,
    unchanged: bool = False,
) -> dict[str, Any]:
    if seconds < 0 or not math.isfinite(seconds):
        raise ValueError(f"seconds {seconds} is no time between scrapes: give 0 or more")
    old, new = _Scrape(before), _Scrape(after)
    elapsed, source = _elapsed(old, new, seconds)
    rows: list[dict[str, Any]] = []
    compared = 0
    for key in old.values.keys() & new.values.keys():
        kind = new.kind(key[0])
        was, now = old.values[key], new.values[key]
        if name not in key[0] or (kind != "counter" and not gauges):
            continue
        if not (math.isfinite(was) and math.isfinite(now)):
            continue
        compared += 1
        reset = kind == "counter" and now < was
        delta = now if reset else now - was
        if delta or reset or unchanged:
            rows.append(
                {"name": key[0], "labels": dict(key[1]), "type": kind, "before": was}
                | {"after": now, "delta": delta}
                | {"per_second": delta / elapsed if elapsed else None, "reset": reset}
            )
    rows.sort(key=lambda row: (-abs(row["delta"]), row["name"], sorted(row["labels"].items())))
    return {
        "rows": rows,
        "compared": compared,
        "resets": sum(row["reset"] for row in rows),
        "seconds": elapsed,
        "seconds_from": source,
        "new": sum(name in key[0] for key in new.values.keys() - old.values.keys()),
        "gone": sum(name in key[0] for key in old.values.keys() - new.values.keys()),
        "malformed": old.malformed + new.malformed,
    }


def _elapsed(old: _Scrape, new: _Scrape, seconds: float) -> tuple[float | None, str | None]:
    if seconds:
        return float(seconds), "argument"
    if old.time is not None and new.time is not None and new.time > old.time:
        return new.time - old.time, "timestamps"
    if new.changed - old.changed >= 1:
        return new.changed - old.changed, "file times"
    return None, None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda mark: "\n" if mark[1] == "n" else mark[1], text)
