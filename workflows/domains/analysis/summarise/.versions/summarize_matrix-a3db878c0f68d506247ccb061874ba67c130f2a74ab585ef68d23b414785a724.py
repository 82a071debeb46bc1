"""Summarise a numeric matrix: mean, spread, minimum, maximum of each column, and correlations.

Takes the numbers themselves or a CSV, TSV or JSON file. A first line that is not numeric gives
the column names. Empty cells, `NA` and `null` count as missing and are left out of the figures.
Correlations are Pearson's r over the rows where both columns have a value; the standard
deviation is that of a sample (n - 1). What cannot be computed is null.

Args:
    matrix (str | list[list[float]]): Path of a CSV, TSV or JSON file, or the rows of numbers.
    columns (list[str] | None): Names of the columns, in place of those in the file.

Returns:
    summary (dict[str, Any]): `shape` [rows, columns], `columns`, `statistics` (as `rows`) and
        `correlations` (a square matrix in column order).
    rows (list[dict[str, Any]]): One a column: `column`, `count`, `missing`, `mean`, `stdev`,
        `min`, `median`, `max`.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {matrix: /tmp/load.csv}
      files:
        /tmp/load.csv: |
          cpu,mem
          1,10
          2,20
          3,
      output:
        summary:
          shape: [3, 2]
          columns: [cpu, mem]
          statistics: [{column: cpu, ...: ...}, {column: mem, ...: ...}]
          correlations: [[1.0, 1.0], [1.0, 1.0]]
        rows:
          - {column: cpu, count: 3, missing: 0, mean: 2.0, stdev: 1.0, min: 1.0, median: 2.0,
             max: 3.0}
          - {column: mem, count: 2, missing: 1, mean: 15.0, stdev: 7.0710678118654755,
             min: 10.0, median: 15.0, max: 20.0}
"""

from __future__ import annotations

import csv
import json
import math
import statistics
from pathlib import Path
from typing import Any

_MISSING = {"", "na", "n/a", "nan", "null", "none", "-"}
_MAX_BYTES = 64 * 1024 * 1024
Column = list[float | None]


def run(matrix: str | list[list[float]], columns: list[str] | None = None) -> dict[str, Any]:
    table, names = _load(matrix) if isinstance(matrix, str) else (list(matrix), None)
    if not table:
        raise ValueError("the matrix has no rows: give at least one row of numbers")
    width = len(table[0])
    for position, row in enumerate(table):
        if len(row) != width:
            raise ValueError(
                f"row {position} has {len(row)} values, the first has {width}: "
                f"every row needs the same number"
            )
    names = columns or names or [f"c{position}" for position in range(width)]
    if len(names) != width:
        raise ValueError(f"{len(names)} column names for {width} columns: name each column once")
    series = [[_number(row[position]) for row in table] for position in range(width)]
    rows = [_statistics(name, column) for name, column in zip(names, series, strict=True)]
    summary = {
        "shape": [len(table), width],
        "columns": names,
        "statistics": rows,
        "correlations": [[_correlation(a, b) for b in series] for a in series],
    }
    return {"summary": summary, "rows": rows}


def _load(path: str) -> tuple[list[Any], list[str] | None]:
    file = Path(path)
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: summarise a part of it")
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    if file.suffix == ".json":
        rows = json.loads(text)
        if not isinstance(rows, list) or not all(isinstance(row, (list, dict)) for row in rows):
            raise ValueError(f"{path} is not a list of rows: give [[1, 2], [3, 4]]")
        if rows and all(isinstance(row, dict) for row in rows):
            names = list(dict.fromkeys(key for row in rows for key in row))
            return [[row.get(name) for name in names] for row in rows], names
        return rows, None
    first = text.split("\n", 1)[0]
    delimiter = next((mark for mark in ("\t", ";", ",") if mark in first), ",")
    table = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    if table and any(not _readable(cell) for cell in table[0]):
        return table[1:], [cell.strip() for cell in table[0]]
    return table, None


def _readable(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _number(cell: Any) -> float | None:
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING):
        return None
    try:
        value = float(cell)
    except (TypeError, ValueError):
        raise ValueError(f"{cell!r} is not a number: clean the column or leave it out") from None
    return value if math.isfinite(value) else None


def _statistics(name: str, column: Column) -> dict[str, Any]:
    values = [value for value in column if value is not None]
    return {
        "column": name,
        "count": len(values),
        "missing": len(column) - len(values),
        "mean": statistics.fmean(values) if values else None,
        "stdev": statistics.stdev(values) if len(values) > 1 else None,
        "min": min(values, default=None),
        "median": statistics.median(values) if values else None,
        "max": max(values, default=None),
    }


def _correlation(a: Column, b: Column) -> float | None:
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if len(pairs) < 2:
        return None
    try:
        r = statistics.correlation([x for x, _ in pairs], [y for _, y in pairs])
    except statistics.StatisticsError:  # a constant column has no correlation
        return None
    return max(-1.0, min(1.0, round(r, 12)))
