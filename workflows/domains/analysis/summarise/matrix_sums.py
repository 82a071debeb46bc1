"""Add up a table of numbers: the sum of each row, of each column, and the grand total.

Takes the numbers themselves or a CSV, TSV or JSON file. A first line that is not numeric gives the
column names. A first column that is not numeric gives the row names. Empty cells, `NA` and `null`
count as missing: they are left out of the sums and counted.

Args:
    table (str | list[list[Any]]): Path of a CSV, TSV or JSON file, or the rows of numbers.

Returns:
    rows (list[dict[str, Any]]): One a row of the table: `row` (name, or number from 1), `sum`,
        `missing`.
    columns (list[dict[str, Any]]): One a column: `column` (name, or number from 1), `sum`,
        `missing`.
    total (float): The sum of all cells.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a table with names in the first line and column
      inputs: {table: /tmp/traffic.csv}
      files:
        /tmp/traffic.csv: |
          host,in,out
          web1,1.5,2
          web2,10,
      output:
        rows:
          - {row: web1, sum: 3.5, missing: 0}
          - {row: web2, sum: 10.0, missing: 1}
        columns:
          - {column: in, sum: 11.5, missing: 0}
          - {column: out, sum: 2.0, missing: 1}
        total: 13.5
    - title: bare numbers
      inputs: {table: [[1, 2], [3, 4]]}
      output:
        rows: [{row: "1", sum: 3.0, missing: 0}, {row: "2", sum: 7.0, missing: 0}]
        columns: [{column: "1", sum: 4.0, missing: 0}, {column: "2", sum: 6.0, missing: 0}]
        total: 10.0
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

_MISSING = {"", "na", "n/a", "nan", "null", "none", "-"}
_MAX_BYTES = 64 * 1024 * 1024


def run(table: str | list[list[Any]]) -> dict[str, Any]:
    cells, names = _load(table) if isinstance(table, str) else ([list(r) for r in table], None)
    if not cells or not cells[0]:
        raise ValueError("the table has no cells: give at least one row of numbers")
    for position, row in enumerate(cells, 1):
        if len(row) != len(cells[0]):
            raise ValueError(
                f"row {position} has {len(row)} values, the first has {len(cells[0])}: "
                "every row needs the same number"
            )
    labels = [str(position) for position in range(1, len(cells) + 1)]
    if any(not _is_number(row[0]) for row in cells):
        labels = [str(row[0]).strip() for row in cells]
        cells = [row[1:] for row in cells]
        names = names[1:] if names else None
    if not cells[0]:
        raise ValueError("the table has one column of names and no numbers: add the numbers")
    names = names or [str(position) for position in range(1, len(cells[0]) + 1)]
    numbers = [[_number(cell) for cell in row] for row in cells]
    rows = [{"row": label, **_add_up(row)} for label, row in zip(labels, numbers, strict=True)]
    columns = [
        {"column": name, **_add_up([row[position] for row in numbers])}
        for position, name in enumerate(names)
    ]
    total = _add_up([cell for row in numbers for cell in row])["sum"]
    return {"rows": rows, "columns": columns, "total": total}


def _load(path: str) -> tuple[list[list[Any]], list[str] | None]:
    """Return the rows of the file, and the column names if its first line has them."""
    file = Path(path)
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: add up a part of it")
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
    # A single name in the first line may be the name of its row, so one text cell is no header.
    texts = sum(not _is_number(cell) for cell in table[0]) if table else 0
    if texts > 1 or (texts and (len(table[0]) == 1 or _is_number(table[0][0]))):
        return table[1:], [cell.strip() for cell in table[0]]
    return table, None


def _is_number(cell: Any) -> bool:
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
        raise ValueError(f"{cell!r} is not a number: clean the cell or leave it empty") from None
    if not math.isfinite(value):
        raise ValueError(f"{cell!r} has no finite sum: leave the cell empty")
    return value


def _add_up(cells: list[float | None]) -> dict[str, Any]:
    values = [cell for cell in cells if cell is not None]
    return {"sum": math.fsum(values), "missing": len(cells) - len(values)}
