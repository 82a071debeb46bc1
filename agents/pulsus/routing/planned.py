"""What a decision would do, as a plan (spec §6). Pure."""

from __future__ import annotations

from dataclasses import replace

from pulsus.core.types import Plan, RouteOutcome, ToolSpec


def compose(description: str, tools: tuple[ToolSpec, ...], max_steps: int) -> Plan:
    """The plan that runs `tools` in order. Raises PlanUnwirable."""
    from pulsus.core.compose import planner  # only where there is something to plan

    return planner.compose(description, tools, max_steps=max_steps)


def with_plan(outcome: RouteOutcome, max_steps: int) -> RouteOutcome:
    """The outcome with a plan to show: a selected tool is a plan of one step."""
    decision = outcome.decision
    if decision.plan or not decision.selected:
        return outcome
    plan = compose(outcome.intent.intent, decision.selected, max_steps)
    return replace(outcome, decision=replace(decision, plan=plan))
