"""Choose to select, compose or generate for a request, by p and τ (spec §5, §6). Pure.

The threshold τ is `ranker.threshold` of `config/settings.py`; the least p of one step of a plan is
in `clause_search.py`. The search that calls it is `routing/search/searcher.py`, and the ranks and p
come from `core/rankers/`. `searcher.py` may replace the choice by a promoted or an accepted plan,
or add tools that produce an input. What follows from the choice is in `routing/route_outcome.py`.
An ambiguous request is asked about in `routing/clarify.py`, and a match that is too uncertain to
run unattended is refused in `approvals/unattended.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pulsus.core.types import Policy, Ranked, SubIntent
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A policy with its tools in order. `chosen` is empty for generate. `reason` is one line."""

    policy: Policy
    chosen: tuple[Ranked, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """Candidates, and whether the search was widened beyond the parsed domain and action."""

    candidates: tuple[Ranked, ...]
    widened: bool


RankTools = Callable[[Collection[str] | None], Sequence[Ranked]]
"""Ranks the tools of these ids (None = all), best first, with p over the whole catalogue."""


CLEAR_MARGIN = 0.02
"""By how much p a tool outside the parsed folder must exceed the folder's best tool to win."""


def narrow_then_widen(pool: Collection[str], rank: RankTools, *, tau: float) -> CandidateSet:
    """Return all candidates. The best tool of `pool` is first if it reaches τ.

    `pool` has the ids of the parsed folder. If its best tool is below τ, or a tool elsewhere is
    better by more than `CLEAR_MARGIN`, the order of the whole catalogue stays, and `widened` is
    True. With an empty pool `widened` is False, because there was no folder to leave.
    """
    found = tuple(rank(None))
    if not pool:
        return CandidateSet(found, widened=False)
    inside = next((r for r in found if r.tool.id in pool), None) or next(iter(rank(pool)), None)
    if inside is None or inside.p < tau or found[0].p - inside.p > CLEAR_MARGIN:
        return CandidateSet(found, widened=True)
    why = f"{inside.tool.id} is before it: it lies in the parsed folder"
    return CandidateSet(move_first([replace(inside, why_not=None)], found, why), widened=False)


def put_first(found: Sequence[Ranked], searched: CandidateSet, *, tau: float) -> CandidateSet:
    """Return the candidates with those of `found` first, if the best of them reaches τ."""
    if not found or found[0].p < tau:
        return searched
    why = f"{found[0].tool.id} is before it: it works on the given rows"
    return replace(searched, candidates=move_first(found, searched.candidates, why))


def decide_policy(
    candidates: Sequence[Ranked],
    subintents: Sequence[SubIntent],
    *,
    tau: float,
    slack: float,
    max_steps: int,
) -> PolicyChoice:
    """Return the policy for the candidates of a request and its clauses (`split_request`).

    - Compose if two or more clauses each have a best tool with p ≥ τ - slack, and all tools differ.
    - Select if the best tool of the whole request reaches τ.
    - Generate otherwise.

    A request for more than `max_steps` things is generated, because a shorter plan would leave out
    a part of it. The same applies if a step lacks an input, unless another tool can take its place
    (`step_candidates.py`).
    """
    floor = tau - slack
    tops = [clause.candidates[0] for clause in subintents if clause.candidates]
    distinct = len({top.tool.id for top in tops}) == len(tops) == len(subintents)
    if len(tops) > 1 and distinct and all(top.p >= floor for top in tops):
        return _decide_composition(tops, subintents, floor, max_steps)
    if candidates and candidates[0].p >= tau:
        best = candidates[0]
        return PolicyChoice(
            "select", (best,), f"{best.tool.id}: p {best.p:.2f} reaches τ {tau:.2f}"
        )
    return PolicyChoice("generate", (), _explain_no_candidate(candidates, tau))


def put_steps_first(candidates: Sequence[Ranked], choice: PolicyChoice) -> tuple[Ranked, ...]:
    """Return the candidates with the steps of the plan first.

    The steps keep the order in which the whole request ranks them; steps that only one clause found
    come last. So a request for one tool that was split by mistake still shows that tool first. Each
    step has the score of its clause. The order of execution is in the plan.
    """
    if choice.policy != "compose":
        return tuple(candidates)
    place = {r.tool.id: n for n, r in enumerate(candidates)}
    ordered = sorted(choice.chosen, key=lambda r: place.get(r.tool.id, len(place)))
    steps = [replace(r, why_not=None, tie_break=None) for r in ordered]
    return move_first(
        steps, candidates, f"{ordered[0].tool.id} is before it: it is a step of the plan"
    )


def put_chosen_first(
    subintents: Sequence[SubIntent], choice: PolicyChoice
) -> tuple[SubIntent, ...]:
    """Return the clauses with the chosen step of each before its other candidates."""
    if choice.policy != "compose":
        return tuple(subintents)
    return tuple(
        replace(clause, candidates=(step, *(r for r in clause.candidates if r is not step)))
        for clause, step in zip(subintents, choice.chosen, strict=True)
    )


def _decide_composition(
    tops: Sequence[Ranked], subintents: Sequence[SubIntent], floor: float, max_steps: int
) -> PolicyChoice:
    if len(tops) > max_steps:
        return PolicyChoice(
            "generate",
            (),
            f"the request asks for {len(tops)} steps, a plan has at most {max_steps}",
        )
    from pulsus.core.compose.selection import step_candidates  # only for a request with steps

    steps, notes = step_candidates.assign_steps(subintents, floor=floor)
    if len(steps) < len(subintents):
        return PolicyChoice("generate", (), "; ".join(notes))
    parts = (
        f"{clause.text!r} by {step.tool.id} (p {step.p:.2f})"
        for clause, step in zip(subintents, steps, strict=True)
    )
    reason = "; ".join((*parts, *notes))
    return PolicyChoice("compose", steps, f"each part reaches {floor:.2f}: {reason}")


def by_p(candidates: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Return the candidates, the highest p first. Those with the same p keep their order.

    Below τ the order of the ranks may be another one, because the values of a request change p and
    not the ranks.
    """
    return tuple(sorted(candidates, key=lambda ranked: -ranked.p))


def _explain_no_candidate(candidates: Sequence[Ranked], tau: float) -> str:
    if not candidates:
        return "no tool shares a word with the request"
    best = by_p(candidates)[0]
    odds = f"; {best.caution}" if best.caution else ""
    # A p of 0.5999 is below τ, and must not be shown as τ.
    digits = next((n for n in range(2, 17) if f"{best.p:.{n}f}" != f"{tau:.{n}f}"), 2)
    return (
        f"no candidate reaches τ {tau:.{digits}f}: the highest p is {best.p:.{digits}f}, "
        f"of {best.tool.id}{odds}"
    )


def prefer_hinted(
    choice: PolicyChoice, subintents: Sequence[SubIntent], hinted: Collection[str], *, floor: float
) -> PolicyChoice:
    """Replace steps of a composition by tools of `hinted` that are about as good.

    A hinted tool must itself reach `floor` (τ - slack), and its p may be lower by `CLEAR_MARGIN` at
    most. So a hint never makes a tool a step that could not be one. The decision stays unchanged if
    the policy is not compose, or if a later step would lose an input by the replacement.
    """
    if choice.policy != "compose" or not hinted:
        return choice
    taken = {ranked.tool.id for ranked in choice.chosen}
    steps: list[Ranked] = []
    replaced = []
    for step, clause in zip(choice.chosen, subintents, strict=True):
        found = (
            step if step.tool.id in hinted else _choose_hinted(step, clause, hinted, taken, floor)
        )
        if found is not step:
            taken = taken - {step.tool.id} | {found.tool.id}
            replaced.append(
                f"{found.tool.id} instead of {step.tool.id}, because the docs mention it"
            )
        steps.append(found)
    if not replaced:
        return choice
    from pulsus.core.compose.selection import step_candidates  # only for a request with steps

    if step_candidates.has_unfed_step([r.tool for r in steps]):
        return choice
    return replace(choice, chosen=tuple(steps), reason="; ".join((choice.reason, *replaced)))


def move_first(
    first: Sequence[Ranked], candidates: Sequence[Ranked], why: str
) -> tuple[Ranked, ...]:
    """Return `first` and then the other candidates, ranked anew. `why` explains the others."""
    ids = {r.tool.id for r in first}
    others = (replace(r, why_not=r.why_not or why) for r in candidates if r.tool.id not in ids)
    return tuple(replace(r, rank=n) for n, r in enumerate((*first, *others), start=1))


def _choose_hinted(
    step: Ranked, clause: SubIntent, hinted: Collection[str], taken: Collection[str], floor: float
) -> Ranked:
    least = max(floor, step.p - CLEAR_MARGIN)
    fits = (r for r in clause.candidates if r.tool.id in hinted and r.tool.id not in taken)
    return next((r for r in fits if r.p >= least), step)
