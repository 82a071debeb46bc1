"""Find a request for several calls of one tool: "restart nginx and restart postgresql". Pure.

The note about the second call is made in `routing/route_outcome.py`.

A plan calls each tool once (spec §6), so the other calls are named, and are not lost in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.write_choices import propose_write_choices
from pulsus.core.compose.selection.clause_search import needs_step_data
from pulsus.core.compose.selection.cut_points import find_pieces
from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.tokens import clean, content_words
from pulsus.core.types import JsonValue, Ranked, ToolSpec


def find_repeated_calls(
    request: str,
    tool: ToolSpec,
    search: Callable[[str], Sequence[Ranked]],
    uncovered: Collection[str],
    *,
    floor: float,
    now: datetime | None,
    several: bool = False,
) -> tuple[str, ...]:
    """Return the parts of a request that ask for another call of the tool than its first part.

    Such a part has the tool as its best one with p ≥ `floor`, and another value than the first part
    for a required input. `uncovered` are parts that no tool serves. There is no such part in
    "compare s1.env and s2.env": a call that only reads needs both. If the plan has `several` tools,
    the first part of this tool is the first that has it as its best one.
    """
    text = clean(request)
    parts = [text[piece.start : piece.end].strip(" ,;.!?") for piece in find_pieces(text)]
    # "as yaml" is the form of a result, and no call.
    parts = [part for part in parts if part not in uncovered and len(content_words(part)) > 1]
    if several:
        parts = [part for part in parts if _is_best(tool, search(part), floor)]
    if len(parts) < 2:
        return ()
    first = _required_values(parts[0], tool, now)
    is_open = tool.kind == "read" and len(first) < sum(arg.required for arg in tool.args)
    return tuple(
        part
        for part in parts[1:]
        if not (is_open and _is_value_alone(part))
        and _is_other_call(first, _required_values(part, tool, now))
        and (several or _is_best(tool, search(part), floor))
    )


def is_change(tool: ToolSpec) -> bool:
    """Return True for a tool that changes something by itself, and writes no result of a step."""
    return tool.kind == "write" and not needs_step_data(tool)


def _is_other_call(first: dict[str, JsonValue], other: dict[str, JsonValue]) -> bool:
    return any(name in first and first[name] != value for name, value in other.items())


def _is_value_alone(part: str) -> bool:
    return not content_words(cut_out_values(part)[0])


def _is_best(tool: ToolSpec, found: Sequence[Ranked], floor: float) -> bool:
    return bool(found) and found[0].tool.id == tool.id and found[0].p >= floor


def _required_values(part: str, tool: ToolSpec, now: datetime | None) -> dict[str, JsonValue]:
    inputs = from_arguments(tool.args, tool.id, tool.summary)
    values = {value.name: value.value for value in fill(part, inputs, now=now).values}
    if tool.kind == "write":
        values |= {v.name: v.value for v in propose_write_choices(part, inputs.inputs)}
    required = {arg.name for arg in tool.args if arg.required}
    return {name: value for name, value in values.items() if name in required}
