"""Turn a JSON, YAML, TOML or CSV document into another of these formats.

Gives the converted text and writes nothing; save it with `save_report`. What the target cannot
represent is refused with its place, never dropped: TOML has no null, CSV has no nesting. Dates
become text where the target has none. Comments and formatting are not kept. Cells of a CSV file
stay text.

Args:
    path (str): The document to convert.
    to (str): The target format: json, yaml, toml or csv.
    source (str): The format of the document; taken from the file's suffix when empty.

Returns:
    text (str): The converted document, ending with a line break.
    source (str): The format that was read.
    to (str): The format that was written.
    notes (list[str]): What is different in the new format, for example dates written as text.

Side effects:
    none

Kind: read

Effects:
    paths: the given document
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/app.yaml, to: toml}
      files:
        /tmp/app.yaml: |
          name: web  # the front end
          ports: [80, 443]
          limits: {cpu: 0.5}
      output:
        text: |
          name = "web"
          ports = [80, 443]

          [limits]
          cpu = 0.5
        source: yaml
        to: toml
        notes: []
    - title: a CSV file to JSON
      inputs: {path: /tmp/h.csv, to: json}
      files: {/tmp/h.csv: "host,cpus\\nweb,4\\n"}
      output:
        text: |
          [
            {
              "host": "web",
              "cpus": "4"
            }
          ]
        source: csv
        to: json
        notes: []
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".csv": "csv"}
_FORMATS = ("json", "yaml", "toml", "csv")
_MAX_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 100


def run(path: str, to: str, source: str = "") -> dict[str, Any]:
    source = (source or _SUFFIXES.get(Path(path).suffix.lower(), "")).lower()
    to = to.lower().replace("yml", "yaml")
    for name, value in (("source", source), ("to", to)):
        if value not in _FORMATS:
            raise ValueError(f"{name} {value!r} is no known format: use json, yaml, toml or csv")
    if Path(path).stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: split it first")
    text = Path(path).read_text(encoding="utf-8-sig")
    try:
        document = _READERS[source](text)
    except (ValueError, yaml.YAMLError, csv.Error, RecursionError) as error:
        raise ValueError(f"{path} is no {source}: {_why(error)}") from None
    notes: list[str] = []
    plain = _plain(document, "$", to, notes, 0)
    return {"text": _WRITERS[to](plain), "source": source, "to": to, "notes": notes}


def _why(error: Exception) -> str:
    """The reason in one line, without the piece of the file that YAML quotes."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return f"{error.problem or error.context} in line {mark.line + 1 if mark else 0}"
    return " ".join(str(error).split()) or "nested too deeply"


def _plain(value: Any, place: str, to: str, notes: list[str], depth: int) -> Any:
    """The value with text keys and only what the target can hold."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"{place[:200]} is nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, dict):
        if len({str(key) for key in value}) < len(value):
            raise ValueError(f"{place} has keys that are equal as text: rename one")
        if any(not isinstance(key, str) for key in value):
            notes.append(f"{place}: keys that are no text were written as text")
        items = ((str(key), item) for key, item in value.items())
        return {k: _plain(v, f"{place}.{k}", to, notes, depth + 1) for k, v in items}
    if isinstance(value, list):
        cells = enumerate(value)
        return [_plain(item, f"{place}[{n}]", to, notes, depth + 1) for n, item in cells]
    return _scalar(value, place, to, notes)


def _scalar(value: Any, place: str, to: str, notes: list[str]) -> Any:
    if isinstance(value, (datetime.date, datetime.time)):
        if to == "toml" or (to == "yaml" and isinstance(value, datetime.date)):
            return value
        notes.append(f"{place}: a date or time was written as text")
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value) and to == "json":
        raise ValueError(f"{place} is {value}, which JSON cannot hold: change or remove it")
    if value is None and to == "toml":
        raise ValueError(f"{place} is null, which TOML cannot hold: remove it first")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    kind = type(value).__name__
    raise ValueError(f"{place} is of type {kind}, which {to} cannot hold: convert it first")


def _read_csv(text: str) -> list[dict[str, str]]:
    mark = max(",;\t|", key=text.split("\n", 1)[0].count)
    names, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name: rename one")
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} cells, the header has {len(names)}")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _write_csv(document: Any) -> str:
    rows = document if isinstance(document, list) else [document]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError("CSV needs a list of mappings: give one mapping for each row")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for number, row in enumerate(rows):
        for name, value in row.items():
            if isinstance(value, (dict, list)):
                raise ValueError(f"$[{number}].{name} is nested, which CSV cannot hold: flatten it")
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _cell(v) for k, v in row.items()} for row in rows)
    return stream.getvalue()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _write_toml(document: Any) -> str:
    if not isinstance(document, dict):
        raise ValueError("TOML needs a mapping at the top: put the list under a key")
    return "\n".join(_table(document, [])).strip("\n") + "\n"


def _table(table: dict[str, Any], names: list[str]) -> list[str]:
    """Lines of a table: its own values first, then the tables below it."""
    lines = [f"{_name(k)} = {_value(v)}" for k, v in table.items() if not _is_table(v)]
    for key, value in table.items():
        heading = ".".join(map(_name, [*names, key]))
        if isinstance(value, dict):
            lines += ["", f"[{heading}]", *_table(value, [*names, key])]
        elif _is_table(value):
            for item in value:
                lines += ["", f"[[{heading}]]", *_table(item, [*names, key])]
    return lines


def _is_table(value: Any) -> bool:
    tables = isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) or bool(tables)


def _name(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() if abs(value) >= 2**63:
            raise ValueError(f"{value} is too large for TOML: write it as text")
        case float():
            return str(value).replace("infinity", "inf")
        case str():
            return _text(value)
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case dict():
            inner = ", ".join(f"{_name(k)} = {_value(v)}" for k, v in value.items())
            return "{ " + inner + " }" if inner else "{}"
        case datetime.date() | datetime.time():
            return str(value.isoformat())
        case _:
            return str(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
    "csv": _read_csv,
}
_WRITERS: dict[str, Callable[[Any], str]] = {
    "json": lambda value: json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n",
    "yaml": lambda value: yaml.safe_dump(value, sort_keys=False, allow_unicode=True),
    "toml": _write_toml,
    "csv": _write_csv,
}
