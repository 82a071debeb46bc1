"""What to do with the candidates: select, compose or generate (spec §5, §6). Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pulsus.core.types import Policy, Ranked, SubIntent
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """A policy and the tools it is about, in order; none for generate. `reason` is one line."""

    policy: Policy
    chosen: tuple[Ranked, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """Candidates, and whether choosing had to leave the parsed domain and action."""

    candidates: tuple[Ranked, ...]
    widened: bool


RankTools = Callable[[Collection[str] | None], Sequence[Ranked]]
"""Candidates among these tool ids (None = all), best first, with p over the whole catalogue."""


CLEAR_MARGIN = 0.02
"""How much surer a tool outside the parsed folder must be to win over the folder's best."""


def narrow_then_widen(pool: Collection[str], rank: RankTools, *, tau: float) -> CandidateSet:
    """All candidates, the best of `pool` (the parsed folder's ids) first if it reaches τ.

    Where it does not, or a tool elsewhere is surer by more than `CLEARLY`, the whole catalogue
    decides, and `widened` says so. False for an empty pool: there was nothing to leave.
    """
    found = tuple(rank(None))
    if not pool:
        return CandidateSet(found, widened=False)
    inside = next((r for r in found if r.tool.id in pool), None) or next(iter(rank(pool)), None)
    if inside is None or inside.p < tau or found[0].p - inside.p > CLEAR_MARGIN:
        return CandidateSet(found, widened=True)
    others = (
        replace(r, why_not=r.why_not or f"{inside.tool.id} is before it: in the parsed folder")
        for r in found
        if r.tool.id != inside.tool.id
    )
    first = replace(inside, why_not=None)
    ordered = (replace(r, rank=n) for n, r in enumerate((first, *others), start=1))
    return CandidateSet(tuple(ordered), widened=False)


def put_first(found: Sequence[Ranked], looked: CandidateSet, *, tau: float) -> CandidateSet:
    """The candidates with those of `found` first, if the best of them reaches τ."""
    if not found or found[0].p < tau:
        return looked
    ids = {r.tool.id for r in found}
    why = f"{found[0].tool.id} is before it: it works on rows at hand"
    others = (
        replace(r, why_not=r.why_not or why) for r in looked.candidates if r.tool.id not in ids
    )
    ordered = (replace(r, rank=n) for n, r in enumerate((*found, *others), start=1))
    return replace(looked, candidates=tuple(ordered))


def decide_policy(
    candidates: Sequence[Ranked],
    subintents: Sequence[SubIntent],
    *,
    tau: float,
    slack: float,
    max_steps: int,
) -> Decision:
    """The policy for a request's candidates and its clauses (`clauses.split`).

    Compose where two or more clauses each have a best tool with p ≥ τ - slack, all distinct;
    select where the request's best tool reaches τ; else generate. A request for more than
    `max_steps` things is generated: a plan that leaves steps out is not what was asked for. So is
    one with a step whose inputs are not there, unless another tool's are (step_candidates.py).
    """
    floor = tau - slack
    tops = [clause.candidates[0] for clause in subintents if clause.candidates]
    distinct = len({top.tool.id for top in tops}) == len(tops) == len(subintents)
    if len(tops) > 1 and distinct and all(top.p >= floor for top in tops):
        return _compose(tops, subintents, floor, max_steps)
    if candidates and candidates[0].p >= tau:
        best = candidates[0]
        return Decision("select", (best,), f"{best.tool.id}: p {best.p:.2f} reaches τ {tau:.2f}")
    return Decision("generate", (), _nothing(candidates, tau))


