"""List the values of a plan that reach a tool as another type than they were given (spec §6). Pure.

The type check refuses what does not fit. This lists what fits only after a conversion, so that a
reviewer sees it: a whole number for a decimal one, text for a path, one value an item as a list, a
value in a text, and a value that may be null. It also lists rows that are saved as JSON in a file
whose name says another format. Mismatched types are refused in `type_check.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from pulsus.core.compose.plans.dsl.plan_values import references
from pulsus.core.compose.plans.type_check import output_hint
from pulsus.core.compose.plans.wiring import list_inputs
from pulsus.core.contract import type_hints
from pulsus.core.contract.type_hints import Hint
from pulsus.core.types import (
    ArgSpec,
    JsonValue,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    Template,
    ToolSpec,
)

PREFIX = "conversion"
"""Begins each note."""
_TEXTS = ("str", "Path")


def list_conversions(plan: Plan, tools: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Return one note for each converted value. `tools` has the tool of every step by its id."""
    steps = {step.id: step for step in plan.steps}
    return tuple(
        f"{PREFIX}: {step.id}.{arg.name}: {what}"
        for step in plan.steps
        for arg in list_inputs(tools[step.tool])
        if arg.name in step.inputs
        for what in _list_of_input(step, arg, steps, tools)
    )


def list_json_files(
    plan: Plan, tools: Mapping[str, ToolSpec], values: Mapping[str, JsonValue]
) -> Iterator[str]:
    """Yield a note for each list or mapping that is saved as JSON in a file not named `.json`.

    `values` are those of the parameters of the plan, given or proposed.
    """
    steps = {step.id: step for step in plan.steps}
    for step in plan.steps:
        targets = [step.inputs[name] for name in tools[step.tool].target if name in step.inputs]
        paths = [
            values.get(one.name) if isinstance(one, ParamRef) else getattr(one, "value", None)
            for one in targets
        ]
        suffixes = {PurePath(one).suffix.lower() for one in paths if isinstance(one, str)}
        for arg in list_inputs(tools[step.tool]) if suffixes - {"", ".json"} else ():
            value = step.inputs.get(arg.name)
            if not isinstance(value, OutputRef) or "for JSON" not in arg.description:
                continue
            given = output_hint(value, steps, tools)
            if given is not None and (given.has("list") or given.has("dict")):
                yield (
                    f"{PREFIX}: {step.id}.{arg.name}: {value.output!r} of {value.step} is saved "
                    f"as JSON in a {min(suffixes - {'', '.json'})} file; ask for it as a table, "
                    "or name a .json file"
                )


def _list_of_input(
    step: PlanStep, arg: ArgSpec, steps: Mapping[str, PlanStep], tools: Mapping[str, ToolSpec]
) -> Iterator[str]:
    value = step.inputs[arg.name]
    if isinstance(value, OutputRef):
        given = output_hint(value, steps, tools)
        if given is not None:
            name = f"{value.output!r} of {value.step}"
            if steps[value.step].for_each is not None:
                name += ", one value an item as a list,"
                yield f"{name} is {type_hints.write_annotation(given)}"
            yield from _list_of_types(name, given, type_hints.parse_hint(arg.type_hint))
    elif isinstance(value, Template):
        for ref in references(value):
            if not isinstance(ref, OutputRef):
                continue
            given = output_hint(ref, steps, tools)
            if given is not None and any(each.name not in _TEXTS for each in given.shapes):
                shown = type_hints.write_annotation(given)
                yield f"{ref.output!r} of {ref.step} is {shown}, and is written as text"


def _list_of_types(name: str, given: Hint, wanted: Hint) -> Iterator[str]:
    if given.anything or wanted.anything:
        return
    if given.optional and not wanted.optional:
        yield f"{name} may be null, and the step then fails"
    for one in given.concrete:
        if wanted.has(one.name):
            continue
        if one.name == "int" and wanted.has("float"):
            yield f"{name} is a whole number, and is taken as a decimal one"
        elif one.name in _TEXTS and any(wanted.has(each) for each in _TEXTS):
            yield f"{name} is {'text' if one.name == 'str' else 'a path'}, and is taken as " + (
                "a path" if wanted.has("Path") else "text"
            )
        elif {one.name} <= {"list", "tuple"} and (wanted.has("list") or wanted.has("tuple")):
            yield f"{name} is a {one.name}, and is taken as another kind of list"
