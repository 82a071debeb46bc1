"""Check the types of a whole plan before it runs (docs/plans.md). Pure.

A type mismatch between a step and the contract of its tool is refused here: the inputs exist, the
required ones are given, and every value fits. `fits` in core/contract/type_compatibility.py decides
if a type fits another. An expression has no type before it is computed, so it is checked when the
step runs. A template gives text. Inputs of a single run are parsed in `execution/parse_inputs.py`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pulsus.core.compose.plans.wiring import list_inputs, list_outputs
from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.contract.type_hints import Hint
from pulsus.core.types import (
    ArgSpec,
    Constant,
    JsonValue,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    PlanValue,
    Template,
    ToolSpec,
)
from pulsus.errors import PlanInvalid

_CONTRACT_SAYS = {"inputs": "takes", "outputs": "gives"}
"""The verb of a contract for each part of a step, as the place of a problem names it."""


@dataclass(frozen=True, slots=True)
class TypeProblem:
    """A value that does not fit, in one sentence. `place` is its place in the plan file."""

    place: str
    text: str


def find_type_problems(
    plan: Plan, tools: Mapping[str, ToolSpec], inputs: Mapping[str, JsonValue]
) -> tuple[TypeProblem, ...]:
    """Return each value that does not fit.

    `tools` has the tool of every step by its id, `inputs` the values of parameters that are known.
    """
    steps = {step.id: step for step in plan.steps}
    found: list[TypeProblem] = []
    for number, step in enumerate(plan.steps):
        for place, text in _check_step(step, tools, steps, inputs):
            found.append(TypeProblem(f"plan.steps[{number}].{place}", f"{step.id}{text}"))
    return tuple(found)


def require_types(
    plan: Plan, tools: Mapping[str, ToolSpec], inputs: Mapping[str, JsonValue]
) -> None:
    """Raise PlanInvalid if a value of the plan does not fit the contract of its tool."""
    problems = find_type_problems(plan, tools, inputs)
    if problems:
        parts = {each.place.split(".")[2] for each in problems}
        says = " and ".join(_CONTRACT_SAYS[part] for part in sorted(parts))
        raise PlanInvalid(
            "the plan does not fit its tools: " + "; ".join(each.text for each in problems),
            hint=f"correct these {' and '.join(sorted(parts))}; "
            f"`pulsus tools show ID` says what each tool {says}",
            problems=[each.text for each in problems],
            place=problems[0].place,
        )


def output_hint(
    ref: OutputRef, steps: Mapping[str, PlanStep], tools: Mapping[str, ToolSpec]
) -> Hint | None:
    """Return the type of an output, None if its tool does not declare it.

    A step with `for_each` gives a list of this type.
    """
    step = steps[ref.step]
    key = step.outputs[ref.output]
    declared = {each.name: each for each in list_outputs(tools[step.tool])}
    if key not in declared or declared[key].type_hint is None:
        return None
    text = declared[key].type_hint
    return type_hints.parse_hint(f"list[{text}]" if step.for_each else text)


def _check_step(
    step: PlanStep,
    tools: Mapping[str, ToolSpec],
    steps: Mapping[str, PlanStep],
    inputs: Mapping[str, JsonValue],
) -> Iterator[tuple[str, str]]:
    """Yield the place below the step, and the reason."""
    tool = tools[step.tool]
    args = {arg.name: arg for arg in list_inputs(tool)}
    for name in step.inputs:
        if name not in args:
            near = difflib.get_close_matches(name, list(args), 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            yield f"inputs.{name}", f": {tool.id} has no input {name!r}{meant}"
    for arg in args.values():
        if arg.required and arg.name not in step.inputs:
            yield "inputs", f": {tool.id} needs the input {arg.name!r}"
        elif arg.name in step.inputs:
            reason = _find_mismatch(step.inputs[arg.name], arg, tools, steps, inputs)
            if reason:
                yield f"inputs.{arg.name}", f".{arg.name}: {reason}"
    outputs = [each.name for each in list_outputs(tool)]
    for name, key in step.outputs.items():
        if tool.returns and key not in outputs:
            known = ", ".join(outputs)
            reason = f"{tool.id} gives no {key!r} for the output {name!r}; it gives {known}"
            yield f"outputs.{name}", f": {reason}"


def _find_mismatch(
    value: PlanValue,
    arg: ArgSpec,
    tools: Mapping[str, ToolSpec],
    steps: Mapping[str, PlanStep],
    inputs: Mapping[str, JsonValue],
) -> str:
    """Return why the value does not fit the argument, or an empty text."""
    wanted = type_hints.parse_hint(arg.type_hint)
    match value:
        case OutputRef():
            given = output_hint(value, steps, tools)
            if given is not None and not type_compatibility.fits(given, wanted):
                return (
                    f"{value.output!r} of {value.step} is {type_hints.write_annotation(given)}, "
                    f"which does not fit {type_hints.write_annotation(wanted)}"
                )
        case Constant(constant):
            return _describe_misfit(constant, wanted)
        case ParamRef(name) if name in inputs:
            return _describe_misfit(inputs[name], wanted)
        case Template() if not type_compatibility.fits(type_hints.parse_hint("str"), wanted):
            return f"a template gives text, not {type_hints.write_annotation(wanted)}"
        case _:
            pass
    return ""


def _describe_misfit(value: JsonValue, wanted: Hint) -> str:
    if type_compatibility.accepts(wanted, value):
        return ""
    shown = ascii(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
    return f"{shown} is no {type_hints.write_annotation(wanted)}"
