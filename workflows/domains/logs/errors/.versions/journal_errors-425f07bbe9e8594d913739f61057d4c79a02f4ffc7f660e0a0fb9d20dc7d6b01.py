r"""Count the error-level messages of the systemd journal by unit.

Totals tell which units complain most, how severe it is, and the newest complaint of each. Single
lines are not listed. The input is this machine for the last hours (`journalctl`), or a file that
`journalctl -o json` or `journalctl -o export` wrote. A machine without a journal gives a reason
in `error` and no rows.

Args:
    path (str): A file to count instead of this machine.
    priority (int): The mildest severity that counts, 0 (emergency) to 7 (debug); 3 is error,
        4 also takes warnings.
    since_hours (int): How many hours back to count on this machine, at least 1. Not applied to a
        file.

Returns:
    rows (list[dict[str, Any]]): One a unit: `unit`, `errors`, `worst` (name of the gravest
        severity), `last_time` (ISO 8601, UTC), `last_message`; most errors first.
    total (int): How many errors were counted in all.
    entries (int): How many records were read.
    malformed (int): Records that could not be read.
    error (str | None): Why nothing could be counted on this machine.

Side effects:
    none

Kind: read

Effects:
    paths: the given export
    hosts: none
    commands: journalctl

Secrets: none

Examples:
    - title: an export made by journalctl -o export
      inputs: {path: /tmp/journal.export}
      files:
        /tmp/journal.export: |
          __REALTIME_TIMESTAMP=1740823200000000
          PRIORITY=3
          _SYSTEMD_UNIT=redis.service
          MESSAGE=bind failed

          PRIORITY=6
          _SYSTEMD_UNIT=redis.service
          MESSAGE=started

          __REALTIME_TIMESTAMP=1740823201000000
          PRIORITY=2
          SYSLOG_IDENTIFIER=kernel
          MESSAGE=out of memory
      output:
        rows:
          - {unit: kernel, errors: 1, worst: critical, last_time: "2025-03-01T10:00:01+00:00",
             last_message: out of memory}
          - {unit: redis.service, errors: 1, worst: error,
             last_time: "2025-03-01T10:00:00+00:00", last_message: bind failed}
        total: 2
        entries: 3
        malformed: 0
        error: null
    - title: an export made by journalctl -o json
      inputs: {path: /tmp/journal.json}
      files:
        /tmp/journal.json: |
          {"PRIORITY": "6", "UNIT": "cron.service", "MESSAGE": "started"}
          {"PRIORITY": "3", "UNIT": "cron.service", "MESSAGE": [104, 105]}
      output:
        rows: [{unit: cron.service, errors: 1, worst: error, last_time: null, last_message: hi}]
        total: 1
        entries: 2
        malformed: 0
        error: null
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

_NAMES = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
_FIELD = re.compile(rb"[A-Z_][A-Z0-9_]*")
_TIMEOUT_S = 20
_LONGEST = 1 << 24
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def run(path: str = "", priority: int = 3, since_hours: int = 24) -> dict[str, Any]:
    if not 0 <= priority <= 7:
        raise ValueError(f"priority {priority} is out of range: give 0 (emergency) to 7 (debug)")
    if since_hours < 1:
        raise ValueError(f"since_hours {since_hours} is too short: give at least 1")
    if path:
        with Path(path).open("rb") as stream:
            return _count(_entries(stream), priority, None)
    lines, error = _ask(priority, since_hours)
    return _count((_json(line) for line in lines), priority, error)


def _ask(priority: int, hours: int) -> tuple[list[bytes], str | None]:
    argv = ["journalctl", "-o", "json", "--no-pager", "-q", "-n", "50000"]
    argv += ["-p", str(priority), "--since", f"-{hours}h"]
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return [], "journalctl is not installed here: give the path of a saved export"
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], f"journalctl could not be asked: {error}"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or "no message"
        return [], f"journalctl failed with status {done.returncode}: {said}"
    if not done.stdout and not any(Path("/").glob("*/log/journal/*")):
        return [], "there is no journal on this machine: give the path of a saved export"
    return done.stdout.splitlines(), None


def _count(
    entries: Iterator[dict[str, Any] | None], priority: int, error: str | None
) -> dict[str, Any]:
    units: dict[str, dict[str, Any]] = {}
    read = malformed = 0
    for entry in entries:
        read += 1
        level = str(entry.get("PRIORITY", "6")) if entry is not None else ""
        if entry is None or level not in tuple("01234567"):
            malformed += 1
            continue
        if int(level) > priority:
            continue
        unit = _text(
            entry.get("_SYSTEMD_UNIT") or entry.get("UNIT") or entry.get("SYSLOG_IDENTIFIER")
        )
        row = units.setdefault(
            unit or "(unknown)",
            {"errors": 0, "worst": 7, "last_time": None, "last_message": ""},
        )
        row["errors"] += 1
        row["worst"] = min(row["worst"], int(level))
        time = _time(entry.get("__REALTIME_TIMESTAMP"))
        if row["last_time"] is None or (time or "") >= row["last_time"]:
            row["last_time"] = time
            row["last_message"] = _text(entry.get("MESSAGE"))
    rows = [{"unit": unit, **row, "worst": _NAMES[row["worst"]]} for unit, row in units.items()]
    rows.sort(key=lambda row: (-row["errors"], row["unit"]))
    total = sum(row["errors"] for row in rows)
    return {"rows": rows, "total": total, "entries": read} | {
        "malformed": malformed,
        "error": error,
    }


def _entries(stream: BinaryIO) -> Iterator[dict[str, Any] | None]:
    """Entries of a JSON or export file; None for one that cannot be read."""
    entry: dict[str, Any] = {}
    while line := stream.readline(_LONGEST):
        line = line.rstrip(b"\n")
        if not entry and line.lstrip().startswith(b"{"):
            yield _json(line)
        elif not line:
            if entry:
                yield entry
            entry = {}
        elif b"=" in line:
            name, value = line.split(b"=", 1)
            entry[name.decode("ascii", "replace")] = value.decode("utf-8", "replace")
        elif not _FIELD.fullmatch(line):
            yield None
        else:
            # Binary field of the export format: name, 64-bit little-endian size, data, newline.
            size = int.from_bytes(stream.read(8), "little")
            if size > _LONGEST:
                yield None
                return
            entry[line.decode("ascii", "replace")] = stream.read(size).decode("utf-8", "replace")
            stream.read(1)
    if entry:
        yield entry


def _json(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _text(value: Any) -> str:
    """A field as text; journalctl writes messages that are not UTF-8 as lists of bytes."""
    if isinstance(value, list) and all(isinstance(b, int) and 0 <= b <= 255 for b in value):
        return bytes(value).decode("utf-8", "replace")
    return "" if value is None else str(value)


def _time(microseconds: Any) -> str | None:
    try:
        return (_EPOCH + timedelta(microseconds=int(microseconds))).isoformat()
    except (OverflowError, TypeError, ValueError):
        return None
