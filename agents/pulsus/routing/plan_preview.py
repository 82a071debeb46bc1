"""Show what a decision would do, as a plan (spec §6). Pure.

The plan is built in `core/compose/plans/build_plan.py`. A preview of the whole decision is
`routing/route_preview.py`.
"""

from __future__ import annotations

from dataclasses import replace

from pulsus.core.types import Plan, RouteOutcome, ToolSpec

_INDEPENDENT = "independent results"


def compose_plan(description: str, tools: tuple[ToolSpec, ...], max_steps: int) -> Plan:
    """Return the plan that runs `tools` in order. Raises PlanUnwirable."""
    from pulsus.core.compose.plans import build_plan  # only where there is something to plan

    return build_plan.compose_plan(description, tools, max_steps=max_steps)


def mark_unconnected(outcome: RouteOutcome, plan: Plan | None) -> RouteOutcome:
    """Return the outcome with the steps of its plan that no output connects to the first.

    The note replaces an earlier one, because a value of the request may take a connection away.
    """
    if plan is None:
        return outcome
    from pulsus.core.compose.plans import unconnected_steps  # only where there is a plan

    loose = set(unconnected_steps.find_unconnected_steps(plan))
    if not loose:
        return outcome
    steps = tuple((step.id, step.tool) for step in plan.steps if step.id in loose)
    named = ", ".join(f"{step} ({tool})" for step, tool in steps)
    uses = "uses" if len(steps) == 1 else "use"
    first = plan.steps[0]
    note = f"{_INDEPENDENT}: {named} {uses} no result of {first.id} ({first.tool})"
    writes = {tool.id for tool in outcome.decision.selected if tool.kind == "write"}
    changing = [step for step, tool in steps if tool in writes]
    if changing:
        # A person who asks for a check before a change may take the change to depend on the check.
        note += f", so {' and '.join(changing)} may change something whatever {first.id} finds"
    notes = (each for each in outcome.notes if not each.startswith(_INDEPENDENT))
    return replace(outcome, unconnected=steps, notes=(*notes, note))


def with_plan(outcome: RouteOutcome, max_steps: int) -> RouteOutcome:
    """Return the outcome with a plan to show: a selected tool is a plan of one step."""
    decision, text = outcome.decision, outcome.intent.intent
    if not decision.selected:
        return outcome
    plan = decision.plan or compose_plan(text, decision.selected, max_steps)
    plan = with_filled_inputs(outcome, plan)
    return replace(outcome, decision=replace(decision, plan=plan))


def with_filled_inputs(outcome: RouteOutcome, plan: Plan) -> Plan:
    """Return the plan with a parameter for every input of a selected tool that has a value.

    In a composition the values have their parameters already.
    """
    if len(plan.steps) != 1 or len(outcome.decision.selected) != 1:
        return plan
    from pulsus.core.compose.plans import build_plan  # only where there is something to plan

    step, tool = plan.steps[0], outcome.decision.selected[0]
    known = {arg.name for arg in tool.args}
    wanted = [
        (step.id, name)
        for name, value in outcome.inputs.items()
        if name in known and value.source not in ("default", "wired")
    ]
    return build_plan.add_parameters(plan, outcome.decision.selected, wanted)
