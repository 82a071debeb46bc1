"""Show the last lines that a service wrote to the systemd journal, oldest first.

Asks `journalctl` on this machine for one unit, or for the whole journal if no unit is named. It can
also read a saved export (`journalctl -o json`). If there is no journal, the result says so.

Args:
    unit (str): The service or other unit, for example `nginx` or `nginx.service`; all units when
        empty.
    limit (int): How many lines to show, 1 to 10000.
    priority (int): The least severe level to show, 0 (emergency) to 7 (debug, all lines).
    boot (bool): Only lines since the machine started.
    export (str): A saved export to read; this machine's journal when empty. `boot` is not applied
        to it.

Returns:
    rows (list[dict[str, Any]]): The last lines, oldest first: `time` (ISO 8601, UTC), `level`,
        `unit`, `message`.
    shown (int): How many lines there are.
    malformed (int): Entries that could not be read.
    error (str | None): Why the journal of this machine could not be asked.

Side effects:
    none

Kind: read

Effects:
    paths: the given export
    hosts: none
    commands: journalctl

Secrets: none

Examples:
    - title: the last line of one unit in a saved export
      inputs: {unit: nginx, limit: 1, export: /tmp/journal.json}
      files:
        /tmp/journal.json: |
          {"__REALTIME_TIMESTAMP": "1740823200000000", "PRIORITY": "6", "_SYSTEMD_UNIT": "nginx.service", "MESSAGE": "started"}
          {"__REALTIME_TIMESTAMP": "1740823201000000", "PRIORITY": "3", "_SYSTEMD_UNIT": "nginx.service", "MESSAGE": "bind failed"}
          {"__REALTIME_TIMESTAMP": "1740823202000000", "PRIORITY": "6", "_SYSTEMD_UNIT": "cron.service", "MESSAGE": "run"}
          no entry
      output:
        rows:
          - {time: "2025-03-01T10:00:01+00:00", level: error, unit: nginx.service,
             message: bind failed}
        shown: 1
        malformed: 1
        error: null
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_NAMES = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
_UNIT = re.compile(r"[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]{0,254}")
_TYPES = ("service", "socket", "timer", "mount", "target", "slice", "scope", "path", "swap")
_TIMEOUT_S = 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def run(
    unit: str = "", limit: int = 50, priority: int = 7, boot: bool = False, export: str = ""
) -> dict[str, Any]:
    if not 1 <= limit <= 10_000:
        raise ValueError(f"limit {limit} is out of range: give 1 to 10000")
    if not 0 <= priority <= 7:
        raise ValueError(f"priority {priority} is out of range: give 0 (emergency) to 7 (debug)")
    if unit and not _UNIT.fullmatch(unit):
        raise ValueError(f"unit {unit!r} is no name of a unit: write it as `systemctl` lists it")
    if unit and unit.rpartition(".")[2] not in _TYPES:
        unit += ".service"
    error = None
    if export:
        with Path(export).open("rb") as stream:
            rows, malformed = _last(stream, unit, limit, priority)
    else:
        found, error = _ask(unit, limit, priority, boot)
        rows, malformed = _last(found, "", limit, 7)
    return {"rows": rows, "shown": len(rows), "malformed": malformed, "error": error}


def _ask(unit: str, limit: int, priority: int, boot: bool) -> tuple[list[bytes], str | None]:
    """Return the entries as `journalctl` writes them, and why there are none."""
    argv = ["journalctl", "-o", "json", "--no-pager", "-q", "-n", str(limit), "-p", str(priority)]
    argv += ["-b"] if boot else []
    argv += ["-u", unit] if unit else []
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return [], "journalctl is not installed here: give a saved export"
    except (OSError, subprocess.TimeoutExpired) as failure:
        return [], f"journalctl could not be asked: {failure}"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or "no message"
        return [], f"journalctl failed with status {done.returncode}: {said}"
    if not done.stdout and not any(Path("/").glob("*/log/journal/*")):
        return [], "there is no journal on this machine: give a saved export"
    return done.stdout.splitlines(), None


def _last(
    entries: Iterable[bytes], unit: str, limit: int, priority: int
) -> tuple[list[dict[str, Any]], int]:
    kept: deque[dict[str, Any]] = deque(maxlen=limit)
    malformed = 0
    for raw in filter(None, map(bytes.strip, entries)):
        row = _row(raw)
        if row is None:
            malformed += 1
        elif unit in ("", row["unit"]) and _NAMES.index(row["level"]) <= priority:
            kept.append(row)
    return list(kept), malformed


def _row(raw: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(raw)
        level = int(entry.get("PRIORITY") or 6)
        time = (_EPOCH + timedelta(microseconds=int(entry["__REALTIME_TIMESTAMP"]))).isoformat()
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    unit = entry.get("_SYSTEMD_UNIT") or entry.get("UNIT") or entry.get("SYSLOG_IDENTIFIER")
    if not 0 <= level <= 7:
        return None
    return {"time": time, "level": _NAMES[level]} | {
        "unit": _text(unit),
        "message": _text(entry.get("MESSAGE")),
    }


def _text(value: Any) -> str:
    """Return a field as text; journalctl writes messages that are not UTF-8 as lists of bytes."""
    if isinstance(value, list) and all(isinstance(b, int) and 0 <= b <= 255 for b in value):
        return bytes(value).decode("utf-8", "replace")
    return "" if value is None else str(value)
