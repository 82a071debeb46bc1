"""Compare the load average over 1, 5 and 15 minutes with the number of CPU cores.

The load is the average number of processes that ran or waited for a CPU or a disk. Divided by the
number of cores, 1.0 means that every core had exactly enough to do; more means that work had to
wait. A 1-minute figure well above the 15-minute one means the load is rising.

Args:
    limit_per_core (float): A load per core above this is reported. More than 0.
    cores (int): How many CPU cores the machine has; 0 counts the cores of this machine.
    loadavg (str): The figures, or a copy of `/proc/loadavg` from another machine.

Returns:
    rows (list[dict[str, Any]]): One each for 1, 5 and 15 minutes: `minutes`, `load`, `per_core`,
        `above`.
    cores (int): The number of cores that was used.
    limit_per_core (float): The limit that `per_core` was compared with.
    running (int): Processes and threads running or ready right now.
    total (int): All processes and threads.
    trend (str): `rising`, `falling` or `steady`.
    ok (bool): Whether none of the three is above the limit.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/loadavg
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: four cores that cannot keep up since a few minutes
      inputs: {loadavg: /tmp/load_average/loadavg, cores: 4}
      files:
        /tmp/load_average/loadavg: "8.00 5.00 2.00 9/412 31337"
      output:
        rows:
          - {minutes: 1, load: 8.0, per_core: 2.0, above: true}
          - {minutes: 5, load: 5.0, per_core: 1.25, above: true}
          - {minutes: 15, load: 2.0, per_core: 0.5, above: false}
        cores: 4
        limit_per_core: 1.0
        running: 9
        total: 412
        trend: rising
        ok: false
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

LOADAVG = re.compile(r"([\d.]+) ([\d.]+) ([\d.]+) (\d+)/(\d+)")


def run(
    limit_per_core: float = 1.0, cores: int = 0, loadavg: str = "/proc/loadavg"
) -> dict[str, Any]:
    """Read the three averages and set them against the cores."""
    if not limit_per_core > 0:
        raise ValueError(f"limit_per_core {limit_per_core} is no load: give more than 0")
    if cores < 0:
        raise ValueError(f"cores {cores} is negative: give the number of cores, 0 to count them")
    text = Path(loadavg).read_text(encoding="utf-8", errors="backslashreplace")
    match = LOADAVG.match(text)
    if match is None:
        raise ValueError(
            f"{loadavg} starts with {text[:40]!r}, which is no load average: "
            "give /proc/loadavg or a copy of it"
        )
    count = cores or os.cpu_count() or 1
    rows = []
    for minutes, figure in zip((1, 5, 15), match.groups(), strict=False):
        load = float(figure)
        per_core = round(load / count, 2)
        row = {"minutes": minutes, "load": load, "per_core": per_core}
        rows.append(row | {"above": load / count > limit_per_core})
    return {
        "rows": rows,
        "cores": count,
        "limit_per_core": limit_per_core,
        "running": int(match[4]),
        "total": int(match[5]),
        "trend": _trend(float(match[1]), float(match[3])),
        "ok": not any(row["above"] for row in rows),
    }


def _trend(short: float, long: float) -> str:
    """A fifth more or less than the long average, and at least 0.1, is a change."""
    if abs(short - long) <= max(0.2 * long, 0.1):
        return "steady"
    return "rising" if short > long else "falling"
