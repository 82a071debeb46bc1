"""Summarise a CSV file: rows, columns, types, empty cells and the range of the numbers.

Reads the file row by row, so its size does not matter. The separator (comma, semicolon, tab or
bar) is recognised from the first line unless given. A column is an integer, number, boolean, date
or text column if every filled cell reads as that. Rows with too few or too many cells are
counted. Plain and gzip-compressed files are read.

Args:
    path (str): The CSV file; names ending in `.gz` are decompressed.
    delimiter (str): The separator, one character; recognised when empty.
    header (bool): Whether the first row holds the column names.

Returns:
    rows (list[dict[str, Any]]): One a column: `column`, `type`, `filled`, `empty`, `distinct`
        (null above 100000), `min`, `max`, `mean` (numbers only; dates have `min` and `max`),
        `longest` (characters).
    row_count (int): Data rows, without the header.
    column_count (int): How many columns.
    empty_cells (int): Empty cells altogether.
    ragged (int): Rows with a different number of cells than the header.
    delimiter (str): The separator used.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/hosts.csv}
      files:
        /tmp/hosts.csv: |
          host;cpus;since
          web1;4;2024-01-02
          db1;16;2023-05-06
          db2;;2025-01-01
      output:
        rows:
          - {column: host, type: text, filled: 3, empty: 0, distinct: 3, min: null, max: null,
             mean: null, longest: 4}
          - {column: cpus, type: integer, filled: 2, empty: 1, distinct: 2, min: 4, max: 16,
             mean: 10.0, longest: 2}
          - {column: since, type: date, filled: 3, empty: 0, distinct: 3, min: "2023-05-06",
             max: "2025-01-01", mean: null, longest: 10}
        row_count: 3
        column_count: 3
        empty_cells: 1
        ragged: 0
        delimiter: ";"
"""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

_KINDS = ("integer", "number", "boolean", "date")
_INTEGER = re.compile(r"[+-]?\d+")
_DATE = re.compile(
    r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
)
_WORDS = {"true", "false", "yes", "no"}
_MOST_DISTINCT = 100_000


class _Column:
    def __init__(self, name: str) -> None:
        self.name = name
        self.filled = self.longest = self.numbers = 0
        self.kinds = set(_KINDS)
        self.distinct: set[int] | None = set()
        self.total = 0.0
        self.low, self.high = math.inf, -math.inf
        self.first = self.last = ""

    def add(self, cell: str) -> None:
        self.filled += 1
        self.longest = max(self.longest, len(cell))
        if self.distinct is not None:
            self.distinct.add(hash(cell))
            if len(self.distinct) > _MOST_DISTINCT:
                self.distinct = None
        if not self.kinds:
            return
        number = _number(cell)
        self.kinds &= _kinds(cell, number)
        if number is not None:
            self.numbers += 1
            self.total += number
            self.low, self.high = min(self.low, number), max(self.high, number)
        if "date" in self.kinds:
            self.first = min(self.first or cell, cell)
            self.last = max(self.last, cell)

    def row(self, rows: int) -> dict[str, Any]:
        kind = next((kind for kind in _KINDS if kind in self.kinds), "text")
        kind = kind if self.filled else "empty"
        numeric = kind in ("integer", "number")
        dated = kind == "date"
        mean = self.total / self.numbers if numeric else math.nan
        whole = kind == "integer" and max(abs(self.low), abs(self.high)) < 2**53
        low, high = (int(self.low), int(self.high)) if whole else (self.low, self.high)
        return {
            "column": self.name,
            "type": kind,
            "filled": self.filled,
            "empty": rows - self.filled,
            "distinct": None if self.distinct is None else len(self.distinct),
            "min": low if numeric else self.first if dated else None,
            "max": high if numeric else self.last if dated else None,
            "mean": mean if math.isfinite(mean) else None,
            "longest": self.longest,
        }


def run(path: str, delimiter: str = "", header: bool = True) -> dict[str, Any]:
    if len(delimiter) > 1:
        raise ValueError(f"delimiter {delimiter!r} is too long: give one character")
    with _open(path) as stream:
        first = stream.readline()
    mark = delimiter or max(",;\t|", key=first.count)
    columns: list[_Column] = []
    count = ragged = 0
    for number, row in enumerate(_rows(path, mark)):
        if not columns:
            names = row if header else [f"column {n}" for n in range(1, len(row) + 1)]
            columns = [_Column(name.strip() or f"column {n}") for n, name in enumerate(names, 1)]
        if header and number == 0:
            continue
        count += 1
        ragged += len(row) != len(columns)
        for column, cell in zip(columns, row, strict=False):
            if cell.strip():
                column.add(cell.strip())
    rows = [column.row(count) for column in columns]
    return {
        "rows": rows,
        "row_count": count,
        "column_count": len(columns),
        "empty_cells": sum(row["empty"] for row in rows),
        "ragged": ragged,
        "delimiter": mark,
    }


def _open(path: str) -> TextIO:
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return Path(path).open(encoding="utf-8-sig", errors="replace", newline="")


def _rows(path: str, mark: str) -> Iterator[list[str]]:
    with _open(path) as stream:
        reader = csv.reader(stream, delimiter=mark)
        try:
            yield from (row for row in reader if row)
        except csv.Error as error:
            reason = f"{path}, line {reader.line_num}: {error}"
            raise ValueError(f"{reason}: check the quotes and the delimiter {mark!r}") from None


def _kinds(cell: str, number: float | None) -> set[str]:
    found = set()
    if number is not None:
        found |= {"integer", "number"} if _INTEGER.fullmatch(cell) else {"number"}
    if cell.lower() in _WORDS:
        found.add("boolean")
    if _DATE.fullmatch(cell):
        found.add("date")
    return found


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in cell else None
