"""The numbers `p` is computed from (spec §5): how good a candidate is, not only how it compares.

Each is about one candidate among all of a request's; `calibration.json` says which count and how
much.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

VERSION = 2
"""Raised when a signal, or the ranking it comes from, changes its meaning: a calibration fitted to
other signals must not be applied to these."""

NAMES = (
    "score",
    "margin",
    "coverage",
    "coverage_margin",
    "overlap",
    "name",
    "name_cover",
    "mass",
    "missed",
    "rivals",
    "size",
    "strength",
    "contested",
    "lead",
)
"""Fitted signals. `named` and `caution` have fixed effects (calibration.py)."""

FALLING = frozenset({"missed", "rivals", "size", "contested"})
"""Signals of which more means less sure; of the others more never lowers p."""

_RIVAL = 0.9
"""Share of a candidate's match from which another rivals it."""

_NEXT = 4
"""How many of the best other candidates contest one."""


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
    standings: Sequence[Standing], size: int, shown: int | None = None
) -> list[dict[str, float]]:
    """The signals of each candidate among all of a request's, best first, of `size` tools.

    `contested` is the most that one of the next candidates covers, `lead` the score above the last
    of them, 0 where there are fewer. Only the first `shown` are given, where that is said.
    """
    scores = _two_best([s.score for s in standings])
    coverages = _two_best([s.coverage for s in standings])
    bars = sorted([s.match for s in standings])
    named = sum([s.named for s in standings])
    first = standings[: _NEXT + 1]
    far = _contest(first[:_NEXT])
    known = math.log1p(size)
    found = []
    for at, own in enumerate(standings[:shown]):
        contested, bar = far if at >= _NEXT else _contest([*first[:at], *first[at + 1 :]])
        found.append(
            {
                "score": own.score,
                "margin": own.score - _best_other(own.score, scores),
                "coverage": own.coverage,
                "coverage_margin": own.coverage - _best_other(own.coverage, coverages),
                "overlap": own.overlap,
                "name": own.name,
                "name_cover": own.name_cover,
                "mass": math.log1p(own.covered),
                "missed": math.log1p(own.missed),
                "rivals": math.log(len(bars) - bisect_left(bars, _RIVAL * own.match)),
                "size": known,
                "strength": math.log1p(own.strength),
                "contested": contested,
                "lead": own.score - bar,
                "named": 1 / named if own.named else 0.0,
                "caution": float(own.cautious),
            }
        )
    return found


def _contest(others: Sequence[Standing]) -> tuple[float, float]:
    """The most that one of the next candidates covers, and the score of the last of them."""
    covered = max([s.coverage for s in others], default=0.0)
    return covered, others[-1].score if len(others) == _NEXT else 0.0


def _two_best(values: Sequence[float]) -> tuple[float, float]:
    """The highest and the next value; 0 where there is none."""
    first, second, *_ = [*sorted(values, reverse=True), 0.0, 0.0]
    return first, second


def _best_other(own: float, best: tuple[float, float]) -> float:
    return best[1] if own == best[0] else best[0]
