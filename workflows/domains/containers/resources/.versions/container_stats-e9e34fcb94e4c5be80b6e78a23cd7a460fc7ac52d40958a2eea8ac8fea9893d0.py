r"""Show CPU and memory of each container, from saved docker stats output.

Reads what `docker stats --no-stream` printed as a table or with `--format json` (podman too).
A file with several samples, as the running display writes it, gives the last value of each
container and the highest CPU seen. Containers above a limit are named. Docker itself is not asked.

Args:
    path (str): File with the saved output.
    cpu_limit (float): Percent of one core above which a container is named as busy.
    memory_limit (float): Percent of its memory limit above which a container is named as full.

Returns:
    rows (list[dict[str, Any]]): One a container, busiest first: `name`, `cpu_percent`,
        `peak_cpu_percent`, `memory_bytes`, `memory_limit_bytes`, `memory_percent`,
        `network_in_bytes`, `network_out_bytes`, `disk_read_bytes`, `disk_write_bytes`, `pids`,
        `samples`. What the output does not say (`--`) is null.
    total (int): How many containers.
    cpu_percent (float): Sum of the last CPU values.
    memory_bytes (int): Sum of the last memory values.
    busy (list[str]): Containers above the CPU limit.
    full (list[str]): Containers above the memory limit.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/stats.txt}
      files:
        /tmp/stats.txt: |
          CONTAINER ID   NAME   CPU %    MEM USAGE / LIMIT   MEM %    NET I/O       BLOCK I/O   PIDS
          aaaaaaaaaaaa   web    85.50%   512MiB / 1GiB       50.00%   1kB / 2.5MB   0B / 4kB    12
          bbbbbbbbbbbb   old    --       -- / --             --       --            --          --
      output:
        rows:
          - {name: web, cpu_percent: 85.5, peak_cpu_percent: 85.5, memory_bytes: 536870912,
             memory_limit_bytes: 1073741824, memory_percent: 50.0, network_in_bytes: 1000,
             network_out_bytes: 2500000, disk_read_bytes: 0, disk_write_bytes: 4000, pids: 12,
             samples: 1}
          - {name: old, cpu_percent: null, memory_bytes: null, samples: 1, ...: ...}
        total: 2
        cpu_percent: 85.5
        memory_bytes: 536870912
        busy: [web]
        full: []
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGTP]?)(i?)B")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_KEYS = {
    "name": ("name", "names"),
    "cpu": ("cpu %", "cpuperc", "cpu_percent"),
    "memory": ("mem usage / limit", "memusage", "mem_usage"),
    "percent": ("mem %", "memperc", "mem_percent"),
    "network": ("net i/o", "net io", "netio", "net_io"),
    "disk": ("block i/o", "block io", "blockio", "block_io"),
    "pids": ("pids",),
}


def run(path: str, cpu_limit: float = 80.0, memory_limit: float = 90.0) -> dict[str, Any]:
    if cpu_limit <= 0 or memory_limit <= 0:
        raise ValueError(f"limits {cpu_limit} and {memory_limit}: give percentages above 0")
    text = _ANSI.sub("", Path(path).read_text(encoding="utf-8-sig", errors="replace"))
    latest: dict[str, dict[str, Any]] = {}
    for fields in _samples(path, text):
        row = _row(fields)
        before = latest.get(row["name"])
        if before:
            row["samples"] += before["samples"]
            peaks = [
                p for p in (row["peak_cpu_percent"], before["peak_cpu_percent"]) if p is not None
            ]
            row["peak_cpu_percent"] = max(peaks, default=None)
        latest[row["name"]] = row
    rows = sorted(latest.values(), key=lambda row: (-(row["cpu_percent"] or 0.0), row["name"]))
    return {
        "rows": rows,
        "total": len(rows),
        "cpu_percent": round(sum(row["cpu_percent"] or 0.0 for row in rows), 2),
        "memory_bytes": sum(row["memory_bytes"] or 0 for row in rows),
        "busy": [row["name"] for row in rows if (row["cpu_percent"] or 0.0) > cpu_limit],
        "full": [row["name"] for row in rows if (row["memory_percent"] or 0.0) > memory_limit],
    }


def _samples(path: str, text: str) -> list[dict[str, str]]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    found: list[dict[str, str]] = []
    try:
        if lines[0].startswith("["):
            found = [_lower(item) for item in json.loads(text)]
        elif lines[0].startswith("{"):
            found = [_lower(json.loads(line)) for line in lines]
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path} is damaged JSON: {error}: save it again") from None
    heads: list[str] = []
    for line in lines if not found and lines[0][0] not in "[{" else []:
        cells = re.split(r"\s{2,}", line)
        if "CPU %" in cells:
            heads = [cell.lower() for cell in cells]
        elif heads and len(cells) == len(heads):
            found.append(dict(zip(heads, cells, strict=True)))
    if not found and lines[0][0] not in "[{" and not heads:
        raise ValueError(f"{path} is no `docker stats` table: it needs the head CPU %")
    return found


def _lower(item: dict[str, Any]) -> dict[str, str]:
    return {str(key).lower(): str(value) for key, value in item.items()}


def _row(fields: dict[str, str]) -> dict[str, Any]:
    texts = {
        name: next((fields[key] for key in keys if key in fields), "")
        for name, keys in _KEYS.items()
    }
    cpu = _percent(texts["cpu"])
    memory, limit = _sizes(texts["memory"])
    received, sent = _sizes(texts["network"])
    read, written = _sizes(texts["disk"])
    return {
        "name": texts["name"] or fields.get("container id") or fields.get("id") or "(unnamed)",
        "cpu_percent": cpu,
        "peak_cpu_percent": cpu,
        "memory_bytes": memory,
        "memory_limit_bytes": limit,
        "memory_percent": _percent(texts["percent"]),
        "network_in_bytes": received,
        "network_out_bytes": sent,
        "disk_read_bytes": read,
        "disk_write_bytes": written,
        "pids": int(texts["pids"]) if texts["pids"].isdecimal() else None,
        "samples": 1,
    }


def _percent(text: str) -> float | None:
    found = _PERCENT.search(text)
    return float(found[1]) if found else None


def _sizes(text: str) -> tuple[int | None, int | None]:
    first, _, second = text.partition("/")
    return _size(first), _size(second)


def _size(text: str) -> int | None:
    found = _SIZE.search(text)
    if found is None:
        return None
    number, prefix, binary = found.groups()
    unit = 1024.0 if binary else 1000.0
    return round(float(number) * unit ** _POWERS[prefix.lower()])