def put_steps_first(candidates: Sequence[Ranked], choice: Decision) -> tuple[Ranked, ...]:
    """The candidates with a plan's steps first, as they are for another policy.

    Steps stand among themselves as the whole request ranks them, those only a part of it found
    last: taken apart wrongly, a request for one tool still has that tool first. Each has the
    score of its part; the order of the plan is the plan's to show.
    """
    if choice.policy != "compose":
        return tuple(candidates)
    place = {r.tool.id: n for n, r in enumerate(candidates)}
    ordered = sorted(choice.chosen, key=lambda r: place.get(r.tool.id, len(place)))
    steps = {r.tool.id: replace(r, why_not=None, tie_break=None) for r in ordered}
    others = (
        replace(r, why_not=r.why_not or f"{ordered[0].tool.id} is before it: a step")
        for r in candidates
        if r.tool.id not in steps
    )
    return tuple(replace(r, rank=n) for n, r in enumerate((*steps.values(), *others), start=1))


def put_chosen_first(subintents: Sequence[SubIntent], choice: Decision) -> tuple[SubIntent, ...]:
    """The clauses, each with its step of a plan before its other candidates."""
    if choice.policy != "compose":
        return tuple(subintents)
    return tuple(
        replace(clause, candidates=(step, *(r for r in clause.candidates if r is not step)))
        for clause, step in zip(subintents, choice.chosen, strict=True)
    )


def _compose(
    tops: Sequence[Ranked], subintents: Sequence[SubIntent], floor: float, max_steps: int
) -> Decision:
    if len(tops) > max_steps:
        return Decision(
            "generate",
            (),
            f"the request asks for {len(tops)} steps, a plan has at most {max_steps}",
        )
    from pulsus.core.compose.selection import (
        step_candidates,  # only where there is something to plan
    )

    found = step_candidates.assign_steps(subintents, floor=floor)
    if not found.whole:
        return Decision("generate", (), "; ".join(found.notes))
    parts = (
        f"{clause.text!r} by {step.tool.id} (p {step.p:.2f})"
        for clause, step in zip(subintents, found.chosen, strict=True)
    )
    reason = "; ".join((*parts, *found.notes))
    return Decision("compose", found.chosen, f"each part reaches {floor:.2f}: {reason}")


def _nothing(candidates: Sequence[Ranked], tau: float) -> str:
    if not candidates:
        return "no tool shares a word with the request"
    best = candidates[0]
    odds = f"; {best.caution}" if best.caution else ""
    return f"no candidate reaches τ {tau:.2f}: best is {best.tool.id} with p {best.p:.2f}{odds}"


def prefer_hinted(
    choice: Decision, subintents: Sequence[SubIntent], hinted: Collection[str], *, floor: float
) -> Decision:
    """The same composition, each step by a tool of `hinted` where one is as good as the chosen.

    As good: it reaches `floor` (τ - slack) itself and its p is less by `CLEARLY` at most. A hint
    thus never makes a step, and any other policy is returned as it is. So is a composition whose
    later steps would lack an input without the tool that is replaced.
    """
    if choice.policy != "compose" or not hinted:
        return choice
    taken = {ranked.tool.id for ranked in choice.chosen}
    steps: list[Ranked] = []
    said = []
    for step, clause in zip(choice.chosen, subintents, strict=True):
        found = step if step.tool.id in hinted else _other(step, clause, hinted, taken, floor)
        if found is not step:
            taken = taken - {step.tool.id} | {found.tool.id}
            said.append(f"{found.tool.id} rather than {step.tool.id}, as the docs have it")
        steps.append(found)
    if not said or _lacks(steps):
        return choice
    return replace(choice, chosen=tuple(steps), reason="; ".join((choice.reason, *said)))


def _lacks(steps: Sequence[Ranked]) -> bool:
    from pulsus.core.compose.selection import (
        step_candidates,  # only where there is something to plan
    )

    return step_candidates.has_unfed_step([r.tool for r in steps])


def _other(
    step: Ranked, clause: SubIntent, hinted: Collection[str], taken: Collection[str], floor: float
) -> Ranked:
    least = max(floor, step.p - CLEAR_MARGIN)
    fits = (r for r in clause.candidates if r.tool.id in hinted and r.tool.id not in taken)
    return next((r for r in fits if r.p >= least), step)
