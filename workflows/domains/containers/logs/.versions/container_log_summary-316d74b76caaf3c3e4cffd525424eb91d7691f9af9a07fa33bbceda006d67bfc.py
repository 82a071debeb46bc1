r"""Summarise a container's JSON log file: errors, restarts and volume.

Reads the `...-json.log` file that Docker's json-file driver writes, plain or gzip-compressed, line
by line. Counts lines and bytes of both streams, groups error messages with their numbers removed,
and counts restarts: how often the line that marks a start appears again. Without a pattern
that is the first line of the file; give one if the log was rotated.

Args:
    path (str): The log file; names ending in `.gz` are decompressed.
    start_pattern (str): Regular expression of the line a start prints, such as `Server started`.
    top (int): How many error messages to list, at least 1.

Returns:
    rows (list[dict[str, Any]]): Error messages by frequency: `message` (numbers replaced),
        `count`, `first`, `last` (times).
    lines (int): Log lines; pieces of a long line count once.
    stdout (int): Lines the container wrote to its output.
    stderr (int): Lines the container wrote to its error stream.
    errors (int): Lines that report an error.
    warnings (int): Lines that report a warning.
    restarts (int): Starts after the first one.
    bytes (int): Size of the messages.
    lines_per_minute (float | None): Average between first and last line.
    first (str | None): Time of the first line.
    last (str | None): Time of the last line.
    malformed (int): Lines that are not in the format.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/web-json.log, start_pattern: starting}
      files:
        /tmp/web-json.log: |
          {"log":"starting\n","stream":"stdout","time":"2025-03-01T10:00:00.1Z"}
          {"log":"ERROR no route to 7\n","stream":"stderr","time":"2025-03-01T10:01:00.1Z"}
          {"log":"starting\n","stream":"stdout","time":"2025-03-01T10:02:00.1Z"}
          {"log":"ERROR no route to 8\n","stream":"stderr","time":"2025-03-01T10:04:00.1Z"}
          broken
      output:
        rows:
          - {message: "ERROR no route to <n>", count: 2, first: "2025-03-01T10:01:00.1Z",
             last: "2025-03-01T10:04:00.1Z"}
        lines: 4
        stdout: 2
        stderr: 2
        errors: 2
        warnings: 0
        restarts: 1
        bytes: 58
        lines_per_minute: 1.0
        first: "2025-03-01T10:00:00.1Z"
        last: "2025-03-01T10:04:00.1Z"
        malformed: 1
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

_LEVEL = re.compile(
    r"\b(?:(error|err|fatal|critical|crit|panic|exception|traceback|severe)|(warn|warning)|"
    r"(?:info|debug|trace|notice))\b",
    re.I,
)
_VARYING = re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}(?:-[0-9a-f]+)*\b|\d+(?:[.:,-]\d+)*", re.I)
_STAMP = re.compile(r"^\W?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s*")
_LONGEST = 2000
_MOST = 50_000


def run(path: str, start_pattern: str = "", top: int = 10) -> dict[str, Any]:
    if top < 1:
        raise ValueError(f"top {top} lists nothing: give at least 1")
    try:
        start = re.compile(start_pattern) if start_pattern else None
    except re.error as error:
        raise ValueError(f"start_pattern {start_pattern!r} is no pattern: {error}") from error
    counts = dict.fromkeys(("stdout", "stderr", "errors", "warnings", "bytes", "malformed"), 0)
    groups: dict[str, dict[str, Any]] = {}
    starts = lines = 0
    opening = ""
    first = last = None
    for entry in _entries(path):
        if entry is None:
            counts["malformed"] += 1
            continue
        message, stream, time = entry
        lines += 1
        counts["bytes"] += len(message.encode("utf-8", "replace"))
        counts["stderr" if stream == "stderr" else "stdout"] += 1
        first, last = first or time, time or last
        plain = _plain(message)
        opening = opening or plain
        starts += bool(start.search(message)) if start else plain == opening
        level = _LEVEL.search(message[:_LONGEST])
        counts["errors"] += bool(level and level[1])
        counts["warnings"] += bool(level and level[2])
        if level and level[1] and (plain in groups or len(groups) < _MOST):
            row = groups.setdefault(plain, {"message": plain, "count": 0, "first": time})
            row["count"] += 1
            row["last"] = time
    rows = sorted(groups.values(), key=lambda row: (-row["count"], row["message"]))
    return {"rows": rows[:top], "lines": lines, **counts, "restarts": max(0, starts - 1)} | {
        "lines_per_minute": _rate(lines, first, last),
        "first": first,
        "last": last,
    }


def _entries(path: str) -> Iterator[tuple[str, str, str | None] | None]:
    """Message, stream and time of each line; None for one that is not in the format."""
    pieces: dict[str, str] = {}
    time: str | None = None
    with _open(path) as lines:
        for raw in lines:
            if not raw.strip("\0 \r\n"):
                continue
            try:
                entry = json.loads(raw)
                text, stream = entry["log"], str(entry.get("stream", "stdout"))
                time = str(entry["time"]) if "time" in entry else None
                message = pieces.pop(stream, "") + text
            except (ValueError, KeyError, TypeError, AttributeError):
                yield None
                continue
            if text.endswith("\n") or len(message) > 1 << 20:
                yield message, stream, time
            else:
                pieces[stream] = message  # Docker cuts lines at 16 KiB
    for stream, message in pieces.items():
        yield message, stream, time


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return Path(path).open(encoding="utf-8", errors="replace")


def _plain(message: str) -> str:
    return _VARYING.sub("<n>", _STAMP.sub("", message[:_LONGEST].strip()))[:300]


def _rate(lines: int, first: str | None, last: str | None) -> float | None:
    try:
        begin, end = (datetime.fromisoformat(time[:19] + "Z") for time in (first or "", last or ""))
    except ValueError:
        return None
    minutes = (end - begin).total_seconds() / 60
    return round(lines / minutes, 2) if minutes > 0 else None
