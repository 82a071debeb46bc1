"""The one scorer: features, weights, order, p (spec §4, §5). Pure once built.

Everything `--explain` prints is made here, from the numbers that decided.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers import doc, query
from pulsus.core.rankers.assess import Assessed, Assessor
from pulsus.core.rankers.base import Dense, Feature, Memory, Recalled
from pulsus.core.rankers.calibration import Calibration, shipped
from pulsus.core.rankers.doc import DocIndex
from pulsus.core.rankers.evidence import gather, matched
from pulsus.core.rankers.fields import field_words
from pulsus.core.rankers.name import NameShares, mentions, spellings
from pulsus.core.rankers.order import order_key, tie_break, why_not
from pulsus.core.rankers.purpose import commands, groups_of
from pulsus.core.rankers.query import Term
from pulsus.core.rankers.signals import signals
from pulsus.core.rankers.text import clean
from pulsus.core.types import ParsedIntent, Ranked, ToolHistory, ToolSpec

POOL = 100
"""Candidates whose features are computed; the rest share too few words to matter."""

BUILT_IN = ("name", "doc", "history")


@dataclass(frozen=True, slots=True)
class RankIndex:
    """A catalogue made ready for ranking. Statistics always cover the whole catalogue."""

    tools: tuple[ToolSpec, ...]
    identity: Sequence[list[str]]
    documents: DocIndex
    config: RankerConfig
    calibration: Calibration
    extra: tuple[Feature, ...] = ()
    synonyms: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    spelt: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    dense: Dense | None = None
    memory: Memory | None = None

    @classmethod
    def build(
        cls,
        tools: Sequence[ToolSpec],
        config: RankerConfig | None = None,
        *,
        features: Sequence[Feature] = (),
        synonyms: query.Synonyms | None = None,
        remembered: Mapping[str, Sequence[str]] | None = None,
        fitted: Mapping[str, Any] | None = None,
        calibration: Calibration | None = None,
        dense: Dense | None = None,
        memory: Memory | None = None,
    ) -> RankIndex:
        """The index of `tools`, the same for any order of them.

        `remembered` maps a tool id to past requests it answered well. `fitted` is an earlier
        `to_json()` for the same tools, manifests and `remembered`: then nothing is fitted and
        scikit-learn is not imported; of other tools or format it is not used. `dense` and `memory`
        are asked once a request.
        Raises ValueError for two features of one name.
        """
        names = [*BUILT_IN, *(f.name for f in features)]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(f"two ranking features are called {', '.join(twice)}")
        ordered = tuple(sorted(tools, key=lambda t: t.id))
        past = remembered or {}
        identity = [_identity(t, past.get(t.id, ())) for t in ordered]
        documents = _usable(fitted, identity) or doc.fit(
            [field_words(t, past.get(t.id, ())) for t in ordered]
        )
        return cls(
            tools=ordered,
            identity=identity,
            documents=documents,
            config=config or RankerConfig(),
            calibration=calibration or shipped(),
            extra=tuple(features),
            synonyms=query.synonym_table(synonyms or {}),
            spelt=_spelt(ordered),
            dense=dense,
            memory=memory,
        )

    def to_json(self) -> dict[str, Any]:
        """JSON values to keep beside the catalogue's digest and give to `build(fitted=…)`."""
        return {"tools": self.identity, **doc.to_json(self.documents)}

    def weights(self) -> dict[str, float]:
        """The weight of every feature as configured; 0 for a plugin's until it is."""
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
    ) -> tuple[Ranked, ...]:
        """The candidates, best first; a tool that shares no word with the request is none.

        `tools` keeps only these ids: ranks count among them, `p` still knows the better tools
        elsewhere. `limit` defaults to the settings; `include` adds ids beyond it (`--why-not`).
        `without` ranks as though these ids were not there: calibration's "nothing fits".
        `history` needs `now` (aware UTC), else ValueError.
        """
        if history and now is None:
            raise ValueError("history decays with time: give `now`")
        intent = request if isinstance(request, ParsedIntent) else _unparsed(request)
        text = clean(intent.intent)
        terms = query.terms(text, self.documents, self.synonyms)
        assessed = self._assess(intent, text, terms, history or {}, now, include, without)
        chances = self._chances(assessed)
        kept = [
            (a, p)
            for a, p in zip(assessed, chances, strict=True)
            if tools is None or a.candidate.tool.id in tools
        ]
        first = self.config.max_candidates if limit is None else limit
        return tuple(
            self._ranked(kept, at, terms)
            for at in range(len(kept))
            if at < first or kept[at][0].candidate.tool.id in include
        )

    def _assess(
        self,
        intent: ParsedIntent,
        text: str,
        terms: tuple[Term, ...],
        history: Mapping[str, ToolHistory],
        now: datetime | None,
        include: Collection[str],
        without: Collection[str],
    ) -> list[Assessed]:
        """Every candidate with its features and standing, in final order."""
        gone = {n for n, t in enumerate(self.tools) if t.id in without} if without else set()
        found = gather(terms, self.documents).without(gone)
        named = {n for said in mentions(text) for n in self.spelt.get(said, ())}
        similar = self.dense.similar(text) if self.dense else {}
        recalled = self.memory.recall(text) if self.memory else {}
        assessor = Assessor(
            intent=intent,
            asked=commands(text),
            said=groups_of(text),
            found=found,
            best=max(found.overlap.values(), default=0.0),
            shares=NameShares.of(found.asked, self.documents),
            documents=self.documents,
            weights=self.weights(),
            extra=self.extra,
            history=history,
            now=now,
            half_life_days=self.config.history_half_life_days,
            similar=similar,
            recalled=recalled,
        )
        pool = {
            *_first(found.overlap),
            *_first(similar),
            *named,
            *self._recalled(recalled),
            *self._wanted(include),
        } - gone
        return sorted(
            (assessor.assess(n, self.tools[n], named=n in named) for n in pool),
            key=lambda a: order_key(a.candidate),
        )

    def _wanted(self, include: Collection[str]) -> list[int]:
        """Tools to look at though they share no word: a weighted plugin may know better."""
        weigh_all = any(self.config.weights.get(f.name, 0.0) > 0 for f in self.extra)
        return [n for n, t in enumerate(self.tools) if weigh_all or t.id in include]

    def _recalled(self, recalled: Mapping[str, Recalled]) -> list[int]:
        if not any(past.value > 0 for past in recalled.values()):
            return []
        wanted = {tool_id for tool_id, past in recalled.items() if past.value > 0}
        return [n for n, t in enumerate(self.tools) if t.id in wanted]

    def _chances(self, assessed: Sequence[Assessed]) -> list[tuple[float, dict[str, float]]]:
        """p and its signals by position; p never rises down the order."""
        numbers = signals([a.standing for a in assessed], len(self.tools))
        ceilings = accumulate((self.calibration.p(s) for s in numbers), min)
        return list(zip(ceilings, numbers, strict=True))

    def _ranked(
        self,
        kept: Sequence[tuple[Assessed, tuple[float, dict[str, float]]]],
        at: int,
        terms: tuple[Term, ...],
    ) -> Ranked:
        assessed, (p, numbers) = kept[at]
        own, winner = assessed.candidate, kept[0][0].candidate
        following = kept[at + 1][0].candidate if at + 1 < len(kept) else None
        weights = self.weights()
        return Ranked(
            tool=own.tool,
            features=own.features,
            weights=weights,
            score=own.score,
            p=p,
            rank=at + 1,
            tie_break=tie_break(own, following) if following else None,
            why_not=why_not(winner, own, weights) if at else None,
            matched=matched(terms, self.documents, assessed.number),
            signals=numbers,
            caution=assessed.caution,
            votes=assessed.votes,
        )


def _first(values: Mapping[int, float]) -> list[int]:
    return sorted(values, key=lambda n: (-values[n], n))[:POOL]


def _unparsed(request: str) -> ParsedIntent:
    return ParsedIntent(domain=None, action=None, intent=request, confidence=0.0)


def _identity(tool: ToolSpec, past: Sequence[str]) -> list[str]:
    """What a tool's words are taken from: its file, its manifest and the requests remembered."""
    told = repr((tool.manifest and replace(tool.manifest, path=Path()), tuple(past)))
    return [tool.id, tool.sha256, hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()]


def _usable(fitted: Mapping[str, Any] | None, identity: Sequence[list[str]]) -> DocIndex | None:
    if fitted is None or fitted.get("tools") != identity:
        return None
    documents = doc.from_json(fitted)
    return documents if documents and documents.size == len(identity) else None


def _spelt(tools: Sequence[ToolSpec]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for number, tool in enumerate(tools):
        for spelling in sorted(spellings(tool)):
            found.setdefault(spelling, []).append(number)
    return {spelling: tuple(numbers) for spelling, numbers in found.items()}
