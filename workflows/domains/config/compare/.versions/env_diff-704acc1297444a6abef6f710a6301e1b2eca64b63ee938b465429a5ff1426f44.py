"""Tell which variables are missing or extra between two .env files, without showing values.

Compares the names set in both files (`NAME=value`, `export NAME=value`, quotes, comments) and
says for names in both whether their values are equal. The values themselves never appear in the
result, so it can go into a ticket. Names that occur twice, are empty, or lines that are no
assignment are reported with their line.

Args:
    first (str): The reference, for example `.env.example`.
    second (str): The file to compare with it, for example `.env`.

Returns:
    rows (list[dict[str, Any]]): One a difference: `name`, `status` (missing: only in the first,
        extra: only in the second, different, emptied: set in the first, empty in the second),
        `first_line`, `second_line` (null where absent).
    missing (list[str]): Names only in the first file.
    extra (list[str]): Names only in the second file.
    equal (bool): Whether both set the same names to the same values.
    variables (dict[str, int]): How many variables each file sets: first, second.
    problems (list[dict[str, Any]]): Doubtful lines: `file`, `line`, `problem`.

Side effects:
    none

Kind: read

Effects:
    paths: both files
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {first: /tmp/.env.example, second: /tmp/.env}
      files:
        /tmp/.env.example: |
          DB_HOST=localhost
          DB_PASSWORD=change-me  # a comment
          DEBUG=0
        /tmp/.env: |
          export DB_HOST="localhost"
          DB_PASSWORD=hunter2
          EXTRA=1
          oops
      output:
        rows:
          - {name: DB_PASSWORD, status: different, first_line: 2, second_line: 2}
          - {name: DEBUG, status: missing, first_line: 3, second_line: null}
          - {name: EXTRA, status: extra, first_line: null, second_line: 3}
        missing: [DEBUG]
        extra: [EXTRA]
        equal: false
        variables: {first: 3, second: 3}
        problems: [{file: /tmp/.env, line: 4, problem: no NAME=value assignment}]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_START = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=[ \t]*")
_QUOTED = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$', re.S),
    "'": re.compile(r"'([^']*)'\s*(?:#.*)?$", re.S),
}
_MAX_BYTES = 4 * 1024 * 1024
_MAX_LINES = 200  # of one quoted value, such as a certificate
Variables = dict[str, tuple[int, str]]


def run(first: str, second: str) -> dict[str, Any]:
    problems: list[dict[str, Any]] = []
    old, new = _read(first, problems), _read(second, problems)
    rows = []
    for name in sorted(old.keys() | new.keys()):
        status = _status(old.get(name), new.get(name))
        if status:
            rows.append(
                {
                    "name": name,
                    "status": status,
                    "first_line": old[name][0] if name in old else None,
                    "second_line": new[name][0] if name in new else None,
                }
            )
    return {
        "rows": rows,
        "missing": sorted(old.keys() - new.keys()),
        "extra": sorted(new.keys() - old.keys()),
        "equal": not rows,
        "variables": {"first": len(old), "second": len(new)},
        "problems": problems,
    }


def _status(old: tuple[int, str] | None, new: tuple[int, str] | None) -> str:
    if old is None:
        return "extra"
    if new is None:
        return "missing"
    if old[1] == new[1]:
        return ""
    return "different" if new[1] else "emptied"


def _read(path: str, problems: list[dict[str, Any]]) -> Variables:
    if Path(path).stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: is it a .env file?")
    text = Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape")
    found: Variables = {}
    for number, name, value, problem in _assignments(text.splitlines()):
        if not problem and name in found:
            problem = f"{name} occurs again, first in line {found[name][0]}"
        if problem:
            problems.append({"file": path, "line": number, "problem": problem})
        if name:
            found[name] = (number, value)
    return found


def _assignments(lines: list[str]) -> Iterator[tuple[int, str, str, str]]:
    """Line number, name, value and problem of every assignment."""
    position = 0
    while position < len(lines):
        number, line = position + 1, lines[position]
        position += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        start = _START.match(line)
        if start is None:
            yield number, "", "", "no NAME=value assignment"
            continue
        rest = line[start.end() :]
        quote = _QUOTED.get(rest[:1])
        if quote is None:
            yield number, start[1], re.split(r"(?:^|\s)#", rest, maxsplit=1)[0].strip(), ""
            continue
        end = position
        while (match := quote.match(rest)) is None and end < min(len(lines), number + _MAX_LINES):
            rest += "\n" + lines[end]
            end += 1
        if match is None:
            yield number, start[1], rest.split("\n")[0], f"the quote of {start[1]} is never closed"
        else:
            position = end
            yield number, start[1], match[1], ""
