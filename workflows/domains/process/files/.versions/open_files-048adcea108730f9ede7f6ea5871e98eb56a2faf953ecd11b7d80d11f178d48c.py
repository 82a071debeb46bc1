"""Show how many files and sockets each process holds open and how near it is to its limit.

Counts the open file descriptors of every process and says what they are: files, sockets, pipes or
other. `limit` is the soft limit (ulimit -n) of that process; a program that reaches it fails with
"Too many open files". Other users' processes can only be read by root: the rest is counted in
`unreadable`. The figures of the whole machine come from the kernel's file table.

Args:
    warn_percent (float): Report processes that use more than this many percent of their limit.
    limit (int): How many processes to return; 0 returns all.
    proc (str): The process tree.

Returns:
    rows (list[dict[str, Any]]): One a process, most open first: `pid`, `name`, `open`, `files`,
        `sockets`, `pipes`, `other`, `limit` (null where unlimited), `used_percent`, `above`.
    above (list[dict[str, Any]]): The processes above the warning: `pid`, `name`, `used_percent`.
    processes (int): How many processes could be read.
    unreadable (int): How many processes could not be read.
    total_open (int): Open descriptors of all processes that could be read.
    system_open (int): Open files of the whole machine; null where the kernel does not say.
    system_limit (int): The most the machine allows; null where the kernel does not say.
    ok (bool): Whether no readable process is above the warning.

Side effects:
    none

Kind: read

Effects:
    paths: /proc
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a process that has used three of its four descriptors
      inputs: {proc: /tmp/open_files, warn_percent: 70}
      files:
        /tmp/open_files/sys/fs/file-nr: "1200 0 90000"
        /tmp/open_files/42/comm: "worker"
        /tmp/open_files/42/limits: |
          Limit                     Soft Limit           Hard Limit           Units
          Max open files            4                    4096                 files
        /tmp/open_files/42/fd/0: ""
        /tmp/open_files/42/fd/1: ""
        /tmp/open_files/42/fd/2: ""
      output:
        rows:
          - {pid: 42, name: worker, open: 3, files: 0, sockets: 0, pipes: 0, other: 3, limit: 4,
             used_percent: 75.0, above: true}
        above: [{pid: 42, name: worker, used_percent: 75.0}]
        processes: 1
        unreadable: 0
        total_open: 3
        system_open: 1200
        system_limit: 90000
        ok: false
    - title: this machine
      inputs: {limit: 5}
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

LIMIT = re.compile(r"^Max open files\s+(\d+|unlimited)", re.MULTILINE)


def run(warn_percent: float = 80.0, limit: int = 20, proc: str = "/proc") -> dict[str, Any]:
    """Count the open descriptors of every process."""
    if not 0 <= warn_percent <= 100:
        raise ValueError(f"warn_percent {warn_percent} is no percentage: give 0 to 100")
    if limit < 0:
        raise ValueError(f"limit {limit} is negative: give how many rows to return, 0 for all")
    root = Path(proc)
    rows = []
    unreadable = 0
    for entry in root.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            row = _process(entry)
        except OSError:
            unreadable += 1
            continue
        row["above"] = row["used_percent"] is not None and row["used_percent"] > warn_percent
        rows.append(row)
    rows.sort(key=lambda row: (-row["open"], row["pid"]))
    above = [
        {key: row[key] for key in ("pid", "name", "used_percent")} for row in rows if row["above"]
    ]
    system_open, system_limit = _system(root / "sys/fs/file-nr")
    return {
        "rows": rows[: limit or None],
        "above": above,
        "processes": len(rows),
        "unreadable": unreadable,
        "total_open": sum(row["open"] for row in rows),
        "system_open": system_open,
        "system_limit": system_limit,
        "ok": not above,
    }


def _process(entry: Path) -> dict[str, Any]:
    """One process; OSError where it ended or may not be read."""
    kinds = Counter(_kind(entry / "fd" / name) for name in os.listdir(entry / "fd"))
    found = LIMIT.search((entry / "limits").read_text(encoding="utf-8"))
    most = int(found[1]) if found and found[1] != "unlimited" else None
    held = kinds.total()
    return {
        "pid": int(entry.name),
        "name": (entry / "comm").read_text(encoding="utf-8", errors="replace").rstrip("\n"),
        "open": held,
        "files": kinds["files"],
        "sockets": kinds["sockets"],
        "pipes": kinds["pipes"],
        "other": kinds["other"],
        "limit": most,
        "used_percent": round(100 * held / most, 1) if most else None,
    }


def _kind(descriptor: Path) -> str:
    try:
        target = os.readlink(descriptor)
    except OSError:
        return "other"
    if target.startswith("/"):
        return "files"
    return {"socket": "sockets", "pipe": "pipes"}.get(target.partition(":")[0], "other")


def _system(counts: Path) -> tuple[int | None, int | None]:
    try:
        used, unused, most = (int(part) for part in counts.read_text(encoding="utf-8").split())
    except (OSError, ValueError):
        return None, None
    return used - unused, most
