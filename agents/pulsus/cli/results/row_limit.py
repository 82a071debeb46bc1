"""Find out if a result may have been cut at a default limit of rows, and say how to see more. Pure.

A tool returns as many rows as its input `limit` (or `top`, or `n`) says. If the caller gave no
limit, a reader cannot tell ten files from the first ten of a thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pulsus.cli.results import table_lines
from pulsus.core.python_source import python_parser

if TYPE_CHECKING:
    from pulsus.core.types import ArgSpec, JsonValue, Plan, PlanStep, ToolSpec

_LIMITS = frozenset(("limit", "top", "n"))
_TOTALS = ("count", "total")
"""Outputs that say how many rows there are in all."""


def limit_notes(
    result: JsonValue,
    plan: Plan | None,
    tools: Sequence[ToolSpec],
    given: Collection[str],
) -> Iterator[str]:
    """Yield a note for each tool with as many rows in the result as its default limit.

    `tools` are those of the plan, or the only tool. `given` are the inputs, or parameters of the
    plan, whose value the caller gave.
    """
    if not isinstance(result, dict):
        return
    steps = plan.steps if plan else ()
    if not steps:
        for tool in tools[-1:]:
            yield from _notes_of(tool, result, given)
        return
    known = {tool.id: tool for tool in tools}
    for step in steps:
        named = known.get(step.tool)
        part = {key: result[name] for name, key in step.outputs.items() if name in result}
        if named is not None and part:
            yield from _notes_of(named, part, _given_to(step, given))


def _given_to(step: PlanStep, given: Collection[str]) -> frozenset[str]:
    """Return the inputs of a step that have another value than their default."""
    from pulsus.core.types import ParamRef

    return frozenset(
        name
        for name, value in step.inputs.items()
        if not isinstance(value, ParamRef) or value.name in given
    )


def _notes_of(
    tool: ToolSpec, result: Mapping[str, JsonValue], given: Collection[str]
) -> Iterator[str]:
    for arg in tool.args:
        limit = _default_limit(arg)
        if limit is None or arg.name in given:
            continue
        if any(result.get(name) == limit for name in _TOTALS):
            continue  # these are all rows
        cut = [
            name
            for name, value in result.items()
            if isinstance(value, list) and len(value) == limit and table_lines.is_records(value)
        ]
        if cut:
            what = "rows" if cut[0] == "rows" else f"rows of {cut[0]}"
            yield (
                f"{tool.name} shows up to {limit} {what}, its default, so there may be more: "
                f"--input {arg.name}=NUMBER shows more"
            )


def _default_limit(arg: ArgSpec) -> int | None:
    """Return the default of an input that limits rows; None for any other input."""
    if arg.name.rpartition("_")[2] not in _LIMITS or arg.default is None:
        return None
    try:
        value = python_parser.read_literal(arg.default)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) is int and value > 0 else None
