r"""Keep only the rows of a result where a field meets a condition.

Compares one field of every row with a value: equal, different, greater, smaller, contains,
starts with, matches a regular expression, is one of a list, is empty. Numbers written as text
are compared as numbers. A dotted field such as `labels.job` looks into nested mappings.
A row that lacks the field never matches, except for `empty`, and is counted.

Args:
    rows (list[dict[str, Any]]): The rows to filter, as other tools return them.
    field (str): The field to look at.
    op (str): One of `==`, `!=`, `>`, `>=`, `<`, `<=`, `contains`, `not_contains`,
        `starts_with`, `matches`, `in`, `not_in`, `empty`, `not_empty`.
    value (Any): What to compare with; a list for `in`; null for `empty` and `not_empty`.

Returns:
    rows (list[dict[str, Any]]): The rows that match, unchanged and in their old order.
    kept (int): How many rows match.
    dropped (int): How many do not.
    without_field (int): How many rows lack the field.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: only file systems above 80 percent
      inputs:
        rows: [{mount: /, percent: 91.5}, {mount: /home, percent: 40}, {mount: /srv}]
        field: percent
        op: ">"
        value: 80
      output:
        rows: [{mount: /, percent: 91.5}]
        kept: 1
        dropped: 2
        without_field: 1
    - title: text search ignores case
      inputs:
        rows: [{unit: NGINX.service}, {unit: cron.service}]
        field: unit
        op: contains
        value: nginx
      output: {rows: [{unit: NGINX.service}], kept: 1, dropped: 1, without_field: 0}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_MISSING = object()


def run(
    rows: list[dict[str, Any]],
    field: str,
    op: str,
    value: Any,
) -> dict[str, Any]:
    test = _test(op, value)
    found = [_get(row, field) for row in rows]
    missing = sum(item is _MISSING for item in found)
    if rows and missing == len(rows):
        known = ", ".join(dict.fromkeys(str(key) for row in rows for key in row)) or "none"
        raise ValueError(f"no row has the field {field!r}: choose among {known}")
    kept = [
        row
        for row, item in zip(rows, found, strict=True)
        if (op == "empty" if item is _MISSING else test(item))
    ]
    return {
        "rows": kept,
        "kept": len(kept),
        "dropped": len(rows) - len(kept),
        "without_field": missing,
    }


def _get(row: dict[str, Any], field: str) -> Any:
    if field in row:
        return row[field]
    current: Any = row
    for part in field.split("."):
        if not isinstance(current, dict) or part not in current:
            return _MISSING
        current = current[part]
    return current


def _test(op: str, value: Any) -> Callable[[Any], bool]:
    if op in ("in", "not_in"):
        if not isinstance(value, list):
            raise ValueError(f"value {value!r} cannot be used with {op!r}: give a list")
        return lambda item: any(_equal(item, one) for one in value) == (op == "in")
    if op == "matches":
        try:
            pattern = re.compile(str(value))
        except re.error as error:
            raise ValueError(f"value {value!r} is no regular expression: {error}") from error
        return lambda item: pattern.search(_text(item)) is not None
    tests: dict[str, Callable[[Any], bool]] = {
        "==": lambda item: _equal(item, value),
        "!=": lambda item: not _equal(item, value),
        ">": lambda item: _order(item, value) == 1,
        ">=": lambda item: _order(item, value) in (0, 1),
        "<": lambda item: _order(item, value) == -1,
        "<=": lambda item: _order(item, value) in (0, -1),
        "contains": lambda item: _contains(item, value),
        "not_contains": lambda item: not _contains(item, value),
        "starts_with": lambda item: _text(item).casefold().startswith(_text(value).casefold()),
        "empty": lambda item: item in (None, "", [], {}),
        "not_empty": lambda item: item not in (None, "", [], {}),
    }
    if op not in tests:
        known = ", ".join([*tests, "matches", "in", "not_in"])
        raise ValueError(f"op {op!r} is not known: use one of {known}")
    return tests[op]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _equal(item: Any, value: Any) -> bool:
    left, right = _number(item), _number(value)
    if left is not None and right is not None:
        return left == right
    return bool(item == value)


def _order(item: Any, value: Any) -> int | None:
    """-1, 0 or 1; None where the two cannot be ordered."""
    left, right = _number(item), _number(value)
    if left is not None and right is not None:
        return (left > right) - (left < right) if left == left and right == right else None
    if isinstance(item, str) and isinstance(value, str):
        return (item > value) - (item < value)
    return None


def _contains(item: Any, value: Any) -> bool:
    if isinstance(item, (list, dict)):
        return any(_equal(one, value) for one in item)
    return _text(value).casefold() in _text(item).casefold()


def _text(item: Any) -> str:
    return "" if item is None else str(item)
