"""The numbers `p` is computed from (spec §5): how good a candidate is, not only how it compares.

Each is about one candidate among all of a request's; `calibration.json` says which count and how
much. `calibration.py` computes p from them, and `score_differences.py` explains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pulsus.core.rankers.feature_protocol import PastVotes
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.query_matches import QueryMatches
from pulsus.core.rankers.lexical.tool_fields import NAME

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
"""Number of the best other candidates that a candidate is compared with."""

_UNLIKE = 0.02
"""Cosines below it are chance."""


class CandidateSignals(NamedTuple):
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


def calibration_signals(
    standings: Sequence[CandidateSignals],
    size: int,
    detail: Callable[[int], CandidateDetail],
    shown: int | None = None,
) -> list[dict[str, float]]:
    """Return the signals of each candidate among all of a request's, best first, of `size` tools.

    `detail` gives more of a candidate by its place in that order; it is asked for those that are
    given, only the first `shown` where that is said, and the best others.
    """
    named = sum([s.named for s in standings])
    scores = sorted([s.score for s in standings], reverse=True)[:2]
    count = len(standings) if shown is None else min(shown, len(standings))
    known = [detail(at) for at in range(min(len(standings), max(count, _NEXT + 1)))]
    found, rivals = [], _find_rivals(standings, known, count)
    for at in range(count):
        own = standings[at]
        if at <= _NEXT:
            rivals = _find_rivals(standings, known, at)
        rival = scores[own.score == scores[0]] if len(scores) > 1 else 0.0
        found.append(
            {
                **_compute_signals(own, known[at], rivals),
                "size": math.log1p(size),
                "margin": own.score - rival,
                "named": 1 / named if own.named else 0.0,
                "caution": float(own.cautious),
            }
        )
    return found


class _Rivals(NamedTuple):
    """The best other candidates: the last one's score, the first one's words, the rest at most."""

    bar: float
    also: frozenset[int]
    alike: float
    recalled: float


def _find_rivals(
    standings: Sequence[CandidateSignals], known: Sequence[CandidateDetail], at: int
) -> _Rivals:
    others = [n for n in range(min(_NEXT + 1, len(standings))) if n != at][:_NEXT]
    return _Rivals(
        standings[others[-1]].score if len(others) == _NEXT else 0.0,
        known[others[0]].heard if others else frozenset(),
        max([known[n].alike for n in others], default=0.0),
        max([known[n].recalled for n in others], default=0.0),
    )


def _compute_signals(
    own: CandidateSignals, detail: CandidateDetail, others: _Rivals
) -> dict[str, float]:
    """Return the signals of a candidate, alone and relative to the best other candidates.

    - `name_words`: the share of its name that the request says, times the logarithm of the number
      of these words. A single word may be said by chance.
    - `lead`: the share of its score that the last of the others lacks, or 1 if there are fewer.
    - `shared`: the share of its matched words that the next candidate matches too.
    """
    heard, log = detail.heard, math.log1p
    return {
        "strength": log(own.strength),
        "coverage": own.coverage,
        "heard": log(len(heard)),
        "rarest": detail.rarest,
        "name_cover": own.name_cover,
        "name_words": own.name_cover * log(detail.in_name),
        "alike": math.log(max(detail.alike, _UNLIKE)),
        "recalled": detail.recalled,
        "mass": log(own.covered),
        "lead": max(-1.0, 1 - others.bar / own.score) if own.score > 0 else 0.0,
        "shared": len(heard & others.also) / len(heard) if heard else 0.0,
        "alike_lead": detail.alike - others.alike,
        "recalled_lead": detail.recalled - others.recalled,
    }


class CandidateDetail(NamedTuple):
    """`heard` are the request's words it has, by number; `in_name` how many of them its name has.

    `rarest` is the highest idf among them, `alike` the cosine of character n-grams in [0, 1], 0
    where others were compared instead; `recalled` what past requests say of it, in [-1, 1].
    """

    heard: frozenset[int] = frozenset()
    in_name: int = 0
    rarest: float = 0.0
    alike: float = 0.0
    recalled: float = 0.0


def candidate_details(
    found: QueryMatches,
    documents: Documents,
    alike: Mapping[int, float],
    recalled: Mapping[str, PastVotes],
) -> Callable[[int], CandidateDetail]:
    """Return the detail of a tool by its number, looked up once."""
    idf_of = cache(documents.weight)

    @cache
    def detail(number: int) -> CandidateDetail:
        heard: set[int] = set()
        in_name: set[int] = set()
        rarest = 0.0
        for term, key, _, places in found.found[number].hits:
            heard.add(term)
            if places & NAME:
                in_name.add(term)
            rarest = max(rarest, idf_of(key))
        past = recalled.get(documents.id(number)) if recalled else None
        return CandidateDetail(
            frozenset(heard),
            len(in_name),
            rarest,
            alike.get(number, 0.0),
            past.value if past else 0.0,
        )

    return detail
