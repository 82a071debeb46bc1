"""The steps of a decision: their open inputs, their clauses, and the columns they get. Pure.

The plan itself is built in `core/compose/plans/build_plan.py`, and steps are connected in
`core/compose/plans/wiring.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.inputs import Fillable
from pulsus.core.arguments.rows.columns import Column, read_columns
from pulsus.core.arguments.rows.row_inputs import RowInputs, read_row_inputs
from pulsus.core.compose.plans import build_plan
from pulsus.core.contract import type_hints
from pulsus.core.types import (
    ArgSpec,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    RouteDecision,
    RouteOutcome,
    ToolSpec,
)
from pulsus.fast_dataclass import dataclass
from pulsus.routing import plan_preview


@dataclass(frozen=True, slots=True)
class StepInputs:
    """One call of a tool.

    `names` maps an input to the parameter of the plan that it takes its value from. `wired` are
    inputs that an earlier step feeds. `inputs` is the tool as the filler reads it. `columns` are
    those of the rows that the step gets, `about` the stems of what these rows are, and `clause` is
    its part of the request, "" if that is not known. The plan `extends` to new parameters unless it
    is promoted already.
    """

    id: str
    tool: ToolSpec
    names: Mapping[str, str]
    wired: frozenset[str]
    inputs: Fillable
    columns: tuple[Column, ...] = ()
    about: frozenset[str] = frozenset()
    clause: str = ""
    extends: bool = True

    @property
    def fixed(self) -> frozenset[str]:
        """Return the inputs that no value of the request can reach.

        An optional input without a parameter can get one if its default is a constant.
        """
        closed = (
            arg.name
            for arg in self.tool.args
            if arg.kind.startswith("var_")
            or (arg.name not in self.names and not self._can_extend(arg))
        )
        return self.wired.union(closed)

    @property
    def row_inputs(self) -> RowInputs:
        """Return what the inputs mean for rows; nothing if no rows with known columns feed it."""
        if not self.columns:
            return RowInputs()
        return read_row_inputs(self.inputs.inputs, self.tool.args)

    def _can_extend(self, arg: ArgSpec) -> bool:
        return self.extends and type_hints.is_plain(arg.default)


@dataclass(frozen=True, slots=True)
class PromotedPlan:
    """The plan of a promoted composition, and the tools of its steps."""

    plan: Plan
    tools: tuple[ToolSpec, ...]


def list_steps(outcome: RouteOutcome, promoted: PromotedPlan | None = None) -> list[StepInputs]:
    """Return the steps of what was decided: those of the plan, or the selected tool.

    `promoted` is the plan of a selected tool that is a composition.
    """
    decision = outcome.decision
    if decision.plan:
        return _plan_steps(outcome, decision.plan, decision.selected, extends=True)
    if promoted:
        return _plan_steps(outcome, promoted.plan, promoted.tools, extends=False)
    tool = decision.selected[0]
    named = {arg.name: arg.name for arg in tool.args}
    only = StepInputs("", tool, named, frozenset(), _fillable(tool))
    return [replace(only, clause=_without(outcome.intent.intent, outcome.uncovered))]


def readable_request(outcome: RouteOutcome) -> str:
    """Return the request with a comma in place of each part whose values belong to no input.

    These are parts that ask for a second call, and for a tool that writes all parts that nothing
    covers: "count the levels in a.log, then delete the files in old" deletes nothing in `a.log`.
    """
    decision = outcome.decision
    writes = decision.plan is None and decision.selected[0].kind == "write"
    return _without(outcome.intent.intent, outcome.uncovered if writes else outcome.repeated)


def _without(request: str, parts: Sequence[str]) -> str:
    for part in parts:
        request = request.replace(part, ",".ljust(len(part)), 1)
    return request


def _plan_steps(
    outcome: RouteOutcome, plan: Plan, tools: Sequence[ToolSpec], *, extends: bool
) -> list[StepInputs]:
    by_id = {tool.id: tool for tool in tools}
    clauses = _clauses(outcome, tools)
    steps: dict[str, StepInputs] = {}
    for step in plan.steps:
        if step.tool not in by_id:
            continue
        tool = by_id[step.tool]
        columns, about = _columns(step, plan.steps, steps)
        steps[step.id] = StepInputs(
            id=step.id,
            tool=tool,
            names={n: v.name for n, v in step.inputs.items() if isinstance(v, ParamRef)},
            wired=frozenset(n for n, v in step.inputs.items() if not isinstance(v, ParamRef)),
            inputs=_fillable(tool),
            columns=columns,
            about=about,
            clause=_without(clauses.get(tool.id, ""), outcome.repeated),
            extends=extends,
        )
    return list(steps.values())


def decision_arguments(decision: RouteDecision) -> tuple[ArgSpec, ...]:
    """Return the arguments of what was decided: of the plan, or of the selected tool."""
    if decision.plan:
        return build_plan.list_parameters(decision.plan, decision.selected)
    return decision.selected[0].args if decision.selected else ()


def with_parameters(outcome: RouteOutcome, wanted: Sequence[tuple[str, str]]) -> RouteOutcome:
    """Return the outcome, its plan with a parameter for each (step id, optional input)."""
    decision = outcome.decision
    if decision.plan is None or not wanted:
        return outcome
    plan = build_plan.add_parameters(decision.plan, decision.selected, wanted)
    return replace(outcome, decision=replace(decision, plan=plan))


def with_separate_parameters(
    outcome: RouteOutcome, wanted: Sequence[tuple[str, str]]
) -> RouteOutcome:
    """Return the outcome, its plan with a parameter of its own for each (step id, input)."""
    decision = outcome.decision
    if decision.plan is None or not wanted:
        return outcome
    plan = build_plan.separate_parameters(decision.plan, decision.selected, wanted)
    changed = replace(outcome, decision=replace(decision, plan=plan))
    return plan_preview.mark_unconnected(changed, plan)


def _fillable(tool: ToolSpec) -> Fillable:
    return from_arguments(tool.args, tool.id, tool.summary)


def _clauses(outcome: RouteOutcome, tools: Sequence[ToolSpec]) -> dict[str, str]:
    """Return the part of the request that each tool answers; empty if one is not known."""
    parts = {sub.candidates[0].tool.id: sub.text for sub in outcome.subintents if sub.candidates}
    known = all(tool.id in parts for tool in tools)
    return parts if known else {}


def _columns(
    step: PlanStep, plan: Sequence[PlanStep], before: Mapping[str, StepInputs]
) -> tuple[tuple[Column, ...], frozenset[str]]:
    """Return the columns of the rows that feed a step, and the stems of what they are about.

    A tool that only chooses among rows names no columns: its rows have those that it got itself.
    """
    keys = {(one.id, name): key for one in plan for name, key in one.outputs.items()}
    for value in step.inputs.values():
        source = before.get(value.step) if isinstance(value, OutputRef) else None
        if source is None or not isinstance(value, OutputRef):
            continue
        key = keys.get((value.step, value.output), value.output)
        output = next((one for one in source.tool.returns if one.name == key), None)
        if output is None:
            continue
        if source.columns and "`" not in output.description:
            return source.columns, source.about
        columns = read_columns(key, output.description, source.tool.examples)
        if columns:
            return columns, source.inputs.own
    return (), frozenset()
