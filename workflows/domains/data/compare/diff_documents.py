"""Show what changed between two JSON, YAML, TOML or CSV documents.

Compares the content, not the text: order of keys, indentation and comments do not matter. Every
difference is one row with its path, such as `$.servers[name=web].port`. Items of lists are matched
by a key field (given, or `id` or `name` where every item has a different one), otherwise by
position. Values under keys that look like passwords, tokens or keys are masked, and so are
passwords in addresses. Files of `NAME=value` lines (`.env`) are read as well.

Args:
    before (str): The old document.
    after (str): The new document. The two may have different formats.
    key (str): Field that identifies the items of lists, or the rows of a CSV file.
    limit (int): How many differences to list, at least 1. All are counted.

Returns:
    rows (list[dict[str, Any]]): One a difference: `path`, `change` (added, removed, changed),
        `before`, `after` (null where there is none).
    equal (bool): Whether the content is the same.
    added (int): How many values are new.
    removed (int): How many values are gone.
    changed (int): How many values differ.

Side effects:
    none

Kind: read

Effects:
    paths: both documents
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {before: /tmp/old.json, after: /tmp/new.yaml}
      files:
        /tmp/old.json: '{"port": 80, "tls": false, "api_key": "a", "hosts": [{"name": "x"}]}'
        /tmp/new.yaml: |
          port: 443
          api_key: b
          hosts: [{name: y}, {name: x}]
      output:
        rows:
          - {path: $.port, change: changed, before: 80, after: 443}
          - {path: $.tls, change: removed, before: false, after: null}
          - {path: $.api_key, change: changed, before: "***", after: "***"}
          - {path: "$.hosts[name=y]", change: added, before: null, after: {name: y}}
        equal: false
        added: 1
        removed: 1
        changed: 2
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_MAX_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 200
_SECRET = re.compile(
    r"(?i)passw|passphrase|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential"
    r"|(?:api|private|access|signing|encryption)[_-]?key"
)
_IN_ADDRESS = re.compile(r"(://[^\s/:@]*:)[^\s/]+(?=@)")
_NAME = r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*="
_VARIABLE = re.compile(
    _NAME + r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')[ \t]*(?:#[^\n]*)?(?:\n|\Z)""", re.S
)
_UNQUOTED = re.compile(_NAME + r"([^\n]*)(?:\n|\Z)")
_NO_VARIABLE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_ABSENT = object()
Difference = tuple[str, Any, Any]


def run(before: str, after: str, key: str = "", limit: int = 1000) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    rows: list[dict[str, Any]] = []
    counts = {"added": 0, "removed": 0, "changed": 0}
    for path, old, new in _diff("$", _load(before), _load(after), key, 0):
        change = "added" if old is _ABSENT else "removed" if new is _ABSENT else "changed"
        counts[change] += 1
        if len(rows) < limit:
            shown = {"before": _shown(path, old), "after": _shown(path, new)}
            rows.append({"path": path, "change": change, **shown})
    return {"rows": rows, "equal": not any(counts.values()), **counts}


def _load(path: str) -> Any:
    file = Path(path)
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: split it first")
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    try:
        match file.suffix.lower():
            case ".csv" | ".tsv":
                first = text.split("\n", 1)[0]
                mark = max(",;\t|", key=first.count)
                return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))
            case ".toml":
                return tomllib.loads(text)
            case ".json":
                return json.loads(text)
            case _:
                found = _variables(text)
                found = yaml.safe_load(text) if found is None else found
                if isinstance(found, str):
                    raise ValueError("it is text without keys or NAME=value lines")
                return found
    except (ValueError, yaml.YAMLError, csv.Error, RecursionError) as error:
        raise ValueError(
            f"{path} cannot be read: {_why(error)}: check it with lint_config"
        ) from None


def _variables(text: str) -> dict[str, str] | None:
    """The variables of a .env file; None if the text has a line of another kind, or no variable.

    A quoted value may have several lines, such as a certificate.
    """
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        if match := _VARIABLE.match(text, at):
            found[match[1]] = match[2] if match[2] is not None else match[3]
        elif match := _UNQUOTED.match(text, at):
            found[match[1]] = re.split(r"(?:^|\s)#", match[2], maxsplit=1)[0].strip()
        else:
            match = _NO_VARIABLE.match(text, at)
        if match is None:
            return None
        at = match.end()
    return found or None


def _why(error: Exception) -> str:
    """The reason in one line, without the piece of the file that YAML quotes."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return f"{error.problem or error.context} in line {mark.line + 1 if mark else 0}"
    return " ".join(str(error).split()) or "nested too deeply"


def _diff(path: str, old: Any, new: Any, key: str, depth: int) -> Iterator[Difference]:
    if depth > _MAX_DEPTH:
        raise ValueError(f"the documents nest deeper than {_MAX_DEPTH} levels at {path[:200]}")
    if isinstance(old, dict) and isinstance(new, dict):
        here = [{path + _key(k): v for k, v in mapping.items()} for mapping in (old, new)]
        yield from _both(here[0], here[1], key, depth)
    elif isinstance(old, list) and isinstance(new, list):
        field = _field(old, new, key)
        labels = [_labels(items, path, field) for items in (old, new)]
        yield from _both(labels[0], labels[1], key, depth)
    elif type(old) is not type(new) or (old != new and not (old != old and new != new)):
        yield path, old, new


def _both(old: dict[str, Any], new: dict[str, Any], key: str, depth: int) -> Iterator[Difference]:
    for path, value in old.items():
        if path in new:
            yield from _diff(path, value, new[path], key, depth + 1)
        else:
            yield path, value, _ABSENT
    yield from ((path, _ABSENT, value) for path, value in new.items() if path not in old)


def _field(old: list[Any], new: list[Any], key: str) -> str | None:
    """The field that tells the items of both lists apart."""
    for field in (key,) if key else ("id", "name", "key"):
        if all(_unique(items, field) for items in (old, new)):
            return field
    return None


def _unique(items: list[Any], field: str) -> bool:
    if not all(isinstance(item, dict) and field in item for item in items):
        return False
    values = [json.dumps(item[field], default=str) for item in items]
    return len(set(values)) == len(values)


def _labels(items: list[Any], path: str, field: str | None) -> dict[str, Any]:
    if field is None:
        return {f"{path}[{position}]": item for position, item in enumerate(items)}
    return {f"{path}[{field}={item[field]}]": item for item in items}


def _key(key: Any) -> str:
    text = str(key)
    return f".{text}" if re.fullmatch(r"[\w-]+", text) else f"[{json.dumps(text)}]"


def _shown(path: str, value: Any) -> Any:
    """The value as JSON, without secrets and without numbers JSON cannot hold."""
    if value is _ABSENT:
        return None
    if _SECRET.search(path) and value is not None:
        return "***"
    if isinstance(value, dict):
        about = str(value.get("name") or value.get("key") or "")  # {name: DB_PASSWORD, value: ...}
        names = {k: f"{about}.{k}" if k == "value" else str(k) for k in value}
        return {str(k): _shown(names[k], v) for k, v in value.items()}
    if isinstance(value, list):
        return [_shown("", item) for item in value]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _IN_ADDRESS.sub(r"\1***", str(value))
