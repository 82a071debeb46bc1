"""Which of two equally good tools a plan takes (spec §14: hints to the planner). Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pulsus.core.compose.selection.selector import CLEARLY, Decision
from pulsus.core.types import Ranked, SubIntent


def preferred(
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

    return step_candidates.lacks([r.tool for r in steps])


def _other(
    step: Ranked, clause: SubIntent, hinted: Collection[str], taken: Collection[str], floor: float
) -> Ranked:
    least = max(floor, step.p - CLEARLY)
    fits = (r for r in clause.candidates if r.tool.id in hinted and r.tool.id not in taken)
    return next((r for r in fits if r.p >= least), step)
