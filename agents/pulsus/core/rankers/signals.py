"""The numbers `p` is computed from (spec §5): how good a candidate is, not only how it compares.

Each is about one candidate among all of a request's; `calibration.json` says which count and how
much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
)
"""Fitted signals. `named` and `caution` have fixed effects (calibration.py)."""

_RIVAL = 0.9


@dataclass(frozen=True, slots=True)
class Standing:
    """One candidate's figures, before it is compared with the others.

    `covered` is idf mass; `missed` the number of request words the tool does not have;
    `name_cover` the share of its name the request says.
    """

    score: float
    coverage: float
    covered: float
    overlap: float
    name: float
    name_cover: float
    missed: int
    named: bool
    cautious: bool


@dataclass(frozen=True, slots=True)
class Field:
    """All candidates' standings, best score first, in a catalogue of `size` tools."""

    standings: Sequence[Standing]
    size: int

    def signals(self, at: int) -> dict[str, float]:
        """The signals of the candidate at that position."""
        own = self.standings[at]
        return {
            "score": own.score,
            "margin": own.score - self._best_other(at),
            "coverage": own.coverage,
            "coverage_margin": own.coverage - self._widest_other(at),
            "overlap": own.overlap,
            "name": own.name,
            "name_cover": own.name_cover,
            "mass": math.log1p(own.covered),
            "missed": math.log1p(own.missed),
            "rivals": math.log1p(self._rivals(at)),
            "size": math.log1p(self.size),
            "named": self._named(at),
            "caution": float(own.cautious),
        }

    def _others(self, at: int) -> list[Standing]:
        return [s for n, s in enumerate(self.standings[:_NEAR]) if n != at]

    def _best_other(self, at: int) -> float:
        return max((s.score for s in self._others(at)), default=0.0)

    def _widest_other(self, at: int) -> float:
        return max((s.coverage for s in self._others(at)), default=0.0)

    def _rivals(self, at: int) -> int:
        bar = _RIVAL * self.standings[at].score
        return sum(s.score >= bar for s in self._others(at))

    def _named(self, at: int) -> float:
        """1 where the request names this tool alone, a share where it names several."""
        named = sum(s.named for s in self.standings)
        return 1 / named if self.standings[at].named else 0.0


_NEAR = 50
"""How many of the best are compared with; further down nothing is near."""
