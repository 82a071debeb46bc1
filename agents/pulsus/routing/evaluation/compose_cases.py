"""Requests with known plans (`pulsus compose-eval`), and catalogues with outputs. Reads files.

A file above 10 MB, an unknown key and a duplicate id are refused here.

A row is {query, plan: [{tool, args, label}]}. An argument `$label.field$` refers to an earlier step
of that label, so the two steps are joined by an edge.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulsus.core.compose.tool_chains.past_plans import Edge
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable, ToolSignature
from pulsus.core.types import ToolSpec
from pulsus.errors import UsageError
from pulsus.late_pattern import late_pattern
from pulsus.routing.evaluation.dataset import (
    RowReader,
    Warn,
    known_rows,
    read_lines,
    require_rows,
    require_text,
    tool_from_row,
)

_REFERENCE = late_pattern(r"\$([A-Za-z_]\w*)\.[^$]*\$")
_CASE = ("query", "plan")
_ALSO_OF_CASE = ("id", "note", "tools", "policy")
"""Keys that the rows of other sets carry. They are not read."""
_STEP = ("tool", "args", "label")
_TOOL = ("id", "name", "description", "params", "outputs")
_EXAMPLE = '{"tool": "a/b/c", "args": {"text": "$s1.text$"}, "label": "s2"}'
_SHOWN = 60
MAX_BYTES = 10_000_000
"""Largest file of cases that is read."""


@dataclass(frozen=True, slots=True)
class ComposeCase:
    """A request with the tools of its plan in order, and the edges between them.

    `dangling` counts references to a label that no earlier step has: they are no edges.
    `is_ambiguous` says that two steps have one label: a reference then means the later one.
    """

    query: str
    tools: tuple[str, ...]
    edges: frozenset[Edge]
    line: int = 0
    dangling: int = 0
    is_ambiguous: bool = False


def load_cases(path: Path, warn: Warn | None = None) -> tuple[ComposeCase, ...]:
    """Read the rows of a CASES file.

    Raises UsageError for the first bad row, with file, line and value, and the number of further
    bad rows. Raises it for a file without rows, too, because a check of nothing cannot fail.
    """
    _check_size(path)
    reader = RowReader((*_CASE, *_ALSO_OF_CASE), warn, strict=True)
    found: list[ComposeCase] = []
    bad: list[tuple[int, UsageError]] = []
    lines: dict[object, int] = {}
    for line, where, text in read_lines(path):
        try:
            row = reader.read(text, where)
            _check_id(row.get("id"), where, line, lines)
            found.append(_read_case(row, where, line))
        except UsageError as error:
            bad.append((line, error))
    if bad:
        first = bad[0][1]
        more = f" ({len(bad) - 1} more bad rows)" if len(bad) > 1 else ""
        raise UsageError(f"{first.message}{more}", hint=first.hint, lines=[line for line, _ in bad])
    require_rows(found, path, "requests")
    return tuple(found)


def load_signatures(
    path: Path, warn: Warn | None = None
) -> tuple[tuple[ToolSpec, ...], SignatureTable]:
    """Return the rows of a TOOLS file as tools to rank, and as signatures with their outputs.

    Raises UsageError for a bad row, a second row of the same id, and a file without rows.
    """
    specs: dict[str, ToolSpec] = {}
    signatures: list[ToolSignature] = []
    for where, row in known_rows(path, _TOOL, warn):
        spec = tool_from_row(row, where, path.parent)
        if spec.id in specs:
            raise UsageError(f"{where}: tool id {spec.id!r} is there twice", hint="make ids unique")
        specs[spec.id] = spec
        inputs = tuple(arg.name for arg in spec.args)
        outputs = _read_names(row.get("outputs"), where)
        signatures.append(ToolSignature(spec.id, spec.name, spec.summary, inputs, outputs))
    require_rows(specs, path, "tools")
    return tuple(sorted(specs.values(), key=lambda tool: tool.id)), SignatureTable(signatures)


def unknown_tools(cases: Sequence[ComposeCase], known: Collection[str]) -> set[str]:
    """Return the tools of the plans that the catalogue does not have."""
    return {tool for case in cases for tool in case.tools}.difference(known)


def _check_size(path: Path) -> None:
    """Raise UsageError for a file that is too large to be cases."""
    with suppress(OSError):  # reading it says why
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UsageError(
                f"{path}: {size} bytes; the limit is {MAX_BYTES}",
                hint="split the file, and measure each part",
            )


def _check_id(name: object, where: str, line: int, lines: dict[object, int]) -> None:
    """Raise UsageError for the id of an earlier row, and for one that is no text or number."""
    if name is None:
        return
    if not isinstance(name, str | int):
        raise UsageError(f"{where}: id is {_show(name)}, and must be text", hint='write "id": "a1"')
    if name in lines:
        raise UsageError(
            f"{where}: id {_show(name)} is already that of line {lines[name]}",
            hint="give each row an id of its own, or leave the ids out",
        )
    lines[name] = line


def _read_case(row: Mapping[str, Any], where: str, line: int) -> ComposeCase:
    query = require_text(dict(row), "query", where)
    plan = row.get("plan")
    if not isinstance(plan, list) or not plan:
        raise UsageError(
            f"{where}: plan is {_show(plan)}, and must be a list of steps",
            hint=f'write "plan": [{_EXAMPLE}]',
        )
    tools: list[str] = []
    edges: set[Edge] = set()
    labels: dict[str, int] = {}
    dangling = 0
    for number, step in enumerate(plan):
        tool, args, label = _read_step(step, f"{where}: plan[{number}]")
        for name in list_references(args):
            if name in labels:
                edges.add((labels[name], number))
            else:
                dangling += 1
        tools.append(tool)
        labels[label] = number
    is_ambiguous = len(labels) < len(tools)
    return ComposeCase(query, tuple(tools), frozenset(edges), line, dangling, is_ambiguous)


def _read_step(step: object, where: str) -> tuple[str, dict[str, Any], str]:
    if not isinstance(step, dict):
        raise UsageError(f"{where} is {_show(step)}, and must be an object", hint=_EXAMPLE)
    unknown = sorted(step.keys() - set(_STEP))
    if unknown:
        raise UsageError(
            f"{where} has the unknown key {unknown[0]!r}", hint=f"use {', '.join(_STEP)}"
        )
    for key in ("tool", "label"):
        if not isinstance(step.get(key), str) or not step[key].strip():
            raise UsageError(
                f"{where}.{key} is {_show(step.get(key))}, and must be text",
                hint=f"write a step as {_EXAMPLE}",
            )
    args = step.get("args", {})
    if not isinstance(args, dict):
        raise UsageError(
            f"{where}.args is {_show(args)}, and must be an object of values by name",
            hint=f"write a step as {_EXAMPLE}",
        )
    return step["tool"], args, step["label"]


def list_references(value: object) -> Iterator[str]:
    """Yield the labels that a value refers to, at any depth."""
    match value:
        case str():
            yield from _REFERENCE.findall(value)
        case list():
            for item in value:
                yield from list_references(item)
        case dict():
            for item in value.values():
                yield from list_references(item)
        case _:
            return


def _read_names(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    raise UsageError(
        f"{where}: outputs is {_show(value)}, and must be a list of the outputs' names",
        hint='write "outputs": ["rows", "count"]',
    )


def _show(value: object) -> str:
    said = json.dumps(value, ensure_ascii=False, default=str)
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"
