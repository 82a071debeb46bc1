"""Build an example for a composed module from the examples of its steps (spec §6, §8). Pure.

`core/validators/steps/smoke_and_dry_run.py` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pulsus.core.compose.plans.build_plan import list_parameters
from pulsus.core.types import (
    Constant,
    Example,
    InlineFile,
    JsonValue,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    ToolSpec,
)

TITLE = "made from the examples of its steps"


def build_example(plan: Plan, tools: Mapping[str, ToolSpec]) -> Example | None:
    """Return an example with a value for every required plan parameter, or None if one is unknown.

    A step that gets its data from another step keeps its optional inputs at their defaults, because
    its own examples choose them for other data. The expected result is set only if the steps'
    examples prove it: no step but the last writes, all files come from one example, and every
    returned value is known.
    """
    needed = {param.name for param in list_parameters(plan, tools.values()) if param.required}
    inputs: dict[str, JsonValue] = {}
    files: dict[str, InlineFile] = {}
    origins: set[tuple[InlineFile, ...]] = set()
    # If steps share an input, the step that reads a file chooses its value. It could not read the
    # folder or the word that suits the other step.
    for step in sorted(plan.steps, key=lambda step: not _has_file_input(step, tools[step.tool])):
        refs = _map_parameters(step)
        must = {arg: name for arg, name in refs.items() if name in needed}
        fed = any(isinstance(value, OutputRef) for value in step.inputs.values())
        # All its required values are chosen already, by a step that shares them.
        if set(must.values()) <= inputs.keys() and (must or fed):
            continue
        chosen = _choose_example(step, must, tools[step.tool])
        if chosen is None and must:
            return None
        if chosen is None or not refs:
            continue
        for arg, name in (must if fed else refs).items():
            if arg in chosen.inputs:
                value = _adapt_row_field(chosen.inputs[arg], step, chosen, plan, tools)
                inputs.setdefault(name, value)
        for file in chosen.files:
            files.setdefault(file.path, file)
        origins.update({chosen.files} if chosen.files else ())
    example = Example(inputs=inputs, files=tuple(files.values()), title=TITLE)
    # After a write, a step may see other data than its own example did.
    reads = all(tools[step.tool].kind != "write" for step in plan.steps[:-1])
    expected = _prove_result(plan, tools, example) if reads and len(origins) <= 1 else None
    if expected is None:
        return example
    return replace(example, expected=dict(expected), has_expected=True)


def _map_parameters(step: PlanStep) -> dict[str, str]:
    return {arg: ref.name for arg, ref in step.inputs.items() if isinstance(ref, ParamRef)}


def _has_file_input(step: PlanStep, tool: ToolSpec) -> bool:
    chosen = _choose_example(step, {}, tool)
    paths = [file.path for file in chosen.files] if chosen else []
    return chosen is not None and any(
        chosen.inputs.get(arg) in paths for arg in _map_parameters(step)
    )


def _choose_example(step: PlanStep, must: Mapping[str, str], tool: ToolSpec) -> Example | None:
    able = [e for e in tool.examples if must.keys() <= e.inputs.keys()]
    # An example that sets only what the plan sets runs the step as the plan does.
    whole = [e for e in able if e.inputs.keys() <= step.inputs.keys()]
    return next(iter(whole or able), None)


def _adapt_row_field(
    value: JsonValue, step: PlanStep, chosen: Example, plan: Plan, tools: Mapping[str, ToolSpec]
) -> JsonValue:
    """Return `value`, or another field name if `value` names a field that the real rows lack.

    The example of a sorter names a field of its own rows, such as `bytes`. Rows from an earlier
    step may not have that field. Then the dry run would fail for that reason alone.
    """
    for arg, ref in step.inputs.items():
        own = _get_first_row(chosen.inputs.get(arg))
        if not isinstance(ref, OutputRef) or not isinstance(value, str) or value not in own:
            continue
        other = _find_sample_row(ref, plan, tools)
        if other and value not in other:
            alike = [
                key for key, item in other.items() if _is_number(item) == _is_number(own[value])
            ]
            return (alike or list(other))[0]
    return value


def _find_sample_row(
    ref: OutputRef, plan: Plan, tools: Mapping[str, ToolSpec]
) -> dict[str, JsonValue]:
    """Return the first row of this output in the step's own examples, or an empty row."""
    step = next(step for step in plan.steps if step.id == ref.step)
    for example in tools[step.tool].examples:
        if isinstance(example.expected, dict):
            row = _get_first_row(example.expected.get(step.outputs[ref.output]))
            if row:
                return row
    return {}


def _get_first_row(value: JsonValue) -> dict[str, JsonValue]:
    row = value[0] if isinstance(value, list) and value else None
    return {k: v for k, v in row.items() if k != "..."} if isinstance(row, dict) else {}


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _prove_result(
    plan: Plan, tools: Mapping[str, ToolSpec], example: Example
) -> Mapping[str, JsonValue] | None:
    known: dict[OutputRef, JsonValue] = {}
    for step in plan.steps:
        given = _resolve_inputs(step, example, known)
        proof = _find_proof(tools[step.tool], given, example) if given is not None else None
        if proof is None or not isinstance(proof.expected, dict):
            continue
        for name, key in step.outputs.items():
            if key in proof.expected:
                known[OutputRef(step.id, name)] = proof.expected[key]
    result = {ref.output: value for ref, value in known.items()}
    if not set(plan.returns) <= result.keys():
        return None
    return {name: result[name] for name in plan.returns}


def _resolve_inputs(
    step: PlanStep, example: Example, known: Mapping[OutputRef, JsonValue]
) -> dict[str, JsonValue] | None:
    given: dict[str, JsonValue] = {}
    for arg, value in step.inputs.items():
        match value:
            case Constant(constant):
                given[arg] = constant
            case ParamRef(name):
                given |= {arg: example.inputs[name]} if name in example.inputs else {}
            case OutputRef():
                if value not in known or _has_wildcard(known[value]):
                    return None
                given[arg] = known[value]
            case _:  # an expression proves nothing before it runs
                return None
    return given


def _find_proof(tool: ToolSpec, given: Mapping[str, JsonValue], example: Example) -> Example | None:
    files = set(example.files)
    proven = (e for e in tool.examples if e.has_expected and files.issuperset(e.files))
    return next((e for e in proven if dict(e.inputs) == given), None)


def _has_wildcard(value: JsonValue) -> bool:
    """Return True if an expected value contains `...`, which matches any value."""
    if isinstance(value, list):
        return any(map(_has_wildcard, value))
    if isinstance(value, dict):
        return "..." in value or any(map(_has_wildcard, value.values()))
    return value == "..."
