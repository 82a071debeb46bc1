"""Find out if a result may have been cut at a default limit of rows, and say how to see more. Pure.

Rows that the terminal view leaves out are counted in `cli/results/result_lines.py`.

A tool returns as many rows as its input `limit` (or `top`, or `n`) says. If the caller gave no
limit, a reader cannot tell ten files from the first ten of a thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
            yield from _notes_of(result, tool.name, _default_limits(tool, given))
        return
    known = {tool.id: tool for tool in tools}
    for step in steps:
        named = known.get(step.tool)
        part = {key: result[name] for name, key in step.outputs.items() if name in result}
        if named is not None and part:
            yield from _notes_of(part, named.name, _default_limits_of_step(step, named, given))


def step_limit_notes(
    results: Mapping[str, JsonValue],
    plan: Plan,
    tools: Sequence[ToolSpec],
    given: Collection[str],
) -> Iterator[str]:
    """Yield a note for each step of a saved plan that gave as many rows as its default limit.

    `results` are the whole results of the steps by their ids. A saved plan takes no other limit, so
    the note names the command that makes another plan.
    """
    known = {tool.id: tool for tool in tools}
    for step in plan.steps:
        named, result = known.get(step.tool), results.get(step.id)
        if named is not None and isinstance(result, dict):
            how = "pulsus plan with --input {}=NUMBER gives more"
            yield from _notes_of(
                result, named.name, _default_limits_of_step(step, named, given), how
            )


def _notes_of(
    result: Mapping[str, JsonValue],
    tool: str,
    limits: Iterable[tuple[str, int]],
    how: str = "--input {}=NUMBER shows more",
) -> Iterator[str]:
    for name, limit in limits:
        if any(result.get(total) == limit for total in _TOTALS):
            continue  # these are all rows
        cut = [
            key
            for key, value in result.items()
            if isinstance(value, list) and len(value) == limit and table_lines.is_records(value)
        ]
        if cut:
            what = "rows" if cut[0] == "rows" else f"rows of {cut[0]}"
            yield (
                f"{tool} shows up to {limit} {what}, its default, so there may be more: "
                f"{how.format(name)}"
            )


def _default_limits_of_step(
    step: PlanStep, tool: ToolSpec, given: Collection[str]
) -> Iterator[tuple[str, int]]:
    """Yield the limits of a step at their default, each with the parameter that sets it."""
    from pulsus.core.types import ParamRef

    parameters = {n: each.name for n, each in step.inputs.items() if isinstance(each, ParamRef)}
    chosen = {n for n in step.inputs if n not in parameters or parameters[n] in given}
    for name, limit in _default_limits(tool, chosen):
        yield parameters.get(name, name), limit


def _default_limits(tool: ToolSpec, given: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield each input that limits rows and that the caller did not give, with its default."""
    for arg in tool.args:
        limit = None if arg.name in given else _default_limit(arg)
        if limit is not None:
            yield arg.name, limit


def _default_limit(arg: ArgSpec) -> int | None:
    """Return the default of an input that limits rows; None for any other input."""
    if arg.name.rpartition("_")[2] not in _LIMITS or arg.default is None:
        return None
    try:
        value = python_parser.read_literal(arg.default)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) is int and value > 0 else None
