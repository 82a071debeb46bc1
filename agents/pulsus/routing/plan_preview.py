"""What a decision would do, as a plan (spec §6). Pure."""

from __future__ import annotations

from dataclasses import replace

from pulsus.core.types import Plan, RouteOutcome, ToolSpec
from pulsus.routing import unused_inputs


def compose(description: str, tools: tuple[ToolSpec, ...], max_steps: int) -> Plan:
    """The plan that runs `tools` in order. Raises PlanUnwirable."""
    from pulsus.core.compose.plans import planner  # only where there is something to plan

    return planner.compose(description, tools, max_steps=max_steps)


def with_plan(outcome: RouteOutcome, max_steps: int) -> RouteOutcome:
    """The outcome with a plan to show: a selected tool is a plan of one step.

    A note names the values of the request that the plan does not use.
    """
    decision, text = outcome.decision, outcome.intent.intent
    if not decision.selected:
        return outcome
    plan = decision.plan or compose(text, decision.selected, max_steps)
    notes = (*outcome.notes, *unused_inputs.unused_inputs_note(text))
    return replace(outcome, decision=replace(decision, plan=plan), notes=notes)
