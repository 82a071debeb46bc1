r"""Show the last lines of a log file: all, those of a level such as error, or those with a word.

The newest line is at the end. Reads plain or gzip-compressed logs line by line. The level of a line
is the one that it names (`level=error`, `"level":"error"`), or else its first word such as ERROR,
WARN, CRITICAL, INFO or `err`. `matched` counts all lines that fit, also those before the ones
shown. Binary files, journal exports and other compressed files are refused. So is a level in a log
that names none, because no line at all would look like no error.

Args:
    path (str): The log file, plain or compressed with gzip.
    limit (int): How many lines to show, 1 to 10000: the last ones that fit.
    level (str): Only lines of this level: `critical`, `error` (critical ones too), `warning`,
        `info` or `debug`; lines of any level when empty.
    contains (str): Only lines with this text, ignoring case; any line when empty.

Returns:
    rows (list[dict[str, Any]]): The lines, newest last: `line` (its number), `level` (empty if it
        names none), `text`.
    shown (int): How many lines there are.
    matched (int): How many lines of the log fit, shown or not.
    lines (int): How many lines the log has.
    cut (int): How many of the shown lines are longer than 4096 characters, and cut there.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: the last two errors
      inputs: {path: /tmp/app.log, limit: 2, level: error}
      files:
        /tmp/app.log: |
          10:00:00 ERROR first
          10:00:01 INFO no error at all
          10:00:02 FATAL second
          10:00:03 error: third
          10:00:04 WARN low space
      output:
        rows:
          - {line: 3, level: critical, text: "10:00:02 FATAL second"}
          - {line: 4, level: error, text: "10:00:03 error: third"}
        shown: 2
        matched: 3
        lines: 5
        cut: 0
    - title: the last line with a word
      inputs: {path: /tmp/app.log, limit: 1, contains: timeout}
      files: {/tmp/app.log: "Timeout of db1\nTIMEOUT of db2\nok\n"}
      output:
        rows: [{line: 2, level: "", text: TIMEOUT of db2}]
        shown: 1
        matched: 2
        lines: 3
        cut: 0
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import zlib
from collections import deque
from pathlib import Path
from typing import Any, BinaryIO, cast

_WORDS = {
    "critical": ("critical", "crit", "fatal", "panic", "emerg", "emergency", "alert"),
    "error": ("error", "err", "severe", "exception"),
    "warning": ("warning", "warn"),
    "info": ("info", "notice"),
    "debug": ("debug", "trace"),
}
_LEVELS = {word: level for level, found in _WORDS.items() for word in found}
_NUMBERS = {"10": "debug", "20": "debug", "30": "info", "40": "warning", "50": "error"} | {
    "60": "critical"
}
"""Levels of loggers that write JSON with numbers."""

_NAMES = "|".join(_LEVELS)
_NAMED = re.compile(rf"\b(?:level|severity|lvl)\W{{1,4}}({_NAMES}|[1-6]0)\b", re.I)
_FIRST = re.compile(rf"\b({_NAMES})(?=\b|_)(?!\s*[=:]\s*(?:null|none|0)\b)", re.I)
_ACCESS = re.compile(r'"[A-Z]{3,8} \S+ HTTP/\d')
_COMPRESSED = {
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_JOURNAL = '"__REALTIME_TIMESTAMP"'
_HEAD = 65_536
_LONGEST = 4096


def run(path: str, limit: int = 20, level: str = "", contains: str = "") -> dict[str, Any]:
    if not 1 <= limit <= 10_000:
        raise ValueError(f"limit {limit} is out of range: give 1 to 10000")
    wanted = _LEVELS.get(level.lower(), "") if level else ""
    if level and not wanted:
        raise ValueError(f"level {level!r} is not known: use {', '.join(_WORDS)}")
    if "\n" in contains:
        raise ValueError("contains has a line break: give a text of one line")
    levels = ("error", "critical") if wanted == "error" else (wanted,)
    text = contains.casefold()
    kept: deque[tuple[int, str, str]] = deque(maxlen=limit)
    matched = number = named = requests = 0
    try:
        with _open(Path(path)) as stream:
            for number, raw in enumerate(stream, 1):
                line = raw.rstrip("\r\n")
                own = _level_of(line[:_LONGEST])
                named += bool(own)
                requests += bool(wanted) and _ACCESS.search(line, 0, _LONGEST) is not None
                if (not wanted or own in levels) and text in line.casefold():
                    matched += 1
                    kept.append((number, own, line))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged after line {number}: {error}") from None
    if wanted and number and 2 * requests > number:
        raise ValueError(f"{path} is an access log, whose lines have no level: ask for a word")
    if wanted and number and not named:
        raise ValueError(f"none of the {number} lines of {path} names a level: ask for a word")
    rows = [{"line": n, "level": own, "text": line[:_LONGEST]} for n, own, line in kept]
    cut = sum(len(line) > _LONGEST for _, _, line in kept)
    return {"rows": rows, "shown": len(rows), "matched": matched, "lines": number, "cut": cut}


def _level_of(line: str) -> str:
    found = _NAMED.search(line) or _FIRST.search(line)
    if found is None:
        return ""
    word = found[1].lower()
    return _LEVELS.get(word) or _NUMBERS[word]


def _open(path: Path) -> io.TextIOWrapper:
    """Open a text log. Refuse what is no file of text lines, because nothing in it would match."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError(f"{path} is no regular file: name the log file itself")
    stream: BinaryIO = path.open("rb")
    try:
        head = stream.read(6)
        stream.seek(0)
        if head.startswith(b"\x1f\x8b"):
            stream.close()
            stream = cast(BinaryIO, gzip.open(path, "rb"))
        for mark, name in _COMPRESSED.items():
            if head.startswith(mark):
                raise ValueError(f"{path} is compressed with {name}: decompress it first")
        start = stream.read(_HEAD)
        stream.seek(0)
        if b"\0" in start:
            raise ValueError(f"{path} is a binary file, not a log of text lines")
        first = start.partition(b"\n")[0].decode("utf-8", "replace")
        if first.startswith("{") and _JOURNAL in first:
            raise ValueError(f"{path} is a journal export: use journal_tail")
        return io.TextIOWrapper(stream, encoding="utf-8", errors="replace")
    except BaseException:
        stream.close()
        raise
