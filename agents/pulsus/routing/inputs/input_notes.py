"""The notes about the inputs of a decision: left out words, early limits, failed models. Pure.

A default limit that cuts rows before a later step sorts or filters them gets a note here; one that
may have cut the result itself, in `cli/results/row_limit.py`.

`routing/inputs/route_inputs.py` gives the inputs their values.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.types import InputModelUse, InputValue, JsonValue, RouteOutcome
from pulsus.routing.inputs import unfollowed_restrictions
from pulsus.routing.inputs.plan_steps import StepInputs
from pulsus.routing.inputs.request_values import RequestValues


def find_left_out(
    outcome: RouteOutcome,
    steps: Sequence[StepInputs],
    read: RequestValues,
    found: Mapping[str, FilledValue],
    inputs: Mapping[str, InputValue],
) -> tuple[str, ...]:
    """Return the words that restrict the answer, and that no tool, input or named part follows."""
    chosen = {step.tool.id for step in steps}
    ranked = [
        *outcome.candidates,
        *(candidate for part in outcome.subintents for candidate in part.candidates),
    ]
    matched = {
        word
        for one in ranked
        if one.tool.id in chosen
        for words in one.matched.values()
        for word in words
    }
    used = [
        value.text
        for values in (read.values, read.same_as_default)
        for step in values
        for value in step
    ]
    numbers = {
        float(value)
        for value in (
            *(one.value for one in inputs.values() if one.source != "default"),
            *(one.value for one in found.values()),
        )
        # True is 1, and 0 and 1 are defaults of many inputs.
        if isinstance(value, int | float) and value not in (0, 1)
    }
    given = [
        text for one in inputs.values() if one.source == "option" for text in _texts(one.value)
    ]
    said = (*used, *given, *outcome.uncovered)
    tools = [step.tool for step in steps]
    request = outcome.intent.intent
    return unfollowed_restrictions.find_unfollowed_restrictions(
        request, tools, said, matched, numbers, read.unused
    )


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts of the value of an option: those of its members for a list."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str | int | float) and not isinstance(each, bool):
            yield str(each)


def say_left_out(left_out: Sequence[str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    listed = ", ".join(map(repr, left_out))
    return (f"left out: {listed}; nothing in this answer follows these words",)


def columns_to_choose(steps: Sequence[StepInputs], missing: Collection[str]) -> Iterator[str]:
    """Yield the columns of the rows that a step gets, if it lacks the one to work on.

    `missing` are the parameters without a value.
    """
    for step in steps:
        wanted = (step.row_inputs.field, step.row_inputs.by)
        for name in dict.fromkeys(step.names.get(one, "") for one in wanted if one):
            if name in missing:
                columns = ", ".join(column.name for column in step.columns)
                yield f"{name} names a column of the rows that {step.tool.id} gets: {columns}"


def early_limits(
    steps: Sequence[StepInputs], read: RequestValues, known: Collection[str]
) -> Iterator[str]:
    """Yield a line for each default that cuts rows before a later step filters or sorts them.

    `known` are the parameters that have a value. A limit that the request says is no default. Ten
    rows by processor time say nothing of the rows with most memory.
    """
    said = read.same_as_default or ((),) * len(steps)
    for (step, own), (behind, _) in itertools.pairwise(zip(steps, said, strict=True)):
        if not (behind.row_inputs.op or behind.row_inputs.by):
            continue
        spoken = {value.name for value in own}
        for one in step.inputs.inputs:
            default = one.default
            if one.role != "count" or type(default) is not int or default <= 0:
                continue
            if one.name in spoken:
                continue
            if one.name not in step.wired and step.names.get(one.name, "") not in known:
                yield (
                    f"{step.tool.id} gives at most {default} rows (default of {one.name}) before "
                    f"{behind.tool.id} works on them; --input {one.name}=NUMBER for more"
                )


def model_failures(use: InputModelUse | None) -> tuple[str, ...]:
    """Return a note if a model failed: the values of the words alone may be fewer."""
    if use is None or not use.error:
        return ()
    return (f"{use.model} was not used for {', '.join(use.asked)}: {use.error}",)
