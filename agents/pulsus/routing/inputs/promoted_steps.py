"""Read the plan of a selected composition, so that its steps get values. Effect: reads its file.

A composition is found for a request in `core/compose/selection/promoted_plan.py`.
"""

from __future__ import annotations

from pulsus.core.types import Catalogue, RouteOutcome
from pulsus.errors import PlanInvalid
from pulsus.routing.inputs.plan_steps import PromotedPlan


def read_promoted_plan(outcome: RouteOutcome, catalogue: Catalogue) -> PromotedPlan | None:
    """Return the plan of the selected tool with its tools; None for a tool that is no composition.

    None also if the file cannot be read now, or calls a tool that the catalogue does not have: then
    running it fails with the reason.
    """
    decision = outcome.decision
    if decision.plan is not None or not decision.selected or not decision.selected[0].composed:
        return None
    from pulsus.core.compose.plans.module_source import read_plan  # only for a composition

    try:
        plan = read_plan(decision.selected[0].path.read_bytes())
    except (OSError, PlanInvalid):
        return None
    tools = [catalogue.get(step.tool) for step in plan.steps] if plan else []
    known = tuple(tool for tool in tools if tool is not None)
    return PromotedPlan(plan, known) if plan and len(known) == len(tools) else None
