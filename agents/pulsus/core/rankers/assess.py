"""One candidate's features and standing (spec §4): where the features meet the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pulsus.core.rankers.base import Feature, Recalled
from pulsus.core.rankers.doc import DocIndex
from pulsus.core.rankers.evidence import Evidence
from pulsus.core.rankers.history import history_success
from pulsus.core.rankers.name import NameShares
from pulsus.core.rankers.order import Candidate
from pulsus.core.rankers.purpose import caution
from pulsus.core.rankers.signals import Standing
from pulsus.core.rankers.text import stems
from pulsus.core.types import ParsedIntent, ToolHistory, ToolSpec, Vote

_CAUTIOUS = 0.5
"""What is left of the doc feature where request and tool are at odds (purpose.py)."""
_ANTI = 0.5
"""Taken from the doc feature where the request says all words of an anti-intent (spec §15)."""
_DENSE = 0.65
"""Share of similarity of meaning in the doc feature where vectors are at hand; words the rest."""


@dataclass(frozen=True, slots=True)
class Assessed:
    """A candidate with the tool's number in the index and why to be careful with it."""

    number: int
    candidate: Candidate
    standing: Standing
    caution: str | None
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class Assessor:
    """Everything of one request that its candidates share."""

    intent: ParsedIntent
    asked: tuple[str, ...]
    said: frozenset[str]
    found: Evidence
    best: float
    shares: NameShares
    documents: DocIndex
    weights: Mapping[str, float]
    extra: tuple[Feature, ...]
    history: Mapping[str, ToolHistory]
    now: datetime | None
    half_life_days: float
    similar: Mapping[int, float]
    recalled: Mapping[str, Recalled]

    def assess(self, number: int, tool: ToolSpec, *, named: bool) -> Assessed:
        """Features in [0, 1], their weighted sum over the total weight, and the standing."""
        odds = caution(self.asked, self.said, tool) or self._declined(tool)
        features = {
            "name": self._name(number),
            "doc": self._doc(number, tool, odds),
            "history": self._history(tool),
            **{f.name: _clamp(f(self.intent, tool)) for f in self.extra},
        }
        total = sum(self.weights.values())
        score = sum(weight * features[name] for name, weight in self.weights.items()) / total
        candidate = Candidate(tool=tool, features=features, score=score, named=named and not odds)
        past = self.recalled.get(tool.id)
        votes = past.votes if past else ()
        return Assessed(number, candidate, self._standing(number, candidate, odds), odds, votes)

    def _name(self, number: int) -> float:
        return self.shares.similarity(self.documents.names[number])

    def _doc(self, number: int, tool: ToolSpec, odds: str | None) -> float:
        """Overlap relative to the request's best, less anti-intents, halved where at odds."""
        share = self.found.overlap.get(number, 0.0) / self.best if self.best else 0.0
        if self.similar:
            share += _DENSE * (_clamp(self.similar.get(number, 0.0)) - share)
        refused = tool.manifest.anti_intents if tool.manifest else ()
        share -= _ANTI * max((self._said(hint) for hint in refused), default=0.0)
        return _clamp(share * (_CAUTIOUS if odds else 1.0))

    def _declined(self, tool: ToolSpec) -> str | None:
        """Why the tool is at odds by its own manifest: the request says a whole anti-intent."""
        refused = tool.manifest.anti_intents if tool.manifest else ()
        hint = next((h for h in refused if self._said(h) == 1.0), None)
        return f"the tool's manifest says it is not for {hint!r}" if hint else None

    def _said(self, hint: str) -> float:
        """Share of a hint's words the request says itself (a synonym is not enough)."""
        wanted = stems(hint)
        said = sum(self.found.asked.get(key) == 1.0 for key in wanted)
        return said / len(wanted) if wanted else 0.0

    def _history(self, tool: ToolSpec) -> float:
        past = self.recalled.get(tool.id)
        told = past.value if past else 0.0
        if self.now is None:
            return _clamp(told)
        served = history_success(self.history.get(tool.id), self.now, self.half_life_days)
        return _clamp(served + told)

    def _standing(self, number: int, candidate: Candidate, odds: str | None) -> Standing:
        history = self.weights.get("history", 0.0) / sum(self.weights.values())
        return Standing(
            score=candidate.score,
            match=candidate.score - history * candidate.features["history"],
            coverage=self.found.coverage(number),
            covered=self.found.covered.get(number, 0.0),
            overlap=self.found.relative_overlap(number),
            name=candidate.features["name"],
            name_cover=self.shares.cover(self.documents.names[number]),
            missed=len(self.found.terms) - self.found.hits.get(number, 0),
            named=candidate.named,
            cautious=odds is not None,
        )


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
