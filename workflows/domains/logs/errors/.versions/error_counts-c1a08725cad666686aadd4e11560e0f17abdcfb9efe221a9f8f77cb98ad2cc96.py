r"""Count the errors and warnings in a log file and show which messages repeat most.

Reads plain or gzip-compressed logs of any format line by line. The level is the first word such
as ERROR, WARN, CRITICAL, INFO, `err` or `level=error` in the line. Messages are grouped after
numbers, addresses, ids and quoted values are replaced by placeholders, so that the same complaint
about different requests counts as one; an example line is kept for each group.

Args:
    path (str): The log file; names ending in `.gz` are decompressed.
    top (int): How many repeated messages to list, at least 1.
    levels (list[str] | None): Levels whose messages are grouped: `critical`, `error`, `warning`.
        All three when not given.

Returns:
    rows (list[dict[str, Any]]): Messages by frequency: `level`, `count`, `message` (with
        placeholders), `example`, `first_line`, `last_line`.
    counts (dict[str, int]): Lines of each level: critical, error, warning.
    lines (int): How many lines the log has.
    distinct (int): How many different messages were found.

Side effects:
    none

Kind: read

Effects:
    paths: the given log
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/app.log, top: 1}
      files:
        /tmp/app.log: |
          2025-03-01 10:00:00 INFO started
          2025-03-01 10:00:01 ERROR timeout after 30 ms from 10.0.0.7
          2025-03-01 10:00:02 WARN disk at 91%
          2025-03-01 10:00:03 ERROR timeout after 45 ms from 10.0.0.9
      output:
        rows:
          - level: error
            count: 2
            message: timeout after <n> ms from <ip>
            example: 2025-03-01 10:00:01 ERROR timeout after 30 ms from 10.0.0.7
            first_line: 2
            last_line: 4
        counts: {critical: 0, error: 2, warning: 1}
        lines: 4
        distinct: 2
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any, TextIO

_LEVELS = {
    "critical": "critical",
    "crit": "critical",
    "fatal": "critical",
    "panic": "critical",
    "emerg": "critical",
    "alert": "critical",
    "error": "error",
    "err": "error",
    "severe": "error",
    "exception": "error",
    "warning": "warning",
    "warn": "warning",
    "notice": "",
    "info": "",
    "debug": "",
    "trace": "",
}
_LEVEL = re.compile(r"\b(" + "|".join(_LEVELS) + r")(?=\b|_)(?!\s*[=:]\s*(?:null|none|0)\b)", re.I)
_STAMP = re.compile(
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d)\]?\s*"
)
_MASKS = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?"), "<ip>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<hex>"),
    (re.compile(r"\b(?=\w*\d)(?=\w*[a-fA-F])[0-9a-fA-F]{8,}\b"), "<hex>"),
    (re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'"), "<text>"),
    (re.compile(r"\d+(?:\.\d+)?"), "<n>"),
)
_LONGEST = 4096
_MOST = 100_000


def run(path: str, top: int = 10, levels: list[str] | None = None) -> dict[str, Any]:
    if top < 1:
        raise ValueError(f"top {top} lists nothing: give at least 1")
    names = ("critical", "error", "warning")
    wanted = [level.lower() for level in levels] if levels else list(names)
    unknown = [level for level in wanted if level not in names]
    if unknown:
        raise ValueError(f"level {unknown[0]!r} is not known: use critical, error or warning")
    counts = dict.fromkeys(names, 0)
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    number = 0
    with _open(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = raw[:_LONGEST].rstrip()
            found = _LEVEL.search(line)
            if found is None:
                continue
            level = _LEVELS[found[1].lower()]
            if not level:  # an info line may well speak of errors
                continue
            counts[level] += 1
            if level not in wanted:
                continue
            message = _message(line, found)
            if len(groups) >= _MOST and (level, message) not in groups:
                message = "<more different messages than can be told apart>"
            group = groups.setdefault(
                (level, message),
                {"level": level, "count": 0, "message": message, "example": line}
                | {"first_line": number},
            )
            group["count"] += 1
            group["last_line"] = number
    ordered = sorted(groups.values(), key=lambda group: (-group["count"], group["first_line"]))
    return {"rows": ordered[:top], "counts": counts, "lines": number, "distinct": len(groups)}


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return Path(path).open(encoding="utf-8", errors="replace")


def _message(line: str, level: re.Match[str]) -> str:
    """The line without time stamp and level, its varying parts replaced."""
    rest = line[level.end() :].lstrip(" ]:|-\t)")
    before = _STAMP.sub("", line[: level.start()]).rstrip(" [:|-(\t")
    text = f"{before} {rest}".strip() if before else rest
    for pattern, placeholder in _MASKS:
        text = pattern.sub(placeholder, text)
    return text or "(no message)"
