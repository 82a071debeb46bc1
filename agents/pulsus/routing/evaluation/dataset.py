"""Requests with known answers, and catalogues as bare rows (`pulsus eval`). Reads files.

A golden row with an unknown or mistyped key, without a query or with a bad policy is refused here,
and so is a duplicate tool id of a TOOLS file. The id that a misspelt tool id probably means (did
you mean) is found here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from pulsus.core.system.regular_files import endless_kind
from pulsus.core.types import ArgSpec, JsonValue, Policy, ToolSpec
from pulsus.errors import RequestInvalid, UsageError
from pulsus.routing.evaluation.input_score import is_choice

_POLICIES: dict[str, Policy] = {"select": "select", "compose": "compose", "generate": "generate"}

Warn = Callable[[str], None]
"""Told of a key that means nothing here, in one line."""

Check = Callable[[str], str]
"""A request → its text, as a route reads it. Raises RequestInvalid."""

_REMARKS = ("id", "note")
"""Keys of a request that are for its reader."""
_REQUEST = ("query", "tools", "policy", "any", "inputs")
_TOOL = ("id", "name", "description", "params")
_MOST_INVALID = 1000
"""After so many invalid rows without a valid one the rest is not read."""
_ALSO = {"any_of": "any", "expected": "tools", "parameters": "params", "args": "params"}
"""Other names that people use for a key."""


@dataclass(frozen=True, slots=True)
class GoldenRow:
    """A request and the ids of the tools that answer it, in order; none = nothing fits.

    `any_of`: each of the tools alone answers it (`"any": true`), rather than all together.
    `inputs` are the values that the request should fill (`input_score.py`); None if the row does
    not say.
    """

    query: str
    tools: tuple[str, ...]
    policy: Policy | None = None
    any_of: bool = False
    inputs: Mapping[str, JsonValue] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class InvalidQuery:
    """A row of a QUERIES file that cannot be asked: its line, from 1, and why."""

    line: int
    message: str
    hint: str


def load_queries(path: Path, warn: Warn | None = None) -> tuple[GoldenRow, ...]:
    """Read the rows of a QUERIES file. `warn` is called for keys without a meaning.

    Raises UsageError for a bad row, with file and line, and for a file without rows.
    """
    rows = known_rows(path, (*_REQUEST, *_REMARKS), warn)
    found = tuple(_golden(row, where) for where, row in rows)
    require_rows(found, path, "requests")
    return found


def read_queries(
    path: Path, warn: Warn | None = None, check: Check | None = None
) -> tuple[tuple[GoldenRow, ...], tuple[InvalidQuery, ...]]:
    """Return the rows of a QUERIES file, and those that are invalid.

    `check` refuses a request that no route takes, and returns its text otherwise.

    Raises UsageError as `load_queries` does if no row is valid, and for an unreadable file.
    """
    valid: list[GoldenRow] = []
    invalid: list[InvalidQuery] = []
    known = RowReader((*_REQUEST, *_REMARKS), warn)
    first: UsageError | None = None
    for number, where, line in read_lines(path):
        try:
            row = _golden(known.read(line, where), where)
            valid.append(replace(row, query=check(row.query)) if check else row)
        except (UsageError, RequestInvalid) as error:
            message = error.message.removeprefix(f"{where}: ")
            first = first or UsageError(f"{where}: {message}", hint=error.hint)
            invalid.append(InvalidQuery(number, message, error.hint))
            if len(invalid) == _MOST_INVALID and not valid:
                break  # it is a file of another kind, and may have millions of lines
    if first and not valid:
        raise first
    require_rows(valid, path, "requests")
    return tuple(valid), tuple(invalid)


def load_tools(path: Path, warn: Warn | None = None) -> tuple[ToolSpec, ...]:
    """Return the rows of a TOOLS file as tools that can be ranked, not run. Ids must be unique.

    Raises UsageError naming file and line for a bad row or a second one of the same id, and for a
    file without rows.
    """
    found: dict[str, ToolSpec] = {}
    for where, row in known_rows(path, _TOOL, warn):
        tool = tool_from_row(row, where, path.parent)
        if tool.id in found:
            raise UsageError(f"{where}: tool id {tool.id!r} is there twice", hint="make ids unique")
        found[tool.id] = tool
    require_rows(found, path, "tools")
    return tuple(found.values())


def nearest(tool_id: str, known: Collection[str]) -> str | None:
    """Return the id that an unknown id probably means: by its name, or else the most similar."""
    name = tool_id.rpartition("/")[2].removesuffix(".py")
    named = sorted(one for one in known if one.rpartition("/")[2] == name)
    if named:
        return " or ".join(named[:3])
    from rapidfuzz import fuzz, process  # only where something is wrong

    near = process.extractOne(tool_id, sorted(known), scorer=fuzz.ratio, score_cutoff=60)
    return near[0] if near else None


def with_nearest(tool_id: str, known: Collection[str]) -> str:
    """Return an unknown id, with the id that it probably means."""
    meant = nearest(tool_id, known)
    return f"{tool_id} (did you mean {meant}?)" if meant else tool_id


def read_lines(path: Path) -> Iterator[tuple[int, str, bytes]]:
    """Yield each line's number, its place (`file:line`) and its bytes; empty ones are skipped."""
    if kind := endless_kind(path):
        raise UsageError(f"{path} is {kind}, not a file", hint="name a readable JSONL file")
    try:
        lines = path.read_bytes().splitlines()
    except OSError as failure:
        why = failure.strerror or str(failure)
        raise UsageError(f"cannot read {path}: {why}", hint="name a readable JSONL file") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, f"{path}:{number}", line


def require_rows(found: Collection[object], path: Path, what: str) -> None:
    """Refuse a file without rows: what is measured on nothing cannot fail."""
    if not found:
        raise UsageError(f"{path} holds no {what}", hint="write one JSON object a line")


