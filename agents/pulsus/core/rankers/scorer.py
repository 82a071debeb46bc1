"""The score of one candidate: features, weights, anti-intents (spec §4).

The weights of name, doc and history are the setting `ranker.weights` (`config/settings.py`). The
penalties are here: for an anti-intent, for a mismatch of effects (`effect_mismatch.py`) or age
(`opposite_age.py`). `lexical_ranker.py` ranks by the score. Which tool a request gets by these
scores is decided in `core/compose/selection/choose_policy.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pulsus.core.rankers.calibration_signals import CandidateSignals
from pulsus.core.rankers.effect_mismatch import command_mismatch, effect_mismatch
from pulsus.core.rankers.feature_protocol import Feature, PastVotes
from pulsus.core.rankers.history_feature import history_success, history_value
from pulsus.core.rankers.intent_phrases import share_of_anti_intent
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_builder import CAREFUL, DECLINES, SHARED
from pulsus.core.rankers.lexical.query_matches import QueryMatches
from pulsus.core.rankers.lexical.tool_names import cover, worth
from pulsus.core.rankers.opposite_age import Age, age_mismatch
from pulsus.core.rankers.tie_breaks import Figures, sort_key
from pulsus.core.types import ParsedIntent, ToolHistory, ToolSpec, Vote
from pulsus.fast_dataclass import dataclass

_CAUTIOUS = 0.5
"""Factor on the doc feature if request and tool contradict each other (effect_mismatch.py)."""
_ANTI = 0.5
"""Taken from the doc feature where the request says all words of an anti-intent (spec §15), or
where the tool was wrong for requests like it."""
_DENSE = 0.65
"""Share of similarity of meaning in the doc feature where vectors are at hand; words the rest."""
_APART, _CROWD = 200, 0.1
"""Among more tools than the first it falls by this power of their number: many mean nearly the
same then, and words tell them apart."""
_EDGE = 1.5
"""Power of the words' share beside meaning: many tools have some of the words."""
_SHARP = 1.75
"""Power of the similarity, relative to the best."""
_VAGUE = 0.4
"""Cosine below which even the request's best tool is only vaguely like it."""
_SAID_TWICE = 0.5
"""The share of a covered name that counts beside meaning: a tool's text begins with its name.
These were chosen together over eight sets, on a plateau: ADR 15."""
_NO_PAST = PastVotes(0.0)
_UNTRIED: tuple[float, tuple[Vote, ...], float] = (0.0, (), 0.0)
_LOOK = CAREFUL | DECLINES
"""Flags of tools that the request may be at odds with though it commands nothing."""


class ScoredTool(NamedTuple):
    """A candidate by the tool's number in the index, and why to be careful with it."""

    number: int
    features: Mapping[str, float]
    score: float
    order: Figures
    standing: CandidateSignals
    caution: str | None
    votes: tuple[Vote, ...] = ()
    phrased: bool = False


