"""Look up one process by its id: what it is, who started it, and since when it runs.

A process that has ended and only waits for its parent (a zombie) does not count as running.

Args:
    pid (int): The process id.
    started (str): The start of the process that is meant, in ISO 8601, exact to a second. A process
        that started at another time has only got the same id, and does not count.
    proc (str): Another folder like `/proc`.

Returns:
    pid (int): The process id.
    running (bool): Whether this process exists and has not ended.
    name (str): Its name; empty if there is none.
    state (str): `running`, `sleeping`, `waiting`, `stopped`, `zombie`, another letter of the
        kernel, or empty.
    parent (int | None): The process that started it.
    parent_name (str): The name of that process.
    user (str): Who it belongs to.
    started (str): When it started, in UTC; empty if there is none.

Side effects:
    none

Kind: read

Owner: operations

Effects:
    paths: /proc, the given proc
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {pid: 4711, proc: /tmp/proc}
      files:
        /tmp/proc/4711/stat: "4711 (rsync) S 900 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 500 0"
        /tmp/proc/4711/status: "Uid:\\t4000000\\t0\\t0\\t0\\n"
        /tmp/proc/900/stat: "900 (cron) S 1 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 100 0"
        /tmp/proc/stat: "btime 1700000000\\n"
      output:
        pid: 4711
        running: true
        name: rsync
        state: sleeping
        parent: 900
        parent_name: cron
        user: "4000000"
        started: "2023-11-14T22:13:25+00:00"
    - title: the id belongs to a younger process
      inputs: {pid: 4711, started: "2023-11-14T22:00:00", proc: /tmp/proc}
      files:
        /tmp/proc/4711/stat: "4711 (rsync) S 900 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 500 0"
        /tmp/proc/4711/status: "Uid:\\t4000000\\t0\\t0\\t0\\n"
        /tmp/proc/stat: "btime 1700000000\\n"
      output: {running: false, ...: ...}
"""

from __future__ import annotations

import os
import pwd
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_STATES = {"R": "running", "S": "sleeping", "D": "waiting", "T": "stopped", "Z": "zombie"}


def run(pid: int, started: str = "", proc: str = "/proc") -> dict[str, Any]:
    if pid < 1:
        raise ValueError(f"pid {pid} is no process id: give 1 or more")
    expected = _moment(started) if started else None
    root = Path(proc)
    found = _stat(root, pid)
    if found is None:
        empty = {"name": "", "state": "", "parent": None, "parent_name": "", "user": ""}
        return {"pid": pid, "running": False, **empty, "started": ""}
    name, fields = found
    since = _boot(root) + int(fields[19]) // os.sysconf("SC_CLK_TCK")
    state = _STATES.get(fields[0], fields[0])
    parent = int(fields[1])
    same = expected is None or abs(expected.timestamp() - since) <= 1
    return {
        "pid": pid,
        "running": state not in ("zombie", "X") and same,
        "name": name,
        "state": state,
        "parent": parent,
        "parent_name": (_stat(root, parent) or ("", []))[0],
        "user": _user(root, pid),
        "started": datetime.fromtimestamp(since, UTC).isoformat(),
    }


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"started {text!r} is no time: write 2030-01-31T12:00:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _stat(root: Path, pid: int) -> tuple[str, list[str]] | None:
    """The name of a process, and the fields after it."""
    try:
        text = (root / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    head, _, tail = text.rpartition(")")
    return head.partition("(")[2], tail.split()


def _boot(root: Path) -> int:
    """Seconds of the clock when the machine started."""
    match = re.search(r"^btime (\d+)", (root / "stat").read_text(encoding="ascii"), re.MULTILINE)
    if match is None:
        raise ValueError(f"proc {str(root)!r} does not say when the machine started: use /proc")
    return int(match[1])


def _user(root: Path, pid: int) -> str:
    try:
        text = (root / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    match = re.search(r"^Uid:\s+(\d+)", text, re.MULTILINE)
    uid = int(match[1]) if match else 0
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
