"""The line of a TOML file that sets a key, for messages. Effect: reads that file.

`tomllib` tells no positions. A line is a candidate if it looks like the key or its table, and
counts only if the file up to there is TOML by itself: a decoy in a string of many lines does not
count.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pulsus.config.project_file import read_bytes
from pulsus.late_pattern import late_pattern

_PART = r"""(?:"[^"\\]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_TABLE = late_pattern(rf"[ \t]*\[[ \t]*({_DOTTED})[ \t]*\]")
_KEY = late_pattern(rf"[ \t]*({_DOTTED})[ \t]*=")
_MOST_CANDIDATES = 20


def line_of(path: Path, file: str, key: str) -> int:
    """Return the number of the line from 1; 0 if it is not found."""
    wanted = (*(("tool", "pulsus") if file == "pyproject.toml" else ()), *key.split("."))
    try:
        lines = read_bytes(path).decode("utf-8").splitlines()
    except (OSError, ValueError):
        return 0
    found, candidates = 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines, start=1):
        header, setting = _TABLE.match(line), _KEY.match(line)
        named = (
            _split_dotted(header[1])
            if header
            else (*table, *_split_dotted(setting[1]))
            if setting
            else ()
        )
        table = named if header else table
        # A longer name sets an entry of the table that is wanted, a shorter one brings it inline.
        if not named or named[: len(wanted)] != wanted[: len(named)]:
            continue
        if header and len(named) < len(wanted):
            continue
        candidates += 1
        if candidates > _MOST_CANDIDATES:
            return found
        if _is_toml(lines[: number - 1]):
            found = found or number
    return found


def _split_dotted(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


def _is_toml(lines: list[str]) -> bool:
    try:
        tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return False
    return True
