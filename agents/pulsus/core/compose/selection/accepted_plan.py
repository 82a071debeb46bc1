"""Compose again the steps of a plan that was accepted for the same request (spec §6). Pure.

The accepted plans are remembered in `core/memory/accepted_plans.py`.

A person reviewed and applied that plan, perhaps after editing it. The words alone may lead to
another one: "ready app.yaml for the launch" does not say which steps a team means by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.memory.accepted_plans import AcceptedPlan
from pulsus.core.memory.content_stems import list_content_stems
from pulsus.core.types import OutputRef, ParamRef, Plan, PlanStep, Ranked, SubIntent

RankTools = Callable[[Collection[str]], Sequence[Ranked]]
"""Ids → these tools ranked for the request; a tool that may not be used is left out."""


def find_accepted_plan(request: str, accepted: Sequence[AcceptedPlan]) -> AcceptedPlan | None:
    """Return the first accepted plan whose request has the same words in this order.

    Paths, numbers and other values may differ, because they are inputs of the plan.
    """
    wanted = list_content_stems(request)
    if not wanted:
        return None
    return next((plan for plan in accepted if list_content_stems(plan.request) == wanted), None)


def has_own_terms(plan: Plan) -> bool:
    """Return True if a plan says more than which tools run in which order.

    Conditions, repeats and values that are written into a step are lost if only its tools are
    composed again.
    """
    return any(_has_own_terms(step) for step in plan.steps)


def _has_own_terms(step: PlanStep) -> bool:
    given = (step.when, step.for_each, step.retry, step.timeout_s)
    wired = all(isinstance(value, ParamRef | OutputRef) for value in step.inputs.values())
    return given != (None,) * 4 or step.on_failure != "stop" or not wired


def lost_terms_note(accepted: AcceptedPlan | None, chosen: Sequence[Ranked]) -> tuple[str, ...]:
    """Return a note if a decision for the tools of an accepted plan loses what that plan said."""
    if accepted is None or not accepted.has_own_terms:
        return ()
    if tuple(ranked.tool.id for ranked in chosen) != accepted.tools:
        return ()
    return (
        f"made from the tools of {accepted.run_id}: the conditions and fixed values of its plan "
        "are not taken over; to keep them, pin its file again: pulsus plan --file FILE",
    )


def repeat_accepted_plan(
    request: str,
    ids: Sequence[str],
    choice: PolicyChoice,
    clauses: Sequence[SubIntent],
    rank: RankTools,
) -> tuple[PolicyChoice, tuple[SubIntent, ...]] | None:
    """Return the decision for these steps with a clause each; None if it is the decision already.

    None too if one of the tools is gone. A clause of the request is kept if there are as many
    clauses as steps; otherwise each step reads the whole request.
    """
    if tuple(ranked.tool.id for ranked in choice.chosen) == tuple(ids):
        return None
    by_id = {ranked.tool.id: ranked for ranked in rank(frozenset(ids))}
    if not by_id.keys() >= set(ids):
        return None
    steps = tuple(by_id[tool] for tool in ids)
    same = len(clauses) == len(steps)
    texts = [clause.text for clause in clauses] if same else [request] * len(steps)
    reason = f"{' + '.join(ids)}: a plan of these steps was accepted for the same request"
    found = tuple(SubIntent(text, (step,)) for text, step in zip(texts, steps, strict=True))
    return PolicyChoice("compose", steps, reason), found
