"""Find repeated lines or rows in a file, with how often each occurs.

Counts equal lines of a text file, or equal rows of a CSV file over chosen columns. Only a
fingerprint of each entry is kept, so large files are fine. Empty lines never count. Nothing is
removed; the line numbers say where the copies are.

Args:
    path (str): The file; names ending in `.gz` are decompressed.
    columns (list[str] | None): Names of CSV columns that make two rows equal. When not given,
        whole lines are compared.
    ignore_case (bool): Treat upper and lower case as equal.
    ignore_space (bool): Ignore blanks at both ends and treat runs of blanks as one.
    limit (int): How many repeated entries to list, at least 1.

Returns:
    rows (list[dict[str, Any]]): The repeated entries, most frequent first: `entry`, `count`,
        `lines` (numbers of the first ten lines).
    entries (int): How many entries were read.
    distinct (int): How many of them are different.
    repeated (int): How many entries occur more than once.
    superfluous (int): How many copies could go.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: the same e-mail address twice in a CSV file
      inputs: {path: /tmp/users.csv, columns: [mail], ignore_case: true}
      files:
        /tmp/users.csv: |
          id,mail
          1,ada@example.org
          2,bob@example.org
          3,Ada@example.org
      output:
        rows: [{entry: ada@example.org, count: 2, lines: [2, 4]}]
        entries: 3
        distinct: 2
        repeated: 1
        superfluous: 1
"""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

_LONGEST = 500
_LINES = 10


def run(
    path: str,
    columns: list[str] | None = None,
    ignore_case: bool = False,
    ignore_space: bool = True,
    limit: int = 100,
) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    first: dict[bytes, int] = {}
    repeated: dict[bytes, dict[str, Any]] = {}
    entries = 0
    with _open(path) as stream:
        for number, text in _csv(stream, path, columns) if columns else _lines(stream):
            entry = " ".join(text.split()) if ignore_space else text
            entry = entry.casefold() if ignore_case else entry
            entries += 1
            mark = hashlib.blake2b(entry.encode("utf-8", "replace"), digest_size=16).digest()
            if mark not in first:
                first[mark] = number
                continue
            row = repeated.setdefault(
                mark, {"entry": entry[:_LONGEST], "count": 1, "lines": [first[mark]]}
            )
            row["count"] += 1
            if len(row["lines"]) < _LINES:
                row["lines"].append(number)
    rows = sorted(repeated.values(), key=lambda row: (-row["count"], row["lines"][0]))
    return {
        "rows": rows[:limit],
        "entries": entries,
        "distinct": len(first),
        "repeated": len(rows),
        "superfluous": entries - len(first),
    }


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return Path(path).open(encoding="utf-8-sig", errors="replace", newline="")


def _lines(stream: TextIO) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            yield number, line.rstrip("\r\n")


def _csv(stream: TextIO, path: str, columns: list[str]) -> Iterator[tuple[int, str]]:
    mark = max(",;\t|", key=stream.readline().count)
    stream.seek(0)
    reader = csv.reader(stream, delimiter=mark)
    names = [name.strip() for name in next(reader, [])]
    missing = [column for column in columns if column not in names]
    if missing:
        known = ", ".join(names) or "none"
        raise ValueError(f"{path} has no column {missing[0]!r}: choose among {known}")
    places = [names.index(column) for column in columns]
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = [row[place] if place < len(row) else "" for place in places]
                yield reader.line_num, " | ".join(cells)
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}: check the quotes") from None
