"""Show what a decision would do, as a plan (spec §6). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pulsus.core.text.literals import cut_out_values
from pulsus.core.types import Plan, RouteOutcome, ToolSpec


def compose_plan(description: str, tools: tuple[ToolSpec, ...], max_steps: int) -> Plan:
    """Return the plan that runs `tools` in order. Raises PlanUnwirable."""
    from pulsus.core.compose.plans import planner  # only where there is something to plan

    return planner.compose_plan(description, tools, max_steps=max_steps)


def mark_unconnected(outcome: RouteOutcome, plan: Plan | None) -> RouteOutcome:
    """Return the outcome with the steps of its plan that no output connects to the first."""
    if plan is None:
        return outcome
    from pulsus.core.compose.plans import unconnected_steps  # only where there is a plan

    loose = set(unconnected_steps.find_unconnected_steps(plan))
    if not loose:
        return outcome
    steps = tuple((step.id, step.tool) for step in plan.steps if step.id in loose)
    named = ", ".join(f"{step} ({tool})" for step, tool in steps)
    note = f"not connected with the first step: {named}; no result passes between them"
    return replace(outcome, unconnected=steps, notes=(*outcome.notes, note))


def with_plan(outcome: RouteOutcome, max_steps: int) -> RouteOutcome:
    """Return the outcome with a plan to show: a selected tool is a plan of one step.

    A note names the values of the request that the plan does not use.
    """
    decision, text = outcome.decision, outcome.intent.intent
    if not decision.selected:
        return outcome
    plan = decision.plan or compose_plan(text, decision.selected, max_steps)
    notes = (*outcome.notes, *unused_inputs_note(text))
    return replace(outcome, decision=replace(decision, plan=plan), notes=notes)


def unused_inputs_note(request: str, inputs: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a note that what the request says of paths, hosts and numbers is no input by itself.

    None if it says no such value, or each is in `inputs`.
    """
    given = " ".join(inputs)
    values = [v.text for v in cut_out_values(request)[1] if v.text.strip("\"'`") not in given]
    if not values:
        return ()
    return (f"not used as inputs: {', '.join(values)}; give values with --input NAME=VALUE",)
