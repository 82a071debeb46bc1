"""The numbers `p` is computed from (spec §5): how good a candidate is, not only how it compares.

Each is about one candidate among all of a request's; `calibration.json` says which count and how
much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pulsus.core.rankers.detail import Detail

VERSION = 3
"""Raised when a signal, or the ranking it comes from, changes its meaning: a calibration fitted to
other signals must not be applied to these."""

NAMES = (
    "strength",
    "coverage",
    "heard",
    "rarest",
    "name_words",
    "alike",
    "lead",
    "shared",
    "alike_lead",
    "recalled",
    "recalled_lead",
    "size",
)
"""Fitted signals. `named` and `caution` have fixed effects (calibration.py)."""

FALLING = frozenset({"shared", "size"})
"""Signals of which more means less sure; of the others more never lowers p."""

_NEXT = 4
"""How many of the best other candidates one is compared with."""

_UNLIKE = 0.02
"""Cosines below it are chance."""


class Standing(NamedTuple):
    """One candidate's figures, before it is compared with the others.

    `match` is the score without its history: what all tools share says nothing about rivals.
    `covered` is idf mass; `missed` the number of request words the tool does not have;
    `name_cover` the share of its name the request says.
    """

    score: float
    match: float
    coverage: float
    covered: float
    overlap: float
    name: float
    name_cover: float
    missed: int
    named: bool
    cautious: bool

    @property
    def strength(self) -> float:
        """The overlap in idf mass: a share of the request's own mass says nothing of how much."""
        return self.overlap * self.covered / self.coverage if self.coverage else 0.0


def signals(
    standings: Sequence[Standing],
    size: int,
    detail: Callable[[int], Detail],
    shown: int | None = None,
) -> list[dict[str, float]]:
    """The signals of each candidate among all of a request's, best first, of `size` tools.

    `detail` gives more of a candidate by its place in that order; it is asked for those that are
    given, only the first `shown` where that is said, and the best others.
    """
    named = sum([s.named for s in standings])
    first = range(min(_NEXT + 1, len(standings)))
    scores = sorted([s.score for s in standings], reverse=True)[:2]
    found = []
    for at, own in enumerate(standings[:shown]):
        others = [n for n in first if n != at][:_NEXT]
        told = {
            **_alone(own, detail(at)),
            **_among(own, detail(at), [(standings[n], detail(n)) for n in others]),
        }
        best = scores[1:] if own.score == scores[0] else scores[:1]
        found.append(
            told
            | {
                "size": math.log1p(size),
                "margin": own.score - (best[0] if best else 0.0),
                "named": 1 / named if own.named else 0.0,
                "caution": float(own.cautious),
            }
        )
    return found


def _alone(own: Standing, detail: Detail) -> dict[str, float]:
    """What a candidate has of the request, whatever the others have.

    `name_words` is how much of its name the request says, by how many words that are: one word is
    said by chance.
    """
    return {
        "strength": math.log1p(own.strength),
        "coverage": own.coverage,
        "heard": math.log1p(len(detail.heard)),
        "rarest": detail.rarest,
        "name_cover": own.name_cover,
        "name_words": own.name_cover * math.log1p(detail.in_name),
        "alike": math.log(max(detail.alike, _UNLIKE)),
        "recalled": detail.recalled,
        "mass": math.log1p(own.covered),
    }


def _among(
    own: Standing, detail: Detail, others: Sequence[tuple[Standing, Detail]]
) -> dict[str, float]:
    """What it has more than the best others.

    `lead` is the share of its score that the last of them lacks, all where they are fewer; `shared`
    the share of its words that the next has too: what tells them apart is the rest.
    """
    bar = others[-1][0].score if len(others) == _NEXT else 0.0
    also = others[0][1].heard if others else frozenset()
    return {
        "lead": max(-1.0, 1 - bar / own.score) if own.score > 0 else 0.0,
        "shared": len(detail.heard & also) / len(detail.heard) if detail.heard else 0.0,
        "alike_lead": detail.alike - max((d.alike for _, d in others), default=0.0),
        "recalled_lead": detail.recalled - max((d.recalled for _, d in others), default=0.0),
    }
