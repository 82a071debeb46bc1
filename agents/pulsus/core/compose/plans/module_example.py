"""An example for a composed module, from its steps' own examples (routing spec §6, §8). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.core.compose.plans.planner import list_parameters
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
    """Inputs for every required plan parameter with the files they need, or None.

    A step that is fed by another keeps its optional inputs at their defaults: what its examples
    set fits their own data. `expected` is given only where the steps' examples prove it: nothing
    but the last step writes, the files are those of one example, every returned value is known.
    """
    needed = {param.name for param in list_parameters(plan, tools.values()) if param.required}
    inputs: dict[str, JsonValue] = {}
    files: dict[str, InlineFile] = {}
    origins: set[tuple[InlineFile, ...]] = set()
    # Of steps that share an input, one whose example names a file speaks first: a folder or a
    # word that suits the other may be nothing it can read.
    for step in sorted(plan.steps, key=lambda step: not _names_a_file(step, tools[step.tool])):
        refs = _params(step)
        must = {arg: name for arg, name in refs.items() if name in needed}
        fed = any(isinstance(value, OutputRef) for value in step.inputs.values())
        if set(must.values()) <= inputs.keys() and (must or fed):
            continue
        chosen = _chosen(step, must, tools[step.tool])
        if chosen is None and must:
            return None
        if chosen is None or not refs:
            continue
        for arg, name in (must if fed else refs).items():
            if arg in chosen.inputs:
                value = _field(chosen.inputs[arg], step, chosen, plan, tools)
                inputs.setdefault(name, value)
        for file in chosen.files:
            files.setdefault(file.path, file)
        origins.update({chosen.files} if chosen.files else ())
    example = Example(inputs=inputs, files=tuple(files.values()), title=TITLE)
    reads = all(tools[step.tool].kind != "write" for step in plan.steps[:-1])
    expected = _expected(plan, tools, example) if reads and len(origins) <= 1 else None
    if expected is None:
        return example
    return Example(inputs, example.files, dict(expected), True, TITLE)


def _params(step: PlanStep) -> dict[str, str]:
    return {arg: ref.name for arg, ref in step.inputs.items() if isinstance(ref, ParamRef)}


def _names_a_file(step: PlanStep, tool: ToolSpec) -> bool:
    chosen = _chosen(step, {}, tool)
    paths = [file.path for file in chosen.files] if chosen else []
    return chosen is not None and any(chosen.inputs.get(arg) in paths for arg in _params(step))


def _chosen(step: PlanStep, must: Mapping[str, str], tool: ToolSpec) -> Example | None:
    able = [e for e in tool.examples if must.keys() <= e.inputs.keys()]
    whole = [e for e in able if e.inputs.keys() <= step.inputs.keys()]
    return next(iter(whole or able), None)


def _field(
    value: JsonValue, step: PlanStep, chosen: Example, plan: Plan, tools: Mapping[str, ToolSpec]
) -> JsonValue:
    """`value`, or, where it names a field of rows that an earlier step gives, one of theirs.

    A sorter's example sorts its own rows by `bytes`; over another tool's rows that field may not
    exist, and the dry run would prove nothing but that.
    """
    for arg, ref in step.inputs.items():
        own = _first_row(chosen.inputs.get(arg))
        if not isinstance(ref, OutputRef) or not isinstance(value, str) or value not in own:
            continue
        other = _sample(ref, plan, tools)
        if other and value not in other:
            alike = [key for key, item in other.items() if _number(item) == _number(own[value])]
            return (alike or list(other))[0]
    return value


def _sample(ref: OutputRef, plan: Plan, tools: Mapping[str, ToolSpec]) -> dict[str, JsonValue]:
    """A row as the step's own examples expect it; empty where none says."""
    step = next(step for step in plan.steps if step.id == ref.step)
    for example in tools[step.tool].examples:
        if isinstance(example.expected, dict):
            row = _first_row(example.expected.get(step.outputs[ref.output]))
            if row:
                return row
    return {}


def _first_row(value: JsonValue) -> dict[str, JsonValue]:
    row = value[0] if isinstance(value, list) and value else None
    return {k: v for k, v in row.items() if k != "..."} if isinstance(row, dict) else {}


def _number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _expected(
    plan: Plan, tools: Mapping[str, ToolSpec], example: Example
) -> Mapping[str, JsonValue] | None:
    known: dict[OutputRef, JsonValue] = {}
    for step in plan.steps:
        given = _given(step, example, known)
        proof = _proof(tools[step.tool], given, example) if given is not None else None
        if proof is None or not isinstance(proof.expected, dict):
            continue
        for name, key in step.outputs.items():
            if key in proof.expected:
                known[OutputRef(step.id, name)] = proof.expected[key]
    result = {ref.output: value for ref, value in known.items()}
    if not set(plan.returns) <= result.keys():
        return None
    return {name: result[name] for name in plan.returns}


def _given(
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
                if value not in known or _vague(known[value]):
                    return None
                given[arg] = known[value]
    return given


def _proof(tool: ToolSpec, given: Mapping[str, JsonValue], example: Example) -> Example | None:
    for own in tool.examples:
        if own.has_expected and dict(own.inputs) == given and set(own.files) <= set(example.files):
            return own
    return None


def _vague(value: JsonValue) -> bool:
    """Whether an expected value holds `...`, which stands for any."""
    if isinstance(value, list):
        return any(map(_vague, value))
    if isinstance(value, dict):
        return "..." in value or any(map(_vague, value.values()))
    return value == "..."
