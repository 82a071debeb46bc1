"""Find zombie processes and processes stuck in uninterruptible sleep.

A zombie has ended, but its parent never collected it: the cure is to fix or restart the parent,
which is why `parents` says who left how many. A process in uninterruptible sleep (state D) waits
for a disk or network file system and cannot be killed; it raises the load average. D is normal for
moments, so a process counts as stuck only when it is in the same state in every sample.

Args:
    samples (int): How often to look, 1 to 20.
    interval_seconds (float): Time between two samples, 0 to 60.
    proc (str): The process tree, or a copy of `/proc` from another machine.

Returns:
    rows (list[dict[str, Any]]): One a process, by pid: `pid`, `name`, `state` (`zombie` or
        `uninterruptible`), `parent_pid`, `parent_name`, `waits_in` (kernel function; null where
        unknown), `age_seconds` (since the process started).
    parents (list[dict[str, Any]]): Who left zombies, most first: `pid`, `name`, `zombies`.
    zombies (int): How many zombies there are.
    uninterruptible (int): How many processes are stuck in uninterruptible sleep.
    processes (int): How many processes there are in all.
    ok (bool): Whether none is stuck.

Side effects:
    none

Kind: read

Effects:
    paths: /proc
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a zombie, its parent, and a process waiting for NFS
      inputs: {proc: /tmp/stuck_processes, interval_seconds: 0}
      files:
        /tmp/stuck_processes/uptime: "500.00 400.00"
        /tmp/stuck_processes/10/stat: "10 (cron) S 1 10 10 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100"
        /tmp/stuck_processes/11/stat: "11 (job) Z 10 10 10 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 20000"
        /tmp/stuck_processes/12/stat: "12 (cp) D 1 12 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 40000"
        /tmp/stuck_processes/12/wchan: "nfs_wait_bit_killable"
      output:
        rows:
          - {pid: 11, name: job, state: zombie, parent_pid: 10, parent_name: cron, waits_in: null,
             age_seconds: 300}
          - {pid: 12, name: cp, state: uninterruptible, parent_pid: 1, parent_name: null,
             waits_in: nfs_wait_bit_killable, age_seconds: 100}
        parents: [{pid: 10, name: cron, zombies: 1}]
        zombies: 1
        uninterruptible: 1
        processes: 3
        ok: false
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

STATES = {"Z": "zombie", "D": "uninterruptible"}


class Process(NamedTuple):
    """One process at one moment; `started` is seconds after boot."""

    name: str
    state: str
    parent: int
    started: float


def run(samples: int = 3, interval_seconds: float = 0.3, proc: str = "/proc") -> dict[str, Any]:
    """Look several times and keep what stays stuck."""
    if not 1 <= samples <= 20:
        raise ValueError(f"samples {samples} is out of range: give 1 to 20")
    if not 0 <= interval_seconds <= 60:
        raise ValueError(f"interval_seconds {interval_seconds} is out of range: give 0 to 60")
    root = Path(proc)
    table = _table(root)
    stuck = {pid: found for pid, found in table.items() if found.state in STATES}
    for _ in range(samples - 1):
        time.sleep(interval_seconds)
        table = _table(root)
        stuck = {pid: found for pid, found in stuck.items() if table.get(pid) == found}
    uptime = float((root / "uptime").read_text(encoding="utf-8").split()[0])
    rows = [
        {
            "pid": pid,
            "name": found.name,
            "state": STATES[found.state],
            "parent_pid": found.parent,
            "parent_name": table[found.parent].name if found.parent in table else None,
            "waits_in": _waits_in(root / str(pid) / "wchan"),
            "age_seconds": int(max(uptime - found.started, 0)),
        }
        for pid, found in sorted(stuck.items())
    ]
    left = Counter(row["parent_pid"] for row in rows if row["state"] == "zombie")
    names = {row["parent_pid"]: row["parent_name"] for row in rows}
    return {
        "rows": rows,
        "parents": [
            {"pid": pid, "name": names[pid], "zombies": count} for pid, count in left.most_common()
        ],
        "zombies": left.total(),
        "uninterruptible": len(rows) - left.total(),
        "processes": len(table),
        "ok": not rows,
    }


def _table(root: Path) -> dict[int, Process]:
    ticks = os.sysconf("SC_CLK_TCK")
    found = {}
    for entry in root.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # The name may hold spaces and brackets; everything after the last one is plain fields.
        head, _, tail = text.rpartition(")")
        fields = tail.split()
        if len(fields) > 19:
            name = head.partition("(")[2]
            started = int(fields[19]) / ticks
            found[int(entry.name)] = Process(name, fields[0], int(fields[1]), started)
    return found


def _waits_in(path: Path) -> str | None:
    """The kernel says 0 where it does not tell."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return text if text not in ("", "0") else None
