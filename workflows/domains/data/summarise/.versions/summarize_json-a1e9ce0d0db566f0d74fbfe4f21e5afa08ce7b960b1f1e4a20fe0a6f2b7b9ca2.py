"""Summarise the shape of a JSON or YAML document: keys, types, depth and sizes.

Shows every place in the document once, with list positions merged (`$.items[].name`): which types
occur there, how often, how long lists and texts are, and the range of numbers. Values are not
shown, so the result can be shared. JSON, JSON lines and YAML with several documents are read.

Args:
    path (str): The document. `.jsonl` and `.ndjson` are JSON lines, `.yaml` and `.yml` are YAML,
        anything else is tried as JSON, then JSON lines, then YAML.
    limit (int): How many places to list, at least 1.

Returns:
    rows (list[dict[str, Any]]): One a place: `path`, `types` (type to count), `count`, `min`,
        `max` (of numbers, else of lengths of lists, mappings or texts).
    format (str): `json`, `jsonl` or `yaml`.
    type (str): Type of the whole document.
    depth (int): Deepest nesting; 0 for a single value.
    values (int): How many values the document holds, itself included.
    bytes (int): Size of the file.
    places (int): How many places there are, also beyond the limit.

Side effects:
    none

Kind: read

Effects:
    paths: the given document
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/doc.json}
      files:
        /tmp/doc.json: '{"items": [{"name": "ab", "n": 3}, {"name": "c"}], "ok": true}'
      output:
        rows:
          - {path: $, types: {mapping: 1}, count: 1, min: 2, max: 2}
          - {path: $.items, types: {list: 1}, count: 1, min: 2, max: 2}
          - {path: "$.items[]", types: {mapping: 2}, count: 2, min: 1, max: 2}
          - {path: "$.items[].n", types: {integer: 1}, count: 1, min: 3, max: 3}
          - {path: "$.items[].name", types: {text: 2}, count: 2, min: 1, max: 2}
          - {path: $.ok, types: {boolean: 1}, count: 1, min: null, max: null}
        format: json
        type: mapping
        depth: 3
        values: 8
        bytes: 62
        places: 6
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import yaml

_MAX_BYTES = 128 * 1024 * 1024
_MAX_VALUES = 5_000_000
_MAX_DEPTH = 500


class _Place:
    def __init__(self) -> None:
        self.types: dict[str, int] = {}
        self.low: float | None = None
        self.high: float | None = None

    def add(self, value: Any) -> None:
        kind = _type(value)
        self.types[kind] = self.types.get(kind, 0) + 1
        size = value if kind in ("integer", "number") else None
        if kind in ("list", "mapping", "text"):
            size = len(value)
        if size is not None and (isinstance(size, int) or math.isfinite(size)):
            self.low = size if self.low is None else min(self.low, size)
            self.high = size if self.high is None else max(self.high, size)


def run(path: str, limit: int = 500) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    size = Path(path).stat().st_size
    if size > _MAX_BYTES:
        raise ValueError(f"{path} has {size} bytes, more than {_MAX_BYTES}: split it first")
    text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    kind, document = _parse(path, text)
    places: dict[str, _Place] = {}
    values = depth = 0
    pending: list[tuple[str, Any, int]] = [("$", document, 0)]
    while pending:
        place, value, level = pending.pop()
        places.setdefault(place, _Place()).add(value)
        values += 1
        depth = max(depth, level)
        # Aliases let a small YAML file unfold without end.
        if values > _MAX_VALUES or level > _MAX_DEPTH:
            raise ValueError(
                f"{path} unfolds to more than {_MAX_VALUES} values or {_MAX_DEPTH} levels"
            )
        if isinstance(value, dict):
            pending += [(place + _key(key), item, level + 1) for key, item in value.items()]
        elif isinstance(value, list):
            pending += [(place + "[]", item, level + 1) for item in value]
    rows = [
        {"path": name, "types": dict(sorted(place.types.items()))}
        | {"count": sum(place.types.values()), "min": place.low, "max": place.high}
        for name, place in sorted(places.items())
    ]
    return {"rows": rows[:limit], "format": kind, "type": _type(document), "depth": depth} | {
        "values": values,
        "bytes": size,
        "places": len(rows),
    }


def _parse(path: str, text: str) -> tuple[str, Any]:
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        return "yaml", _yaml(path, text)
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl", _lines(path, text)
    try:
        return "json", json.loads(text)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        if suffix == ".json":
            raise ValueError(f"{path} is no JSON: {error}") from None
    try:
        return "jsonl", _lines(path, text)
    except ValueError:
        return "yaml", _yaml(path, text)


def _lines(path: str, text: str) -> list[Any]:
    items = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                items.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"{path}, line {number} is no JSON: {error}") from None
    return items


def _yaml(path: str, text: str) -> Any:
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{path} is neither JSON nor YAML: {_why(error)}") from None
    return documents[0] if len(documents) == 1 else documents


def _why(error: Exception) -> str:
    """The reason in one line, without the piece of the file that YAML quotes."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return f"{error.problem or error.context} in line {mark.line + 1 if mark else 0}"
    return " ".join(str(error).split()) or "nested too deeply"


def _key(key: Any) -> str:
    text = str(key)
    return f".{text}" if re.fullmatch(r"[\w-]+", text) else f"[{json.dumps(text)}]"


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case dict():
            return "mapping"
        case _:
            return type(value).__name__  # YAML knows dates, sets and bytes
