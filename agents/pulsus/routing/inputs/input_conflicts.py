"""Find inputs where a shared or wired value conflicts with one that the step names. Pure.

Such an input gets a parameter of its own in `routing/inputs/route_inputs.py`.

Two steps with an input `path` share one parameter, and a step may get the `path` of an earlier
step. Both are wrong for "count the errors in app.log and compute the checksum of m.csv".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from pulsus.core.arguments.filler import FilledValue, fill
from pulsus.core.compose.plans.build_plan import DRY_RUN
from pulsus.core.contract import type_hints
from pulsus.core.types import JsonValue
from pulsus.routing.inputs.plan_steps import StepInputs


def find_named_instead_of_wired(
    steps: Sequence[StepInputs], given: Collection[str], now: datetime
) -> list[tuple[str, str]]:
    """Return the wired inputs, as (step id, input), for which the step's clause names a value.

    Only scalars of tools that read: what a tool writes to is never taken from words alone.
    """
    found = []
    for step in steps:
        hints = {arg.name: type_hints.parse_hint(arg.type_hint) for arg in step.tool.args}
        wired = {name for name in step.wired if hints[name].scalar} - set(given)
        if not wired or not step.clause or not step.extends or step.tool.kind == "write":
            continue
        closed = step.fixed - wired
        filling = fill(step.clause, step.inputs, now=now, given=closed)
        found += [(step.id, one.name) for one in filling.filled if one.name in wired]
    return found


def find_conflicts(
    steps: Sequence[StepInputs], values: Sequence[Sequence[FilledValue]]
) -> list[tuple[str, str]]:
    """Return the inputs, as (step id, input), that share a parameter with another value.

    A change shares a value only if the words give it for an earlier step too, as in "lint app.yaml,
    then set a line in it". Otherwise what one gives for the other step would be changed as well.
    """
    first: dict[str, JsonValue] = {}
    seen: set[str] = set()
    found = []
    for step, own in zip(steps, values, strict=True):
        named = {value.name: value.value for value in own}
        earlier, taken = frozenset(seen), frozenset(first)
        for name, parameter in step.names.items():
            seen.add(parameter)
            other = name in named and first.setdefault(parameter, named[name]) != named[name]
            alone = step.tool.kind == "write" and parameter in earlier - taken
            if step.extends and name != DRY_RUN and (other or alone):
                found.append((step.id, name))
    return found
