"""Turn the choice of a search into a RouteOutcome with its plan and notes (spec §6).

`decide_policy` in `core/compose/selection/choose_policy.py` has chosen between select, compose and
generate before. One change of its choice is made here: a plan that cannot be wired, or a forced
generation, becomes generate. `pulsus explain` shows the same outcome. A request is refused here if
a part that asks for a change is in no step (`PART_LEFT_OUT`), or if a write would change what is
excluded. The outcome is carried out in `routing/apply_decision.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.rankers.effect_mismatch import commands
from pulsus.core.types import (
    ParsedIntent,
    PendingCandidate,
    Policy,
    RouteDecision,
    RouteOutcome,
    ToolSpec,
)
from pulsus.errors import InputUnclear, PartLeftOut, PlanUnwirable
from pulsus.routing import generation_refusal, plan_preview
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.inputs.unfollowed_exclusions import is_exclusion
from pulsus.routing.search.search_result import SearchResult

if TYPE_CHECKING:
    from pulsus.routing.delivery.project_protocol import Project


def decide_route(
    run: RouteRun,
    intent: ParsedIntent,
    found: SearchResult,
    pending: Sequence[PendingCandidate],
) -> RouteOutcome:
    """Return the outcome with the policy, its tools and plan, and write the event `decide`.

    `pending` are the candidates that earlier runs of this request left.
    Without a tool it has a failure. A plan that cannot be wired is left to the generator if a model
    is configured; otherwise PlanUnwirable is raised.
    """
    project, choice = run.project, found.choice
    if run.options.wanted.forced:
        choice = replace(choice, policy="generate", chosen=(), reason="a new tool was asked for")
    plan = None
    if choice.policy == "compose":
        tools = tuple(ranked.tool for ranked in choice.chosen)
        try:
            plan = plan_preview.compose_plan(
                intent.intent, tools, project.settings.compose.max_steps
            )
        except PlanUnwirable as error:
            if not project.settings.model.base_url:
                raise
            # More than glue is needed: the planner defers to the generator (spec §6).
            reason = f"no plan: {error.message}"
            choice = replace(choice, policy="generate", chosen=(), reason=reason)
    outcome = undelivered_outcome(project, intent, replace(found, choice=choice), run.route_id)
    outcome = plan_preview.mark_unconnected(outcome, plan)
    decision = replace(outcome.decision, plan=plan)
    failure = (
        None
        if decision.selected
        else generation_refusal.no_tool_failure(run, found, choice.reason, pending)
    )
    run.trace.event(
        "decide",
        policy=choice.policy,
        decision=choice.reason,
        selected=[tool.id for tool in decision.selected],
    )
    trace = run.trace
    return replace(
        outcome,
        run_id=trace.run_id,
        logged=trace.is_written,
        decision=decision,
        failure=failure,
        given=run.options.wanted.given_place(run.redact),
    )


def undelivered_outcome(
    project: Project, intent: ParsedIntent, found: SearchResult, route_id: str
) -> RouteOutcome:
    """Return the outcome of a search before anything is planned, generated or delivered."""
    choice, settings = found.choice, project.settings.ranker
    tools = tuple(ranked.tool for ranked in choice.chosen)
    return RouteOutcome(
        run_id="",
        intent=intent,
        decision=RouteDecision(route_id, choice.policy, tools, None, choice.reason),
        candidates=found.candidates,
        tau=settings.threshold,
        widened=found.widened,
        subintents=found.subintents,
        shadowed=project.catalogue.shadowed,
        weights=dict(settings.weights),
        tie_tolerance=settings.tie_tolerance if settings.engine == "lexical" else 0.0,
        uncovered=(*found.unplaced, *(p for p in found.repeated if p not in found.unplaced)),
        repeated=found.repeated,
        notes=(
            *(_repeated_call(tools, part) for part in found.repeated),
            *(f"{_nothing_for(choice.policy)} the part {part!r}" for part in found.unplaced),
            *found.notes,
        ),
    )


def refuse_lost_change(outcome: RouteOutcome) -> RouteOutcome:
    """Return the outcome with a failure if a part that asks for a change is in none of its steps.

    A plan without the change would be reviewed and applied as if it were whole. A part that only
    reads stays a note.
    """
    lost = [part for part in outcome.uncovered if commands(part)]
    if not lost or not outcome.decision.selected:
        return outcome
    named = " and ".join(map(repr, lost))
    asks = "asks" if len(lost) == 1 else "ask"
    failure = PartLeftOut(
        f"{named} {asks} for a change that no step makes, so the rest is not done either",
        hint=f"ask for it in a request of its own (`pulsus explain {shlex.quote(lost[0])}` shows "
        "the nearest tools), and for the rest without it",
        parts=lost,
    )
    return replace(outcome, failure=failure)


def refuse_lost_exclusion(outcome: RouteOutcome) -> RouteOutcome:
    """Return the outcome with a failure if a tool that writes would also change what is excluded.

    For runs and plans that no person confirms together with the words that are left out.
    """
    lost = [words for words in outcome.left_out if is_exclusion(words)]
    if not lost or all(tool.kind != "write" for tool in outcome.decision.selected):
        return outcome
    named = " and ".join(map(repr, lost))
    failure = InputUnclear(
        f"not done: no input follows {named}, so what you exclude could be changed too",
        hint=f"leave out {named}, and narrow the rest with --input{_such_as(outcome)}",
        unclear=[{"words": words} for words in lost],
    )
    return replace(outcome, failure=failure)


def _such_as(outcome: RouteOutcome) -> str:
    """Return an input that narrows what the tool changes, for a hint, or nothing."""
    tools = (tool for tool in outcome.decision.selected if tool.kind == "write")
    found = (one for tool in tools for one in from_arguments(tool.args, tool.name, "").inputs)
    name = next((one.name for one in found if one.role == "pattern" and not one.required), "")
    return f", such as --input {name}=…" if name else " NAME=VALUE"


def _repeated_call(tools: Sequence[ToolSpec], part: str) -> str:
    called = tools[0].id if len(tools) == 1 else "each tool of a plan"
    return (
        f"{called} is called once: the part {part!r} asks for a second call and is left out; "
        "ask for it in a request of its own"
    )


def _nothing_for(policy: Policy) -> str:
    return "no step of the plan covers" if policy == "compose" else "no tool was found for"
