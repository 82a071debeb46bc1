"""Find the composition that was promoted for the same request (spec §6). Pure.

A person approved that composition, and its records say how it ran. A new one from the same steps
would have to be proven and approved again. A plan that was only accepted is found in
`accepted_plan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pulsus.core.compose.selection.choose_policy import PolicyChoice, move_first
from pulsus.core.memory.content_stems import list_content_stems
from pulsus.core.types import Ranked


def find_promoted_plan(request: str, candidates: Sequence[Ranked]) -> Ranked | None:
    """Return the composition whose request has the same words in the same order; None without one.

    Paths, numbers and other values may differ, because they are inputs of the composition. A
    composition that was wrong for such a request before is not returned.
    """
    wanted = list_content_stems(request)
    if not wanted:
        return None
    same = (
        r for r in candidates if r.tool.composed and list_content_stems(r.tool.summary) == wanted
    )
    return next((r for r in same if not any(vote.weight < 0 for vote in r.votes)), None)


def select_promoted_plan(
    again: Ranked, candidates: Sequence[Ranked], choice: PolicyChoice
) -> tuple[PolicyChoice, tuple[Ranked, ...]]:
    """Return the decision for this composition, and the candidates with it in front.

    Its p is at least that of the plan it stands for: the lowest p of the steps chosen now.
    """
    steps = [step.p for step in choice.chosen] if choice.policy == "compose" else []
    best = replace(again, p=max(again.p, min(steps, default=0.0)), why_not=None, tie_break=None)
    why = f"{best.tool.id} is before it: it was promoted for the same request"
    ordered = move_first([best], candidates, why)
    reason = f"{best.tool.id}: this composition was promoted for the same request"
    return PolicyChoice("select", ordered[:1], reason), ordered
