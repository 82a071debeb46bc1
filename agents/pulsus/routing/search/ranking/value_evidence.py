"""Raise the p of a read tool whose inputs take the values of the request (spec §5, ADR 40). Pure.

Words alone leave many requests just below τ: `AAAA of mirror.example.net, wait 2 s` names no word
of `dns_lookup` but a host and a duration that it takes. The weights were fitted by
scripts/fit_value_evidence.py on golden requests and five lots (docs/benchmarks.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.filler import fill
from pulsus.core.types import Ranked, ToolSpec
from pulsus.fast_dataclass import dataclass

MOST_COMPARED: Final = 8
"""The candidates whose inputs are read; those behind them are never raised."""
MOST_RAISED: Final = 5
SURE_BY_WORDS: Final = 0.9
"""From this p on nothing is looked at. Between τ and it only the first tool may become surer, so
that a past route, which lifts it above τ, never makes it less sure than it was without.
"""
LEAST_BY_WORDS: Final = 0.02
"""A tool whose words say less is never raised: a host and a port alone do not ask for it."""
_SURE: Final = 0.8
_MOST_UNUSED: Final = 1
_MOST_COUNTED: Final = 4
_LEAST_P: Final = 1e-4

INTERCEPT: Final = -2.45
WEIGHTS: Final = {
    "odds": 0.46,
    "odds_lead": 0.35,
    "nothing_required": -0.17,
    "taken": -0.13,
    "sure": 1.15,
    "mass_lead": 2.07,
    "first": 1.53,
}


@dataclass(frozen=True, slots=True)
class TakenValues:
    """The values of a request that the inputs of one tool take.

    `mass` is the sum of the probabilities of `names`, and `sure` counts those of at least 0.8.
    `missing` counts required inputs without a value, `unused` the values that no input takes.
    """

    names: tuple[str, ...]
    mass: float
    sure: int
    missing: int
    unused: int
    required: int

    @property
    def suits(self) -> bool:
        """Return True if nothing required is missing and hardly a value is left over."""
        return self.missing == 0 and self.sure > 0 and self.unused <= _MOST_UNUSED


def with_value_evidence(
    request: str, candidates: Sequence[Ranked], *, tau: float, now: datetime | None = None
) -> tuple[Ranked, ...]:
    """Return the candidates, where one that takes the values of the request may be raised.

    If the first reaches `tau` already, only that one may be raised. A tool that writes is never
    raised, nor one that does other than the request asks (`caution`). Of those raised the best
    becomes the first.
    """
    if not candidates or candidates[0].p >= SURE_BY_WORDS:
        return tuple(candidates)
    most_raised = 1 if candidates[0].p >= tau else MOST_RAISED
    compared = [r for r in candidates[:MOST_COMPARED] if not r.tool.composed]
    taken = {
        place: take_values(request, ranked.tool, now)
        for place, ranked in enumerate(compared[:most_raised])
        if not ranked.caution and ranked.tool.kind == "read" and ranked.p >= LEAST_BY_WORDS
    }
    suiting = [place for place, own in taken.items() if own.suits]
    if not suiting:
        return tuple(candidates)
    values = [
        taken[place] if place in taken else take_values(request, ranked.tool, now)
        for place, ranked in enumerate(compared)
    ]
    raised: dict[str, float] = {}
    for place in suiting:
        p = probability(evidence_signals(compared, values, place))
        if p > compared[place].p:
            raised[compared[place].tool.id] = p
    if not raised:
        return tuple(candidates)
    best = max(raised, key=lambda tool: (raised[tool], tool))
    return _in_new_order(candidates, raised, best, tau)


def take_values(request: str, tool: ToolSpec, now: datetime | None) -> TakenValues:
    """Return what the inputs of a tool take from the whole request."""
    found = fill(request, from_arguments(tool.args, tool.id, tool.summary), now=now)
    names = {value.name: value.p for value in found.values}
    required = [arg.name for arg in tool.args if arg.required]
    return TakenValues(
        names=tuple(names),
        mass=sum(names.values()),
        sure=sum(p >= _SURE for p in names.values()),
        missing=sum(name not in names for name in required),
        unused=len(found.unused),
        required=len(required),
    )


def evidence_signals(
    compared: Sequence[Ranked], taken: Sequence[TakenValues], place: int
) -> dict[str, float]:
    """Return the signals of one candidate: its log-odds by words, and its values, beside others."""
    own, mine = log_odds(compared[place].p), taken[place]
    others = [n for n in range(len(compared)) if n != place]
    return {
        "odds": own,
        "odds_lead": own - max((log_odds(compared[n].p) for n in others), default=-9.0),
        "nothing_required": float(mine.required == 0),
        "taken": float(min(len(mine.names), _MOST_COUNTED)),
        "sure": float(min(mine.sure, _MOST_COUNTED)),
        "mass_lead": mine.mass - max((taken[n].mass for n in others), default=0.0),
        "first": float(place == 0),
    }


def probability(signals: dict[str, float]) -> float:
    """Return the probability in [0, 1] that these signals belong to the right tool."""
    odds = INTERCEPT + sum(WEIGHTS[name] * value for name, value in signals.items())
    return 1 / (1 + math.exp(-odds))


def log_odds(p: float) -> float:
    """Return ln(p / (1 - p)), bounded for p near 0 and 1."""
    return math.log(max(p, _LEAST_P) / max(_LEAST_P, 1 - p))


def _in_new_order(
    candidates: Sequence[Ranked], raised: dict[str, float], best: str, tau: float
) -> tuple[Ranked, ...]:
    """Return the candidates with their raised p, the best first if it reaches τ."""
    changed = [
        replace(r, p=raised[r.tool.id], p_before_values=r.p) if r.tool.id in raised else r
        for r in candidates
    ]
    winner = next(r for r in changed if r.tool.id == best)
    if winner.p < tau or changed[0] is winner:
        return tuple(changed)
    rest = [r for r in changed if r is not winner]
    loser = replace(rest[0], why_not=f"its inputs take fewer values of the request than {best}")
    first = replace(winner, why_not=None, tie_break=None)
    return tuple(replace(r, rank=n) for n, r in enumerate((first, loser, *rest[1:]), start=1))
