"""Render a plan as a module that calls its steps, and read the plan back (spec §6). Pure.

`module_docstring.py` writes its contract, and `module_example.py` its example.

The module holds its plan as data, in `PLAN`. Pulsus reads from there which tools the module may
call, without running it. The same plan and tools always give the same bytes.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence

from pulsus.core.compose.plans.build_plan import list_parameters
from pulsus.core.compose.plans.dsl.plan_checks import RESERVED
from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict, plan_to_dict
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.compose.plans.dsl.step_references import uses_control
from pulsus.core.compose.plans.module_docstring import render_plan_contract
from pulsus.core.compose.plans.module_example import build_example
from pulsus.core.compose.rendering import render_template
from pulsus.core.contract import type_hints
from pulsus.core.contract.tool_parser import imports_steps
from pulsus.core.python_source import python_parser
from pulsus.core.python_source.bindings import assignments
from pulsus.core.python_source.python_literals import (
    WIDTH,
    parse_module,
    write_docstring,
    write_literal,
    write_text,
)
from pulsus.core.types import (
    ArgSpec,
    Constant,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    PlanValue,
    ToolSpec,
)
from pulsus.errors import PlanInvalid
from pulsus.late_pattern import late_pattern

_ROUTE_ID = late_pattern(r"route-[0-9a-f]{8}")
_PLAN = "PLAN"


def name_module_file(route_id: str) -> str:
    """Return the file name of a route's module: `route-1a2b3c4d` gives `route_1a2b3c4d.py`."""
    if not _ROUTE_ID.fullmatch(route_id):
        raise ValueError(f"{route_id!r} is not a route id: write route- and eight hex digits")
    return route_id.replace("-", "_") + ".py"


def render_module(composed: Plan, tools: Iterable[ToolSpec]) -> str:
    """Return the source of a module whose `run` executes the plan `composed`.

    `tools` contains the tool of every step. Raises PlanInvalid if a tool is missing, if a step does
    not name it by its id, or if the step is pinned to other bytes.
    """
    by_id = {tool.id: tool for tool in tools}
    _check_pins(composed, by_id)
    _check_plain(composed)
    params = list_parameters(composed, by_id.values())
    text = render_plan_contract(composed, by_id, params, build_example(composed, by_id))
    variables = _name_results(composed)
    outputs = {
        OutputRef(step.id, name): "pulsus.steps.output("
        f"{variables[step.id]}, {write_text(key)}, step={write_text(step.id)})"
        for step in composed.steps
        for name, key in step.outputs.items()
    }
    return render_template(
        "composed_module.j2",
        docstring=write_docstring(text),
        imports=_list_imports(params),
        plan=write_literal(plan_to_dict(composed), taken=len("PLAN: dict[str, Any] = ")),
        signature=_render_signature(params),
        calls=[_render_call(step, composed, variables, outputs) for step in composed.steps],
        returned=_render_return(composed, outputs),
    )


def read_plan(code: bytes) -> Plan | None:
    """Return the plan in a composed module, or None for a module that is not composed.

    Raises PlanInvalid if `PLAN` is not a literal, is assigned twice, or breaks a rule of plans.
    """
    body = parse_module(code)
    if body is None or not any(imports_steps(node) for node in body):
        return None
    values = [
        value
        for node in body
        for target, value, _ in assignments(node)
        if isinstance(target, ast.Name) and target.id == _PLAN
    ]
    if not values:
        return None
    # With two values a reader and the interpreter could see different plans.
    if len(values) > 1:
        refuse(_PLAN, len(values), "it is assigned more than once", "compose the module again")
    try:
        data = python_parser.read_literal(values[0])
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise PlanInvalid(
            f"{_PLAN} in line {values[0].lineno} is not a literal: {error}",
            hint="compose the module again instead of editing it",
        ) from None
    return plan_from_dict(data)


def _check_pins(composed: Plan, tools: Mapping[str, ToolSpec]) -> None:
    for number, step in enumerate(composed.steps):
        place = f"plan.steps[{number}].tool"
        if step.tool not in tools:
            refuse(place, step.tool, "the tool is missing in the given tools", "write its whole id")
        if step.sha256 != tools[step.tool].sha256:
            refuse(place, step.sha256, "the step is not pinned to this tool", "plan again")


