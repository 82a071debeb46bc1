"""The ranking of spec §4 and §5 to the letter: features, weighted sum, τ, tie-breakers.

Only the setting `ranker.engine = "spec"` uses it; the default is `core/rankers/lexical_ranker.py`.

score = (name · name similarity + doc · keywords + history · success) / sum of the weights
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.rankers.feature_protocol import EmbeddingSimilarity, Feature
from pulsus.core.rankers.history_feature import history_success
from pulsus.core.rankers.intent_phrases import share_of_anti_intent
from pulsus.core.rankers.ranking_protocol import Allowed
from pulsus.core.rankers.spec.features import (
    DocKeywords,
    Floats,
    doc_text,
    name_similarity,
    plain_name,
)
from pulsus.core.rankers.tie_breaks import GRAINS, RankedCandidate, tie_break, tie_key, why_not
from pulsus.core.text.tokens import clean, stems
from pulsus.core.types import Kind, ParsedIntent, Ranked, ToolHistory, ToolSpec

BUILT_IN = ("name", "doc", "history")

SCORE_AS_P = Calibration(0.0, {}, {"source": "score", "version": 1})
"""Says that `p` is the score itself: the specification applies τ to the score (§5)."""

_DENSE = 0.5
"""Share of similarity of meaning in the doc feature, with embeddings (§5 gives no number)."""

_TIE = 1e-8
"""Scores closer than this may tie: their order needs all tie-breakers. They tie if they are equal
to nine digits. The specification has no tolerance, so `ranker.tie_tolerance` does not apply."""

_ANTI = 0.5
"""Most that an anti-intent takes from the doc feature (§15 gives no number). The other engine takes
the same."""


@dataclass(frozen=True, eq=False)
class SpecRanker:
    """A catalogue made ready for the specification's ranking. It fulfils `RankingEngine`.

    `tools` are in id order; `names` and the texts of `keywords` are by the same positions. Keywords
    always cover the whole catalogue, also tools that are hidden or filtered.
    """

    tools: Sequence[ToolSpec]
    names: tuple[str, ...]
    keywords: DocKeywords
    config: RankerConfig
    extra: tuple[Feature, ...] = ()
    dense: EmbeddingSimilarity | None = None
    hidden: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        tools: Sequence[ToolSpec],
        config: RankerConfig | None = None,
        *,
        features: Sequence[Feature] = (),
        dense: EmbeddingSimilarity | None = None,
    ) -> SpecRanker:
        """Return the engine of `tools`, the same for any order of them.

        Raises ValueError for two features of one name.
        """
        named = [*BUILT_IN, *(f.name for f in features)]
        twice = sorted({n for n in named if named.count(n) > 1})
        if twice:
            raise ValueError(f"two ranking features are called {', '.join(twice)}")
        ordered = tuple(sorted(tools, key=lambda tool: tool.id))
        return cls(
            tools=ordered,
            names=tuple(plain_name(tool.name) for tool in ordered),
            keywords=DocKeywords.of([doc_text(tool) for tool in ordered]),
            config=config or RankerConfig(),
            extra=tuple(features),
            dense=dense,
        )

    @property
    def calibration(self) -> Calibration:
        """Say that p is the score."""
        return SCORE_AS_P

    def hiding(self, ids: Collection[str]) -> SpecRanker:
        """Return an engine that also hides the tools of these ids."""
        return replace(self, hidden=self.hidden.union(ids))

    def weights(self) -> dict[str, float]:
        """Return the weight of every feature as configured; 0 for a plugin's until it is."""
        names = (*BUILT_IN, *(f.name for f in self.extra))
        return {name: self.config.weights.get(name, 0.0) for name in names}

    def rank(
        self,
        request: ParsedIntent | str,
        *,
        tools: Collection[str] | None = None,
        history: Mapping[str, ToolHistory] | None = None,
        now: datetime | None = None,
        limit: int | None = None,
        include: Collection[str] = (),
        without: Collection[str] = (),
        kinds: Collection[Kind] | None = None,
        allowed: Allowed | None = None,
    ) -> tuple[Ranked, ...]:
        """Return the candidates, best first. Every tool that no filter excludes is a candidate.

        The arguments are those of `RankingEngine.rank`; `p` is the score.
        """
        if history and now is None:
            raise ValueError("history decays with time: give `now`")
        intent = (
            request
            if isinstance(request, ParsedIntent)
            else ParsedIntent(domain=None, action=None, intent=request, confidence=0.0)
        )
        text = clean(intent.intent)
        admitted = [
            at
            for at, tool in enumerate(self.tools)
            if (tools is None or tool.id in tools)
            and tool.id not in self.hidden
            and tool.id not in without
            and (kinds is None or tool.kind in kinds)
            and _is_allowed(tool.id, allowed)
        ]
        features = self._features(intent, text, admitted, history or {}, now)
        weights = self.weights()
        total = sum(weights.values())
        weighted = (features[name] * (weight / total) for name, weight in weights.items())
        scores = np.clip(np.sum(list(weighted), axis=0), 0.0, 1.0)
        first = self.config.max_candidates if limit is None else limit
        candidates = [
            RankedCandidate(
                self.tools[admitted[place]],
                {name: float(values[place]) for name, values in features.items()},
                float(scores[place]),
            )
            for place in _best_places(scores, len(scores) if include else first + 1)
        ]
        candidates.sort(key=lambda one: (-round(one.score * GRAINS), tie_key(one)))
        return tuple(
            self._ranked(text, candidates, n, weights)
            for n, own in enumerate(candidates)
            if n < first or own.tool.id in include
        )

    def _features(
        self,
        intent: ParsedIntent,
        text: str,
        admitted: Sequence[int],
        history: Mapping[str, ToolHistory],
        now: datetime | None,
    ) -> dict[str, Floats]:
        """Return each feature of the admitted tools, in [0, 1]."""
        at = np.array(admitted, dtype=np.intp)
        served = np.zeros(len(admitted))
        if now is not None:
            half_life = self.config.history_half_life_days
            served[:] = [
                history_success(history.get(self.tools[n].id), now, half_life) for n in admitted
            ]
        found = {
            "name": name_similarity(text, [self.names[n] for n in admitted]),
            "doc": self._doc_feature(text)[at],
            "history": served,
        }
        for feature in self.extra:
            values = np.array([feature(intent, self.tools[n]) for n in admitted], dtype=np.float64)
            found[feature.name] = np.clip(values, 0.0, 1.0)
        return found

    def _doc_feature(self, text: str) -> Floats:
        """Return the doc feature of every tool: keywords, with meaning if embeddings are on."""
        doc = self.keywords.similarity(text, len(self.tools))
        if self.dense is not None:
            similar = self.dense.similar(text)
            meant = np.array([max(0.0, similar.get(n, 0.0)) for n in range(len(self.tools))])
            doc = (1 - _DENSE) * doc + _DENSE * meant
        return np.clip(doc - _ANTI * self._declined(text), 0.0, 1.0)

    def _declined(self, text: str) -> NDArray[np.float64]:
        """Return, for each tool, the most of one of its anti-intents that the request says."""
        said = frozenset(stems(text))
        shares = np.zeros(len(self.tools))
        for n, tool in enumerate(self.tools):
            for hint in tool.manifest.anti_intents if tool.manifest else ():
                shares[n] = max(shares[n], share_of_anti_intent(hint, said, text))
        return shares

    def _ranked(
        self,
        text: str,
        candidates: Sequence[RankedCandidate],
        at: int,
        weights: Mapping[str, float],
    ) -> Ranked:
        own = candidates[at]
        words = tuple(dict.fromkeys(self.keywords.split(text)))
        in_name = frozenset(plain_name(own.tool.name).split())
        in_doc = frozenset(self.keywords.split(doc_text(own.tool)))
        missing = tuple(w for w in words if w not in in_name and w not in in_doc)
        return Ranked(
            tool=own.tool,
            features=own.features,
            weights=weights,
            score=own.score,
            p=own.score,
            rank=at + 1,
            tie_break=tie_break(own, candidates[at + 1]) if at + 1 < len(candidates) else None,
            why_not=why_not(candidates[0], own, weights) if at else None,
            matched={
                "name": tuple(w for w in words if w in in_name),
                "doc": tuple(w for w in words if w in in_doc),
            },
            unmatched=missing,
            signals={"coverage": 1 - len(missing) / len(words) if words else 0.0},
        )


def _best_places(scores: Floats, count: int) -> list[int]:
    """Return the places of the `count` best scores, and of all that tie with the last of them."""
    if count >= len(scores):
        return list(range(len(scores)))
    last = np.partition(scores, -count)[-count]
    return [int(place) for place in np.flatnonzero(scores >= last - _TIE)]


def _is_allowed(tool_id: str, allowed: Allowed | None) -> bool:
    if allowed is None:
        return True
    return allowed(tool_id) if callable(allowed) else tool_id in allowed
