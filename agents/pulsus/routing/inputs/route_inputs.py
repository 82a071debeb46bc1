"""Give every input of a decision its value and say where it came from (spec §6). Pure.

The first source that has a value counts: `option` (`--input`), `wired` (an earlier step), `request`
(its words), `default`. A value of the request is used only if it is sure. What a writing tool
changes is never taken from words alone: such a value is proposed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.filler import FilledValue, Filling
from pulsus.core.arguments.step_filler import fill_steps
from pulsus.core.compose.plans.planner import list_parameters
from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.types import (
    ArgSpec,
    InputValue,
    JsonValue,
    OutputRef,
    ParamRef,
    ParsedIntent,
    RouteDecision,
    RouteOutcome,
    ToolSpec,
)
from pulsus.errors import PlanUnwirable
from pulsus.execution.inputs import parse_inputs
from pulsus.routing import plan_preview

if TYPE_CHECKING:
    from pulsus.routing.search.searcher import SearchResult


def decision_arguments(outcome: RouteOutcome) -> tuple[ArgSpec, ...]:
    """Return the arguments of what was decided: of the plan, or of the selected tool."""
    decision = outcome.decision
    if decision.plan:
        return list_parameters(decision.plan, decision.selected)
    return decision.selected[0].args if decision.selected else ()


def with_inputs(
    outcome: RouteOutcome, pairs: Sequence[str], *, fill: bool, now: datetime
) -> RouteOutcome:
    """Return the outcome with its inputs, what is missing, proposed and not used.

    `pairs` are the `--input` texts. Without `fill` the request is not read for values. Raises
    UsageError for a pair that does not fit.
    """
    if not outcome.decision.selected:
        return outcome
    args = decision_arguments(outcome)
    given = parse_inputs(pairs, [replace(arg, required=False) for arg in args])
    found, unused = _read_request(outcome, given, now) if fill else ({}, ())
    hints = {arg.name: type_hints.parse_hint(arg.type_hint) for arg in args}
    fitting = {
        name: value
        for name, value in found.items()
        if name in hints and type_compatibility.accepts(hints[name], value.value)
    }
    inputs = {name: InputValue(value, "option") for name, value in given.items()}
    inputs |= {
        name: InputValue(value.value, "request", value.text, value.p)
        for name, value in fitting.items()
        if value.state == "fill"
    }
    inputs |= {a.name: d for a in args if a.name not in inputs and (d := _default(a)) is not None}
    named = [arg for arg in args if not arg.kind.startswith("var_")]
    dropped = tuple(value.text for name, value in found.items() if name not in fitting)
    return replace(
        outcome,
        inputs={**{a.name: inputs[a.name] for a in named if a.name in inputs}, **_wired(outcome)},
        missing=tuple(arg for arg in named if arg.required and arg.name not in inputs),
        proposed={
            name: InputValue(value.value, "request", value.text, value.p)
            for name, value in fitting.items()
            if value.state == "propose"
        },
        unused=_not_given((*unused, *dropped), given),
    )


def inputs_of_search(
    intent: ParsedIntent, found: SearchResult, *, max_steps: int, now: datetime
) -> dict[str, InputValue]:
    """Return the inputs that a route with this search result fills, as `named_inputs` names them.

    Empty if no tool was chosen, or if no plan can be made of the chosen ones.
    """
    choice = found.choice
    tools = tuple(ranked.tool for ranked in choice.chosen)
    try:
        several = choice.policy == "compose"
        plan = plan_preview.compose_plan(intent.intent, tools, max_steps) if several else None
    except PlanUnwirable:
        return {}
    outcome = RouteOutcome(
        run_id="",
        intent=intent,
        decision=RouteDecision("", choice.policy, tools, plan, choice.reason),
        candidates=found.candidates,
        tau=0.0,
        widened=found.widened,
        subintents=found.subintents,
    )
    return named_inputs(with_inputs(outcome, (), fill=True, now=now))


def named_inputs(outcome: RouteOutcome) -> dict[str, InputValue]:
    """Return every input that has a value by its own name, in a plan as `TOOL.INPUT`."""
    plan = outcome.decision.plan
    if plan is None:
        return dict(outcome.inputs)
    by_id = {tool.id: tool for tool in outcome.decision.selected}
    found: dict[str, InputValue] = {}
    for step in plan.steps:
        tool = by_id[step.tool]
        for arg in tool.args:
            source = step.inputs.get(arg.name)
            if isinstance(source, ParamRef):
                value = outcome.inputs.get(source.name)
            elif source is None:
                value = _default(arg)
            else:
                value = outcome.inputs.get(f"{step.id}.{arg.name}")
            if value is not None:
                found.setdefault(f"{tool.name}.{arg.name}", value)
    return found


def call_values(outcome: RouteOutcome) -> dict[str, JsonValue]:
    """Return the values to call the decision with; defaults and wired inputs are left to it."""
    return {
        name: value.value
        for name, value in outcome.inputs.items()
        if value.source in ("option", "request", "answer")
    }


def _read_request(
    outcome: RouteOutcome, given: Mapping[str, JsonValue], now: datetime
) -> tuple[dict[str, FilledValue], tuple[str, ...]]:
    """Return the values of the request by parameter, and the values that nothing took."""
    decision = outcome.decision
    steps = decision_steps(outcome)
    clauses = decision_clauses(outcome, [tool for tool, _ in steps])
    fillings = fill_steps(
        outcome.intent.intent,
        [from_arguments(tool.args, tool.id, tool.summary) for tool, _ in steps],
        clauses,
        fixed=[
            {arg.name for arg in tool.args if names.get(arg.name, "") in ("", *given)}
            for tool, names in steps
        ],
        now=now,
    )
    found: dict[str, FilledValue] = {}
    for (tool, names), filling in zip(steps, fillings, strict=True):
        for value in filling.values:
            # What a tool changes is never taken from words alone (spec: the caller confirms it).
            sure = value if tool.kind != "write" else replace(value, state="propose")
            name = names[value.name]
            if name not in found:
                found[name] = replace(sure, name=name)
    return found, _unused(fillings, single=decision.plan is None)


def decision_steps(outcome: RouteOutcome) -> list[tuple[ToolSpec, dict[str, str]]]:
    """Return each tool with the parameter that each of its open inputs takes its value from."""
    decision = outcome.decision
    by_id = {tool.id: tool for tool in decision.selected}
    if decision.plan is None:
        tool = decision.selected[0]
        return [(tool, {arg.name: arg.name for arg in tool.args})]
    return [
        (
            by_id[step.tool],
            {n: value.name for n, value in step.inputs.items() if isinstance(value, ParamRef)},
        )
        for step in decision.plan.steps
        if step.tool in by_id
    ]


def decision_clauses(outcome: RouteOutcome, tools: Sequence[ToolSpec]) -> list[str]:
    """Return the part of the request that each tool answers; all of it where that is not known."""
    if len(tools) == 1:
        return [outcome.intent.intent]
    parts = {sub.candidates[0].tool.id: sub.text for sub in outcome.subintents if sub.candidates}
    return [parts[tool.id] for tool in tools] if all(t.id in parts for t in tools) else []


def _unused(fillings: Sequence[Filling], *, single: bool) -> tuple[str, ...]:
    """Return the values that no step took: each clause names those of its own part."""
    taken = {value.text for filling in fillings for value in filling.values}
    named = dict.fromkeys(text for filling in fillings for text in filling.unused)
    return tuple(text for text in named if single or text not in taken)


def _not_given(texts: Sequence[str], given: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the texts that `--input` does not give either."""
    values = {str(value) for value in given.values()}
    return tuple(text for text in dict.fromkeys(texts) if text not in values)


def _default(arg: ArgSpec) -> InputValue | None:
    if arg.default is None or arg.kind.startswith("var_"):
        return None
    try:
        return InputValue(ast.literal_eval(arg.default), "default")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return InputValue(arg.default, "default")


def _wired(outcome: RouteOutcome) -> dict[str, InputValue]:
    """Return the inputs that an earlier step feeds, as `step.input` with `step.output`."""
    plan = outcome.decision.plan
    return {
        f"{step.id}.{name}": InputValue(f"{value.step}.{value.output}", "wired")
        for step in (plan.steps if plan else ())
        for name, value in step.inputs.items()
        if isinstance(value, OutputRef)
    }