def known_rows(
    path: Path, keys: Sequence[str], warn: Warn | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row with its place (`file:line`)."""
    reader = RowReader(keys, warn)
    for _, where, line in read_lines(path):
        yield where, reader.read(line, where)


class RowReader:
    """Reads rows. A misspelt key is an error; a key without a meaning is reported once.

    With `strict` every unknown key is an error, and so is a key that is written twice.
    """

    def __init__(self, keys: Sequence[str], warn: Warn | None, *, strict: bool = False) -> None:
        self._keys, self._warn, self._strict = keys, warn, strict
        self._told = set(keys)

    def read(self, line: bytes, where: str) -> dict[str, Any]:
        """Return the row. Raises UsageError."""
        row = _object(line, where, _STRICT if self._strict else _PLAIN)
        for key in sorted(row.keys() - self._told):
            meant = _intended_key(key, row, self._keys)
            if meant:
                raise UsageError(
                    f"{where}: key {key!r} is not known: did you mean {meant!r}?",
                    hint=f"use {', '.join(self._keys)}",
                )
            if self._strict:
                raise UsageError(
                    f"{where}: key {key!r} is not known", hint=f"use {', '.join(self._keys)}"
                )
            self._told.add(key)
            if self._warn:
                known = ", ".join(self._keys)
                self._warn(f"{where}: key {key!r} means nothing here; known are {known}")
        return row


def _intended_key(key: str, row: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return the missing key that an unknown key probably means."""
    from rapidfuzz.distance import OSA  # only where there is such a key

    missing = [k for k in keys if k not in row]
    name = key.strip().lower()
    if _ALSO.get(name) in missing:
        return _ALSO[name]
    return next((k for k in missing if OSA.distance(name, k) <= (1 if len(k) < 6 else 2)), None)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} is written twice")
    return found


_PLAIN = json.JSONDecoder()
_STRICT = json.JSONDecoder(
    object_pairs_hook=_without_repeated_keys, parse_constant=_refuse_constant
)


def _object(line: bytes, where: str, decoder: json.JSONDecoder) -> dict[str, Any]:
    try:
        row = decoder.decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as failure:
        raise UsageError(
            f"{where}: not JSON in UTF-8 ({failure})", hint="write one JSON object a line"
        ) from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: not a JSON object", hint="write one JSON object a line")
    return row


def _golden(row: dict[str, Any], where: str) -> GoldenRow:
    query = require_text(row, "query", where)
    tools = _texts(row, "tools", where)
    policy = row.get("policy")
    if policy is not None and (not isinstance(policy, str) or policy not in _POLICIES):
        raise UsageError(
            f"{where}: policy {policy!r} is not known", hint=f"use one of {', '.join(_POLICIES)}"
        )
    any_of = row.get("any", False)
    if not isinstance(any_of, bool):
        raise UsageError(f"{where}: any is {any_of!r}", hint="use true or false")
    inputs = _inputs(row["inputs"], tools, where) if row.get("inputs") is not None else None
    return GoldenRow(query, tools, _POLICIES[policy] if policy else None, any_of, inputs)


def _inputs(value: object, tools: Sequence[str], where: str) -> dict[str, JsonValue]:
    """Return the wanted inputs of a request by name."""
    if not isinstance(value, dict) or not all(value):
        raise UsageError(
            f"{where}: inputs is no object of values by name",
            hint='write "inputs": {"folder": "/var", "limit": {"any": [5, 10]}}',
        )
    if value and not tools:
        raise UsageError(
            f"{where}: inputs are given, but no tool fits", hint='name the tool in "tools"'
        )
    for name, wanted in value.items():
        if is_choice(wanted) and not (isinstance(wanted["any"], list) and wanted["any"]):
            raise UsageError(
                f"{where}: inputs.{name}.any is no list of values",
                hint=f'write "{name}": {{"any": [value, …]}}',
            )
    return value


def tool_from_row(row: dict[str, Any], where: str, root: Path) -> ToolSpec:
    """Return a row of a TOOLS file as a tool that can be ranked, not run. Raises UsageError."""
    tool_id = require_text(row, "id", where)
    name = require_text(row, "name", where)
    description = row.get("description", "")
    if not isinstance(description, str):
        raise UsageError(f"{where}: description is not text", hint="write a string")
    params = _params(row["params"], where) if row.get("params") is not None else ()
    parts = tool_id.split("/")
    place = parts[:2] if len(parts) == 3 else ["shared", ""]
    return ToolSpec(
        id=tool_id,
        path=root.joinpath(*(part.replace("\0", "") for part in parts)),
        entry="run",
        args=tuple(ArgSpec(p, None, required=False, default=None) for p in params),
        doc=description,
        domain=None if place[0] == "shared" else place[0],
        action=place[1],
        name=name,
        summary=description,
        sha256="",
    )


def _params(value: object, where: str) -> tuple[str, ...]:
    """Return the names of a tool's parameters."""
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    said = repr(value)
    names = value if isinstance(value, dict) else ["path", "limit"]
    raise UsageError(
        f"{where}: params is {said if len(said) <= 60 else said[:59] + '…'}, and must be a list of "
        "the parameters' names",
        hint=f'write "params": {json.dumps([str(name) for name in names], ensure_ascii=False)}',
    )


def require_text(row: dict[str, Any], key: str, where: str) -> str:
    """Return the text of a key. Raises UsageError for no text."""
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{where}: {key} is missing or empty", hint=f'give "{key}" as text')
    return value


def _texts(row: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise UsageError(
            f"{where}: {key} is not a list of texts", hint=f'give "{key}" as a list of strings'
        )
    return tuple(value)
