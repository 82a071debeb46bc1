r"""Write the rows of any result as CSV, TSV, JSON, JSON lines or YAML text.

For the rows that another tool gives; a file is converted by `convert_document`. CSV and TSV have a
line of names first; a key that a row lacks is an empty cell, and a list or a mapping in a cell is
written as compact JSON. Rows beyond the limit are counted, not hidden silently.

Args:
    rows (list[dict[str, Any]]): The rows to write, as other tools return them.
    to (str): The format: csv, tsv, json, jsonl or yaml.
    columns (list[str] | None): Which keys to write, in this order; all keys when not given.
    limit (int): How many rows to write at most, at least 1.

Returns:
    text (str): The rows in that format, ending with a line break.
    to (str): The format that was written.
    shown (int): How many rows the text holds.
    omitted (int): How many rows the limit left out.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: CSV, with a cell that needs quotes
      inputs:
        to: csv
        rows: [{mount: /, used_percent: 20.5, above: false}, {mount: "/a,b", tags: [x]}]
      output:
        text: |
          mount,used_percent,above,tags
          /,20.5,false,
          "/a,b",,,"[""x""]"
        to: csv
        shown: 2
        omitted: 0
    - title: one column as JSON lines, at most one row
      inputs: {to: jsonl, columns: [mount], limit: 1, rows: [{mount: /, a: 1}, {mount: /b}]}
      output:
        text: |
          {"mount": "/"}
        to: jsonl
        shown: 1
        omitted: 1
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from typing import Any

import yaml


def run(
    rows: list[dict[str, Any]], to: str, columns: list[str] | None = None, limit: int = 10_000
) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} writes nothing: give at least 1")
    to = to.lower().replace("yml", "yaml")
    if to not in _WRITERS:
        raise ValueError(f"to {to!r} is no known format: use {', '.join(_WRITERS)}")
    given: list[Any] = list(rows)
    for position, row in enumerate(given):
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise ValueError(f"row {position} is a {kind}, not a mapping: give a list of mappings")
    known = list(dict.fromkeys(str(key) for row in rows for key in row))
    unknown = [name for name in columns or () if rows and name not in known]
    if unknown:
        choices = ", ".join(known)
        raise ValueError(f"no row has the column {unknown[0]!r}: choose among {choices}")
    names = columns or known
    shown = [{name: row[name] for name in names if name in row} for row in rows[:limit]]
    text = _WRITERS[to](shown, names)
    return {"text": text, "to": to, "shown": len(shown), "omitted": len(rows) - len(shown)}


def _delimited(mark: str) -> Callable[[list[dict[str, Any]], list[str]], str]:
    def write(rows: list[dict[str, Any]], names: list[str]) -> str:
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=mark, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
        return stream.getvalue()

    return write


def _cell(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list() | dict():
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        case _:
            return value


def _json(value: Any, indent: int | None) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, indent=indent, default=str) + "\n"


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON cannot hold."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list():
            return [_finite(item) for item in value]
        case _:
            return value


_WRITERS: dict[str, Callable[[list[dict[str, Any]], list[str]], str]] = {
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "json": lambda rows, _: _json(rows, 2),
    "jsonl": lambda rows, _: "".join(_json(row, None) for row in rows),
    "yaml": lambda rows, _: yaml.safe_dump(rows, sort_keys=False, allow_unicode=True),
}
