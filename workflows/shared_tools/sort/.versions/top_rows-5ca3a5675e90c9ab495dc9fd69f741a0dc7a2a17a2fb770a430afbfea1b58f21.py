"""Sort the rows of a result by a field and keep the first N.

Gives the biggest (or, ascending, the smallest) rows: the top ten by size, the five oldest, the
slowest requests. If every value is a number, or text that reads as a number, the order is
numeric; otherwise it is alphabetical without regard to case. Rows with equal values keep their
old order, and rows that lack the field come last.

Args:
    rows (list[dict[str, Any]]): The rows to sort, as other tools return them.
    by (str): The field to sort by; a dotted name looks into nested mappings.
    n (int): How many rows to keep, at least 1.
    descending (bool): True for the largest first, False for the smallest first.

Returns:
    rows (list[dict[str, Any]]): The first N rows, unchanged, in order.
    total (int): How many rows there were.
    order (str): `numeric` or `text`: how the values were compared.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: the two largest of three
      inputs:
        rows: [{path: /a, bytes: 5}, {path: /b, bytes: 70}, {path: /c, bytes: 12}]
        by: bytes
        n: 2
      output:
        rows: [{path: /b, bytes: 70}, {path: /c, bytes: 12}]
        total: 3
        order: numeric
"""

from __future__ import annotations

from typing import Any


def run(
    rows: list[dict[str, Any]],
    by: str,
    n: int = 10,
    descending: bool = True,
) -> dict[str, Any]:
    if n < 1:
        raise ValueError(f"n {n} keeps nothing: give at least 1")
    values = [_get(row, by) for row in rows]
    if rows and all(value is None for value in values):
        known = ", ".join(dict.fromkeys(str(key) for row in rows for key in row)) or "none"
        raise ValueError(f"no row has a value in {by!r}: choose among {known}")
    numbers = [_number(value) for value in values]
    numeric = all(
        number is not None
        for value, number in zip(values, numbers, strict=True)
        if value is not None
    )
    keys: list[Any] = numbers if numeric else [str(value).casefold() for value in values]
    present = [position for position, value in enumerate(values) if value is not None]
    absent = [position for position, value in enumerate(values) if value is None]
    present.sort(key=lambda position: keys[position], reverse=descending)
    return {
        "rows": [rows[position] for position in (present + absent)[:n]],
        "total": len(rows),
        "order": "numeric" if numeric else "text",
    }


def _get(row: dict[str, Any], field: str) -> Any:
    if field in row:
        return row[field]
    current: Any = row
    for part in field.split("."):
        if not isinstance(current, dict) or part not in current:
            return None
        current = current[part]
    return current


def _number(value: Any) -> float | None:
    """The value as a number that can be ordered; None for anything else, NaN included."""
    if not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if number == number else None
