"""Show the processes that use the most CPU or memory.

Reads each process's counters twice, `interval_seconds` apart: `cpu_percent` is what it used in
between, where 100 is one whole core. With an interval of 0 it is the average since the process
started. Memory is the resident set: pages in RAM, with shared pages counted in every process.
Command lines are left out unless asked for, because they may hold passwords.

Args:
    sort_by (str): `cpu` or `memory`.
    limit (int): How many processes to return, at least 1.
    interval_seconds (float): Time between the two readings, 0 to 60.
    show_command (bool): Add the command line, cut to 200 characters.
    proc (str): The process tree, or a copy of `/proc` from another machine.

Returns:
    rows (list[dict[str, Any]]): One a process, largest first: `pid`, `name`, `user`,
        `cpu_percent`, `memory_bytes`, `memory_percent`, and `command` where asked for.
    processes (int): How many processes there are.
    cpu_percent (float): Sum over all processes.
    memory_bytes (int): Sum of the resident sets of all processes.
    skipped (int): Processes that ended meanwhile or may not be read.

Side effects:
    none

Kind: read

Effects:
    paths: /proc
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: two processes, the larger one first
      inputs: {proc: /tmp/top_processes, sort_by: memory, interval_seconds: 0}
      files:
        /tmp/top_processes/uptime: "1000.00 900.00"
        /tmp/top_processes/meminfo: "MemTotal: 10000 kB"
        /tmp/top_processes/7/stat: "7 (web (main)) S 1 7 7 0 -1 0 0 0 0 0 4000 1000 0 0 20 0 1 0 0"
        /tmp/top_processes/7/status: "Uid: 4000000 4000000 4000000 4000000\\nVmRSS: 1000 kB"
        /tmp/top_processes/8/stat: "8 (db) S 1 8 8 0 -1 0 0 0 0 0 100 0 0 0 20 0 1 0 90000"
        /tmp/top_processes/8/status: "Uid: 4000001 4000001 4000001 4000001\\nVmRSS: 2500 kB"
      output:
        rows:
          - {pid: 8, name: db, user: "4000001", cpu_percent: 1.0, memory_bytes: 2560000,
             memory_percent: 25.0}
          - {pid: 7, name: web (main), user: "4000000", cpu_percent: 5.0, memory_bytes: 1024000,
             memory_percent: 10.0}
        processes: 2
        cpu_percent: 6.0
        memory_bytes: 3584000
        skipped: 0
    - title: what keeps this machine busy
      inputs: {limit: 5}
"""

from __future__ import annotations

import os
import pwd
import re
import time
from pathlib import Path
from typing import Any, NamedTuple


class Reading(NamedTuple):
    """One process at one moment; `seconds` is CPU time, `started` seconds after boot."""

    name: str
    seconds: float
    started: float


def run(
    sort_by: str = "cpu",
    limit: int = 10,
    interval_seconds: float = 0.5,
    show_command: bool = False,
    proc: str = "/proc",
) -> dict[str, Any]:
    """Read the process table and keep the largest users."""
    if sort_by not in ("cpu", "memory"):
        raise ValueError(f"sort_by {sort_by!r} is unknown: give cpu or memory")
    if limit < 1:
        raise ValueError(f"limit {limit} asks for no process: give 1 or more")
    if not 0 <= interval_seconds <= 60:
        raise ValueError(f"interval_seconds {interval_seconds} is out of range: give 0 to 60")
    root = Path(proc)
    before = _readings(root)[0] if interval_seconds else {}
    begun = time.monotonic()
    time.sleep(interval_seconds)
    uptime = float((root / "uptime").read_text(encoding="utf-8").split()[0])
    after, skipped = _readings(root)
    elapsed = time.monotonic() - begun
    total = _kib((root / "meminfo").read_text(encoding="utf-8"), "MemTotal")
    rows = []
    for pid, now in after.items():
        then = before.get(pid)
        if then is not None and then.started == now.started:
            share = (now.seconds - then.seconds) / elapsed
        else:
            share = now.seconds / max(uptime - now.started, 0.01)
        try:
            status = (root / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
        except OSError:
            skipped += 1
            continue
        memory = _kib(status, "VmRSS")
        row: dict[str, Any] = {
            "pid": pid,
            "name": now.name,
            "user": _user(status),
            "cpu_percent": round(100 * max(share, 0.0), 1),
            "memory_bytes": memory * 1024,
            "memory_percent": round(100 * memory / total, 1) if total else 0.0,
        }
        rows.append(row | {"command": _command(root / str(pid))} if show_command else row)
    first, second = ("cpu_percent", "memory_bytes")[:: 1 if sort_by == "cpu" else -1]
    rows.sort(key=lambda row: (-row[first], -row[second], row["pid"]))
    return {
        "rows": rows[:limit],
        "processes": len(rows),
        "cpu_percent": round(sum(row["cpu_percent"] for row in rows), 1),
        "memory_bytes": sum(row["memory_bytes"] for row in rows),
        "skipped": skipped,
    }


def _readings(root: Path) -> tuple[dict[int, Reading], int]:
    """Every process by pid, and how many could not be read."""
    ticks = os.sysconf("SC_CLK_TCK")
    found: dict[int, Reading] = {}
    skipped = 0
    for entry in root.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            skipped += 1
            continue
        # The name may hold spaces and brackets; everything after the last one is numbers.
        head, _, tail = text.rpartition(")")
        fields = tail.split()
        if len(fields) > 19:
            used = (int(fields[11]) + int(fields[12])) / ticks
            name = head.partition("(")[2]
            found[int(entry.name)] = Reading(name, used, int(fields[19]) / ticks)
    return found, skipped


def _kib(text: str, key: str) -> int:
    """A `key: N kB` line; kernel threads have no VmRSS, which is 0."""
    match = re.search(rf"^{key}:\s+(\d+)", text, re.MULTILINE)
    return int(match[1]) if match else 0


def _user(status: str) -> str:
    uid = _kib(status, "Uid")
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _command(entry: Path) -> str | None:
    try:
        raw = (entry / "cmdline").read_bytes()
    except OSError:
        return None
    return raw.replace(b"\0", b" ").strip().decode("utf-8", "backslashreplace")[:200]
