"""Fill the inputs of several tools that one request asks for, each from its own clause. Pure.

One clause is read in `filler.py`. `routing/inputs/request_values.py` calls this for a route.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from pulsus.core.arguments.filler import FilledValue, Filling, fill
from pulsus.core.arguments.inputs import Fillable

_MOST_READINGS: Final = 4


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
    value from the whole request, and so may any input of a single tool.
    """
    if len(clauses) != len(tools):
        return _fill_together(request, tools, fixed, now)
    own = [
        fill(clause, tool, now=now, given=fed)
        for tool, clause, fed in zip(tools, clauses, fixed, strict=True)
    ]
    roles = [_roles(tool, filling) for tool, filling in zip(tools, own, strict=True)]
    result = []
    for step, (tool, filling, fed) in enumerate(zip(tools, own, fixed, strict=True)):
        taken = {value.name for value in filling.values} | set(fed)
        # Where there is one step only, what its clause lacks can be no other step's.
        open_names = {one.name for one in tool.inputs if one.required or len(tools) == 1} - taken
        if open_names and clauses[step] != request:
            open_tool = Fillable(tuple(i for i in tool.inputs if i.name in open_names), tool.own)
            used = {value.text for value in filling.values}
            late = _fill_late(request, open_tool, step, clauses, roles, now)
            values = (*filling.values, *(value for value in late if value.text not in used))
            filling = replace(filling, values=values)
        result.append(filling)
    return result


def _fill_late(
    request: str,
    tool: Fillable,
    step: int,
    clauses: Sequence[str],
    roles: Sequence[Mapping[str, str]],
    now: datetime | None,
) -> tuple[FilledValue, ...]:
    """Return values of the whole request for inputs that the clause of a step leaves open.

    A value that belongs to another step is left out, and the words are read again without it.
    """
    wanted = {one.name: one.role for one in tool.inputs}
    for _ in range(_MOST_READINGS):
        values = fill(request, tool, now=now).values
        foreign = [
            v.text for v in values if _is_foreign(v.text, wanted[v.name], step, clauses, roles)
        ]
        if not foreign:
            return values
        for text in foreign:
            request = request.replace(text, ",".ljust(len(text)))
    return ()


def _is_foreign(
    text: str, role: str, step: int, clauses: Sequence[str], roles: Sequence[Mapping[str, str]]
) -> bool:
    """Return True if the value stands in the clause of another step, which uses it in another role.

    Nothing is taken from a later clause that this clause does not share: "list the files, and save
    them as out.md" lists no `out.md`. In "count the errors in app.log and hash it", both use it.
    """
    if text in clauses[step]:
        return False
    for other, clause in enumerate(clauses):
        if text in clause and (other > step or text in roles[other]):
            return roles[other].get(text) != role
    return False


def _roles(tool: Fillable, filling: Filling) -> dict[str, str]:
    """Return the role of each text that a step uses."""
    roles = {one.name: one.role for one in tool.inputs}
    return {value.text: roles[value.name] for value in filling.values}


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
    values = _by_step(found.values, len(tools))
    same = _by_step(found.same_as_default, len(tools))
    return [Filling(each, found.unused, alike) for each, alike in zip(values, same, strict=True)]


def _by_step(values: Sequence[FilledValue], steps: int) -> list[tuple[FilledValue, ...]]:
    """Return the values of each step, by the own names of its inputs."""
    found: list[list[FilledValue]] = [[] for _ in range(steps)]
    for value in values:
        step, _, name = value.name.partition("\0")
        found[int(step)].append(replace(value, name=name))
    return [tuple(each) for each in found]
