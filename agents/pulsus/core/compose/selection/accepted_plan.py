"""Compose again the steps of a plan that was accepted for the same request (spec §6). Pure.

A person reviewed and applied that plan, perhaps after editing it. The words alone may lead to
another one: "ready app.yaml for the launch" does not say which steps a team means by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.compose.selection.promoted_plan import list_content_stems
from pulsus.core.types import Ranked, SubIntent

RankTools = Callable[[Collection[str]], Sequence[Ranked]]
"""Ids → these tools ranked for the request; a tool that may not be used is left out."""


def find_accepted_steps(
    request: str, accepted: Sequence[tuple[str, tuple[str, ...]]]
) -> tuple[str, ...]:
    """Return the tools of the first accepted plan whose request has the same words in this order.

    `accepted` are requests with the ids of their steps. Paths, numbers and other values may differ,
    because they are inputs of the plan. Empty without such a plan.
    """
    wanted = list_content_stems(request)
    if not wanted:
        return ()
    return next((ids for text, ids in accepted if list_content_stems(text) == wanted), ())


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