@dataclass(frozen=True, slots=True)
class Scorer:
    """Everything of one request that its candidates share.

    `said` are the stems that stand in the request itself, and not only by a synonym. `shares` are
    the weights over their sum. `words` is the part of the doc feature that words make, by number;
    `alike` the likeness of their n-grams, of the best few; `typed` the program and words of a
    request that is a command line; `age` says if it asks for what changed lately. `tools` are by
    position; one is looked at only where its columns do not tell: it may have to be read from disk
    first.
    """

    intent: ParsedIntent
    asked: tuple[str, ...]
    request_groups: Callable[[], frozenset[str]]
    found: QueryMatches
    said: frozenset[str]
    documents: Documents
    tools: Sequence[ToolSpec]
    shares: Mapping[str, float]
    extra: tuple[Feature, ...]
    history: Mapping[str, ToolHistory]
    now: datetime | None
    half_life_days: float
    similar: Mapping[int, float]
    nearest: float
    recalled: Mapping[str, PastVotes]
    gain: float
    words: Mapping[int, float]
    closest: float
    alike: Mapping[int, float]
    typed: Sequence[str] | None = None
    age: Age | None = None

    def assess(self, number: int, *, named: bool, phrased: bool = False) -> ScoredTool:
        """Return features in [0, 1], their weighted sum over the total weight, and the standing.

        `phrased` says that the request is an intent of the tool, word for word. Like a name in the
        request, that decides order and p, but it changes no feature.
        """
        evidence, documents = self.found, self.documents
        overlap, covered, said, _, terms = evidence.found[number]
        mass, flags = evidence.mass, documents.flags(number)
        looked = self.asked or self.typed or self.age or flags & _LOOK
        odds = self._find_mismatch(number, flags) if looked else None
        named = named and odds is None
        name = worn = 0.0
        if said:
            worn = cover(said, documents.name_mass(number))
            name = 1.0 if named else worth(worn, documents.size)
            name *= _SAID_TWICE if self.similar and not named else 1.0
        elif named:
            name = 1.0
        history, votes, text = _UNTRIED
        if self.history or self.recalled:
            history, votes, text = self._score_history(documents.id(number))
        features = {"name": name, "doc": self._score_doc(number, flags, odds), "history": history}
        for feature in self.extra:
            features[feature.name] = _clamp_to_unit(
                feature(self.intent, self._tool_by_number(number))
            )
        score = 0.0
        for key, share in self.shares.items():
            score += share * features[key]
        standing = CandidateSignals(
            score,
            score - self.shares["history"] * history,
            min(1.0, covered / mass) if mass else 0.0,
            covered,
            (overlap / mass if mass else 0.0) + text,
            name,
            worn,
            len(evidence.terms) - terms,
            named or (phrased and odds is None),
            odds is not None,
        )
        order = sort_key(standing.named, score, flags & SHARED != 0, history)
        by_phrase = standing.named and not named
        return ScoredTool(number, features, score, order, standing, odds, votes, by_phrase)

    def _tool_by_number(self, number: int) -> ToolSpec:
        return self.tools[self.documents.position(number)]

    def _score_doc(self, number: int, flags: int, mismatch: str | None) -> float:
        """Return words and meaning, less anti-intents and past errors, halved on a mismatch."""
        share = self.words[number]
        if not (self.similar or self.recalled or flags & DECLINES):
            return _clamp_to_unit(share * _CAUTIOUS if mismatch else share)
        if self.similar:
            meant = max(0.0, self.similar.get(number, 0.0)) / max(_VAGUE, self.nearest)
            dense = dense_share(self.documents.size) / self.gain
            share = (1 - dense) * (share / self.closest) ** _EDGE + dense * meant**_SHARP
        if flags & DECLINES:
            share -= _ANTI * max(
                (self._share_of_hint_words(hint) for hint in self._anti_intents(number)),
                default=0.0,
            )
        if self.recalled:
            share -= _ANTI * max(0.0, -self._past_votes(number).value)
        return _clamp_to_unit(share * (_CAUTIOUS if mismatch else 1.0))

    def _past_votes(self, number: int) -> PastVotes:
        return self.recalled.get(self.documents.id(number), _NO_PAST)

    def _find_mismatch(self, number: int, flags: int) -> str | None:
        """Return the mismatch of request and tool, by their effects or by the tool's manifest."""
        if self.asked or flags & CAREFUL:
            mismatch = effect_mismatch(
                self.asked, self.request_groups(), self._tool_by_number(number)
            )
            if mismatch:
                return mismatch
        if self.age and (mismatch := age_mismatch(self.age, self._tool_by_number(number))):
            return mismatch
        if self.typed and (mismatch := command_mismatch(self.typed, self._tool_by_number(number))):
            return mismatch
        if not flags & DECLINES:
            return None
        hint = next(
            (h for h in self._anti_intents(number) if self._share_of_hint_words(h) == 1.0), None
        )
        return f"the tool's manifest says it is not for {hint!r}" if hint else None

    def _anti_intents(self, number: int) -> tuple[str, ...]:
        manifest = self._tool_by_number(number).manifest
        return manifest.anti_intents if manifest else ()

    def _share_of_hint_words(self, hint: str) -> float:
        """Return the share of a hint's words in the request itself (a synonym is not enough)."""
        return share_of_anti_intent(hint, self.said, self.intent.intent)

    def _score_history(self, tool_id: str) -> tuple[float, tuple[Vote, ...], float]:
        """Return the history feature, the votes of similar requests, and their share of its words.

        The feature combines the tool's success rate with its success for similar requests. The
        share is relative to the request's idf mass.
        """
        past = self.recalled.get(tool_id, _NO_PAST)
        served = 0.0
        if self.now is not None:
            served = history_success(self.history.get(tool_id), self.now, self.half_life_days)
        return history_value(served, past.value), past.votes, past.text


def dense_share(tools: int) -> float:
    """Share of similarity of meaning in the doc feature among so many tools, without a past."""
    return float(_DENSE * min(1.0, _APART / max(1, tools)) ** _CROWD)


def _clamp_to_unit(value: float) -> float:
    return min(1.0, max(0.0, value))
