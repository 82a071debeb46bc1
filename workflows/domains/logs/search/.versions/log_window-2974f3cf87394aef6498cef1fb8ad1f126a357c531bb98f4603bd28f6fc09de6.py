r"""Show the lines of a log file between two points in time, optionally matching a pattern.

Recognises ISO 8601 stamps, syslog stamps (`Mar  1 10:00:00`), access-log stamps
(`[01/Mar/2025:10:00:00 +0000]`) and seconds since 1970 at the start of a line. Lines without a
stamp, such as stack traces, belong to the stamped line above them. Stamps without a time zone
are taken as UTC. Plain and gzip-compressed files are read line by line.

Args:
    path (str): The log file; names ending in `.gz` are decompressed.
    start (str): Earliest time, ISO 8601, included; from the beginning when empty.
    end (str): Latest time, ISO 8601, included; to the end of the file when empty.
    pattern (str): A regular expression the line must contain, ignoring case; any when empty.
    limit (int): How many lines to return at most, at least 1. The rest is only counted.
    year (int): Year of syslog stamps, which have none; 0 takes that of the file's last change.

Returns:
    rows (list[dict[str, Any]]): The lines: `line` (its number), `time` (ISO 8601), `text`.
    matched (int): How many lines fit, including those beyond the limit.
    lines (int): How many lines were read.
    unstamped (int): Lines before the first stamp, which cannot be placed in time.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs:
        path: /tmp/app.log
        start: "2025-03-01T10:00:00Z"
        end: "2025-03-01T10:30:00Z"
        pattern: "timeout|Trace"
      files:
        /tmp/app.log: |
          2025-03-01 09:59:59 timeout
          2025-03-01 10:00:00 timeout
          Traceback (most recent call last):
          2025-03-01 10:15:00 ok
          2025-03-01T12:31:00+02:00 timeout
      output:
        rows:
          - {line: 2, time: "2025-03-01T10:00:00+00:00", text: "2025-03-01 10:00:00 timeout"}
          - {line: 3, time: "2025-03-01T10:00:00+00:00", text: "Traceback (most recent call last):"}
        matched: 2
        lines: 5
        unstamped: 0
"""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

_ISO = re.compile(
    r"[\[(]?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,6})\d*)?\s?(Z|[+-]\d\d:?\d\d)?"
)
_SYSLOG = re.compile(r"(?:<\d+>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d)\b")
_ACCESS = re.compile(r"[^\[]{0,200}\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\]")
_EPOCH = re.compile(r"[\[(]?(1\d{9})(?:\.\d+)?\b")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def run(
    path: str, start: str = "", end: str = "", pattern: str = "", limit: int = 500, year: int = 0
) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} shows nothing: give at least 1")
    earliest, latest = _bound("start", start), _bound("end", end)
    if earliest and latest and earliest > latest:
        raise ValueError(f"start {start!r} lies after end {end!r}: exchange them")
    try:
        wanted = re.compile(pattern, re.I)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
    year = year or datetime.fromtimestamp(Path(path).stat().st_mtime, UTC).year
    rows: list[dict[str, Any]] = []
    current: datetime | None = None
    matched = unstamped = number = 0
    with _open(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = raw.rstrip("\r\n")
            current = _stamp(line, year) or current
            if current is None:
                unstamped += 1
                continue
            if (earliest and current < earliest) or (latest and current > latest):
                continue
            if not wanted.search(line):
                continue
            matched += 1
            if len(rows) < limit:
                rows.append({"line": number, "time": current.isoformat(), "text": line})
    return {"rows": rows, "matched": matched, "lines": number, "unstamped": unstamped}


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return Path(path).open(encoding="utf-8", errors="replace")


def _bound(name: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{name} {text!r} is no time: write 2025-03-01T10:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _stamp(line: str, year: int) -> datetime | None:
    try:
        if found := _ISO.match(line):
            date, clock, fraction, zone = found.groups()
            return datetime.fromisoformat(f"{date}T{clock}.{(fraction or '0'):0<6}{zone or 'Z'}")
        if found := _SYSLOG.match(line):
            month = _MONTHS.index(found[1]) + 1
            return datetime.fromisoformat(f"{year}-{month:02}-{int(found[2]):02}T{found[3]}Z")
        if found := _ACCESS.match(line):
            month = _MONTHS.index(found[2]) + 1
            return datetime.fromisoformat(f"{found[3]}-{month:02}-{found[1]}T{found[4]}{found[5]}")
        if found := _EPOCH.match(line):
            return datetime.fromtimestamp(int(found[1]), UTC)
    except ValueError:  # a month or day that does not exist: no stamp
        return None
    return None