def _check_plain(composed: Plan) -> None:
    for number, step in enumerate(composed.steps):
        if uses_control(step):
            reason = "a module has only the keys of spec §6 and no expressions"
            refuse(f"plan.steps[{number}]", step.id, reason, "run the plan file: pulsus apply FILE")


def _name_results(composed: Plan) -> dict[str, str]:
    """Return a variable name for the result of each step, by step id.

    No name hides a parameter or the import of Pulsus.
    """
    names: dict[str, str] = {}
    # A parameter may be called s1 like a step.
    taken = {*RESERVED, *composed.params}
    for step in composed.steps:
        name = step.id
        while name in taken:
            name += "_"
        taken.add(name)
        names[step.id] = name
    return names


def _list_imports(params: Sequence[ArgSpec]) -> list[str]:
    text = " ".join(_render_annotation(param) for param in params)
    literal = ", Literal" if "Literal[" in text else ""
    path = ["from pathlib import Path"] if re.search(r"\bPath\b", text) else []
    return [*path, f"from typing import Any{literal}"]


def _render_annotation(param: ArgSpec) -> str:
    hint = type_hints.parse_hint(param.type_hint)
    text = type_hints.write_annotation(hint)
    implicit = param.default == "None" and not (hint.optional or hint.anything)
    return f"{text} | None" if implicit else text


def _render_parameter(param: ArgSpec) -> str:
    text = f"{param.name}: {_render_annotation(param)}"
    if param.required or param.default is None:
        return text
    return f"{text} = {write_literal(python_parser.read_literal(param.default))}"


def _render_signature(params: Sequence[ArgSpec]) -> str:
    ordered = sorted(params, key=lambda param: not param.required)
    return _wrap_call("def run", list(map(_render_parameter, ordered)), " -> dict[str, Any]:", 0)


def _render_call(
    step: PlanStep,
    composed: Plan,
    variables: Mapping[str, str],
    outputs: Mapping[OutputRef, str],
) -> str:
    args = [write_text(step.tool)]
    keywords = []
    for name, value in step.inputs.items():
        text = _render_value(name, value, outputs)
        # An argument of a tool may be called `class`: only a dict can pass it by name.
        if keyword.iskeyword(name):
            keywords.append(f"{write_text(name)}: {text}")
        else:
            args.append(f"{name}={text}")
    if keywords:
        args.append(f"**{{{', '.join(keywords)}}}")
    target = f"{variables[step.id]} = " if _is_used(step, composed) else ""
    return _wrap_call(f"{target}pulsus.steps.call", args, "", 4)


def _render_value(name: str, value: PlanValue, outputs: Mapping[OutputRef, str]) -> str:
    match value:
        case ParamRef(param):
            return param
        case OutputRef():
            return outputs[value]
        case Constant(constant):
            return write_literal(constant, indent=8, taken=len(name) + 2)
        case _:  # `_check_plain` refused it
            raise AssertionError(value)


def _render_return(composed: Plan, outputs: Mapping[OutputRef, str]) -> str:
    texts = {ref.output: text for ref, text in outputs.items()}
    items = [f"{write_text(name)}: {texts[name]}" for name in composed.returns]
    flat = f"    return {{{', '.join(items)}}}"
    if len(flat) <= WIDTH:
        return flat
    return "\n".join(("    return {", *(f"        {item}," for item in items), "    }"))


def _is_used(step: PlanStep, composed: Plan) -> bool:
    values = [value for other in composed.steps for value in other.inputs.values()]
    refs = {value.step for value in values if isinstance(value, OutputRef)}
    return step.id in refs or not set(composed.returns).isdisjoint(step.outputs)


def _wrap_call(head: str, items: Sequence[str], tail: str, indent: int) -> str:
    pad = " " * indent
    flat = f"{pad}{head}({', '.join(items)}){tail}"
    if len(flat) <= WIDTH and "\n" not in flat:
        return flat
    lines = (f"{pad}    {item}," for item in items)
    return "\n".join((f"{pad}{head}(", *lines, f"{pad}){tail}"))
