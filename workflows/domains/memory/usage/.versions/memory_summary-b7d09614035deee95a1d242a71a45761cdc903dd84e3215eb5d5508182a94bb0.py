"""Show how much RAM and swap is used, free, cached and available.

Reads the kernel's memory counters. `used` is what programs hold and cannot be given back: total
minus available. `free` is memory nobody uses at all and is small on a healthy machine, because the
kernel keeps file contents in `cached` until a program needs the room. `available` is what new
programs could get without swapping. Kernels before 3.14 do not report it; it is then estimated as
free + buffers + cached.

Args:
    limit_percent (float): RAM or swap use above this many percent is reported. 0 to 100.
    meminfo (str): The counters, or a copy of `/proc/meminfo` from another machine.

Returns:
    rows (list[dict[str, Any]]): One for `ram` and one for `swap`: `kind`, `total_bytes`,
        `used_bytes`, `free_bytes`, `used_percent`, `above`.
    available_bytes (int): What new programs can get without swapping.
    cached_bytes (int): File contents kept in memory, shared memory left out.
    buffers_bytes (int): Blocks of disks kept in memory.
    shared_bytes (int): Shared memory and tmpfs; cannot be given back.
    dirty_bytes (int): Written by programs and not yet on disk.
    available_estimated (bool): Whether the kernel did not say what is available.
    above (list[str]): `ram` or `swap`, where the limit is passed.
    ok (bool): Whether neither is above the limit.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/meminfo
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: plenty of RAM left, swap nearly full
      inputs: {meminfo: /tmp/memory_summary/meminfo, limit_percent: 80}
      files:
        /tmp/memory_summary/meminfo: |
          MemTotal:        1000 kB
          MemFree:          100 kB
          MemAvailable:     600 kB
          Buffers:           50 kB
          Cached:           500 kB
          Dirty:              4 kB
          Shmem:             20 kB
          SwapTotal:        200 kB
          SwapFree:          20 kB
          SReclaimable:      30 kB
      output:
        rows:
          - {kind: ram, total_bytes: 1024000, used_bytes: 409600, free_bytes: 102400,
             used_percent: 40.0, above: false}
          - {kind: swap, total_bytes: 204800, used_bytes: 184320, free_bytes: 20480,
             used_percent: 90.0, above: true}
        available_bytes: 614400
        cached_bytes: 522240
        buffers_bytes: 51200
        shared_bytes: 20480
        dirty_bytes: 4096
        available_estimated: false
        above: [swap]
        ok: false
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINE = re.compile(r"^(\w+(?:\(\w+\))?):\s+(\d+)(?:\s+kB)?\s*$", re.MULTILINE)


def run(limit_percent: float = 90.0, meminfo: str = "/proc/meminfo") -> dict[str, Any]:
    """Read the counters and compare them with the limit."""
    if not 0 <= limit_percent <= 100:
        raise ValueError(f"limit_percent {limit_percent} is no percentage: give 0 to 100")
    text = Path(meminfo).read_text(encoding="utf-8", errors="backslashreplace")
    kib = {name: int(number) for name, number in LINE.findall(text)}
    if not kib.get("MemTotal") or "MemFree" not in kib:
        raise ValueError(
            f"{meminfo} has no MemTotal and MemFree lines: give /proc/meminfo or a copy of it"
        )
    shared = kib.get("Shmem", 0)
    # SReclaimable are kernel caches of file names and inodes: as easy to give back as Cached.
    cached = max(kib.get("Cached", 0) + kib.get("SReclaimable", 0) - shared, 0)
    buffers = kib.get("Buffers", 0)
    available = kib.get("MemAvailable", min(kib["MemFree"] + buffers + cached, kib["MemTotal"]))
    swap = kib.get("SwapTotal", 0)
    swap_free = kib.get("SwapFree", 0)
    rows = [
        _row("ram", kib["MemTotal"], kib["MemTotal"] - available, kib["MemFree"], limit_percent),
        _row("swap", swap, swap - swap_free, swap_free, limit_percent),
    ]
    above = [row["kind"] for row in rows if row["above"]]
    return {
        "rows": rows,
        "available_bytes": available * 1024,
        "cached_bytes": cached * 1024,
        "buffers_bytes": buffers * 1024,
        "shared_bytes": shared * 1024,
        "dirty_bytes": kib.get("Dirty", 0) * 1024,
        "available_estimated": "MemAvailable" not in kib,
        "above": above,
        "ok": not above,
    }


def _row(kind: str, total: int, used: int, free: int, limit: float) -> dict[str, Any]:
    percent = round(100 * used / total, 1) if total else 0.0
    return {
        "kind": kind,
        "total_bytes": total * 1024,
        "used_bytes": used * 1024,
        "free_bytes": free * 1024,
        "used_percent": percent,
        "above": percent > limit,
    }
