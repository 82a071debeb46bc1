"""Fill the inputs of several tools that one request asks for, each from its own clause. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from pulsus.core.arguments.filler import FilledValue, Filling, fill
from pulsus.core.arguments.inputs import Fillable


def fill_steps(
    request: str,
    tools: Sequence[Fillable],
    clauses: Sequence[str],
    *,
    fixed: Sequence[Collection[str]],
    now: datetime | None = None,
) -> list[Filling]:
    """Return the values of each tool, in order.

    `clauses` are the parts of the request, one for each tool; if their number differs, every tool
    reads the whole request, and a value goes to one input only. `fixed` names for each tool the
    inputs that have a value already. A required input that its clause leaves open may take a
    value from the whole request.
    """
    if len(clauses) != len(tools):
        return _fill_together(request, tools, fixed, now)
    result = []
    for tool, clause, fed in zip(tools, clauses, fixed, strict=True):
        own = fill(clause, tool, now=now, given=fed)
        taken = {value.name for value in own.values} | set(fed)
        open_names = {one.name for one in tool.inputs if one.required} - taken
        if open_names and clause != request:
            others = {one.name for one in tool.inputs} - open_names
            more = fill(request, tool, now=now, given=others)
            used = {value.text for value in own.values}
            late = tuple(value for value in more.values if value.text not in used)
            own = replace(own, values=(*own.values, *late))
        result.append(own)
    return result


def _fill_together(
    request: str,
    tools: Sequence[Fillable],
    fixed: Sequence[Collection[str]],
    now: datetime | None,
) -> list[Filling]:
    inputs = [
        replace(one, name=f"{step}\0{one.name}", place=0)
        for step, (tool, fed) in enumerate(zip(tools, fixed, strict=True))
        for one in tool.inputs
        if one.name not in fed
    ]
    numbered = tuple(replace(one, place=place) for place, one in enumerate(inputs))
    own = frozenset().union(*(tool.own for tool in tools))
    found = fill(request, Fillable(numbered, own), now=now)
    values: list[list[FilledValue]] = [[] for _ in tools]
    for value in found.values:
        step, _, name = value.name.partition("\0")
        values[int(step)].append(replace(value, name=name))
    return [Filling(tuple(each), found.unused) for each in values]
