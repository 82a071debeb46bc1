"""Rank tools by the default engine, `lexical`: features, weights, order, p (§4, §5). Pure.

The score of one candidate is made in `scorer.py`, p in `calibration.py`, and the order of equals
(ties) in `tie_breaks.py`. Typos and synonyms of the request are found in
`core/rankers/lexical/query_terms.py`; weights are the setting `ranker.weights`
(`config/settings.py`). `routing/search/ranking/catalogue_ranking.py` asks for clauses and steps,
and `routing/search/access_filter.py` excludes tools before.

Everything `--explain` prints is made here, from the numbers that decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cache
from heapq import nlargest
from operator import attrgetter

from pulsus.config.settings import RankerConfig
from pulsus.core.contract.tool_table import ToolTable
from pulsus.core.rankers.calibration import Calibration, shipped_calibration
from pulsus.core.rankers.doc_feature import doc_shares, remembered_candidates, word_gain
from pulsus.core.rankers.effect_mismatch import commands, groups_of
from pulsus.core.rankers.feature_protocol import EmbeddingSimilarity, Feature, Memory, PastVotes
from pulsus.core.rankers.intent_phrases import answers_for_any_service, is_one_of, letters_of
from pulsus.core.rankers.lexical import index_builder, query_terms
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_builder import KIND_BITS, KINDS
from pulsus.core.rankers.lexical.query_matches import POOL, Admit, match_query
from pulsus.core.rankers.lexical.tool_names import key_of, mentions, spellings
from pulsus.core.rankers.opposite_age import age_asked_for
from pulsus.core.rankers.ranked_candidates import as_candidate, ranked_rows
from pulsus.core.rankers.ranking_protocol import Allowed
from pulsus.core.rankers.scorer import ScoredTool, Scorer
from pulsus.core.rankers.tie_breaks import end_of_tie, tie_key
from pulsus.core.text import command_line
from pulsus.core.text.state_questions import asks_for_a_service
from pulsus.core.text.tokens import clean
from pulsus.core.types import Kind, ParsedIntent, Ranked, ToolHistory, ToolSpec
from pulsus.fast_dataclass import dataclass

_by_order, _by_id = attrgetter("order"), attrgetter("id")

BUILT_IN = ("name", "doc", "history")


@dataclass(frozen=True, slots=True)
class Ranker:
    """A catalogue made ready for ranking. Statistics always cover the whole catalogue.

    `tools` are in id order and looked at only where they are candidates. Tools of the ids in
    `hidden` are no candidates.
    """

    tools: Sequence[ToolSpec]
    documents: Documents
    config: RankerConfig
    calibration: Calibration
    extra: tuple[Feature, ...] = ()
    synonyms: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    dense: EmbeddingSimilarity | None = None
    memory: Memory | None = None
    hidden: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        tools: Sequence[ToolSpec],
        config: RankerConfig | None = None,
        *,
        features: Sequence[Feature] = (),
        synonyms: query_terms.Synonyms | None = None,
        documents: Documents | None = None,
        calibration: Calibration | None = None,
        dense: EmbeddingSimilarity | None = None,
        memory: Memory | None = None,
    ) -> Ranker:
        """Return the index of `tools`, the same for any order of them.

        `documents` are the words of the same tools and manifests where they are at hand
        (routing/search/ranking_index_cache.py). `dense` and `memory` are asked once a request.
        Raises ValueError for two features of one name.
        """
        names = [*BUILT_IN, *(f.name for f in features)]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(f"two ranking features are called {', '.join(twice)}")
        ordered = tools if isinstance(tools, ToolTable) else tuple(sorted(tools, key=_by_id))
        return cls(
            tools=ordered,
            documents=documents or index_builder.words_of(ordered),
            config=config or RankerConfig(),
            calibration=calibration or shipped_calibration(),
            extra=tuple(features),
            synonyms=query_terms.synonym_table(synonyms or {}),
            dense=dense,
            memory=memory,
        )

    def hiding(self, ids: Collection[str]) -> Ranker:
        """Return the index where the tools of these ids are no candidates either."""
        return replace(self, hidden=self.hidden.union(ids))

    def weights(self) -> dict[str, float]:
        """Return the weight of every feature as configured; 0 for a plugin's until it is."""
        names = (*BUILT_IN, *(f.name for f in self.extra))
        return {name: self.config.weights.get(name, 0.0) for name in names}

    def _weight_shares(self) -> dict[str, float]:
        """Return the weights over their sum."""
        weights = self.weights()
        total = 0.0
        for weight in weights.values():
            total += weight
        return {name: weight / total for name, weight in weights.items()}

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
        """Return the candidates, best first; a tool that shares no word with the request is left
        out.

        `tools` keeps only these ids: ranks count among them, `p` still knows the better tools
        elsewhere. `limit` defaults to the settings; `include` adds ids beyond it (`--why-not`).
        `kinds`, `allowed` and `without` filter before anything is ranked: a tool left out is no
        candidate and no rival of one. `history` needs `now` (aware UTC), else ValueError.
        """
        if history and now is None:
            raise ValueError("history decays with time: give `now`")
        intent = request if isinstance(request, ParsedIntent) else _unparsed_intent(request)
        text = clean(intent.intent)
        admit = admission_filter(self.documents, self.hidden.union(without), kinds, allowed)
        assessor, named = self._score_candidates(intent, text, history or {}, now, include, admit)
        assessed = sorted(
            (assessor.assess(n, named=n in named) for n in assessor.found.found),
            key=_by_order,
        )
        phrased = self._find_phrased_tools(text, assessed, assessor.recalled)
        if phrased:
            assessed = sorted(
                (
                    assessor.assess(a.number, named=a.number in named, phrased=True)
                    if a.number in phrased
                    else a
                    for a in assessed
                ),
                key=_by_order,
            )
        ordered, tied = self._break_ties(assessed)
        ids = {self.documents.number(i) for i in include}
        kept = [
            at
            for at, a in enumerate(ordered)
            if tools is None or self.documents.id(a.number) in tools
        ]
        first = self.config.max_candidates if limit is None else limit
        shown = [n for n, at in enumerate(kept) if n < first or ordered[at].number in ids]
        return ranked_rows(
            assessor,
            ordered,
            kept,
            shown,
            tool=self._tool_by_number,
            calibration=self.calibration,
            weights=self.weights(),
            tied=tied,
        )

    def _score_candidates(
        self,
        intent: ParsedIntent,
        text: str,
        history: Mapping[str, ToolHistory],
        now: datetime | None,
        include: Collection[str],
        admit: Admit | None,
    ) -> tuple[Scorer, frozenset[int]]:
        """Return the scored candidates of the request, and the tools that it names."""
        documents = self.documents
        similar = self.dense.similar(text) if self.dense else {}
        by_number = {documents.at(position): value for position, value in similar.items()}
        recalled = self.memory.recall(text) if self.memory else {}
        named = self._find_named_tools(text)
        extra = {*named, *self._tool_numbers(include), *self._tools_for_plugins()}
        if similar:
            nearest = nlargest(POOL, similar, key=lambda at: (similar[at], -at))
            extra.update(map(documents.at, nearest))
        if recalled:
            extra.update(self._tool_numbers(remembered_candidates(recalled)))
        found = match_query(
            query_terms.request_terms(text, documents, self.synonyms),
            documents,
            admit=admit,
            extra=[n for n in sorted(extra) if admit is None or admit(n)],
        )
        words, alike = doc_shares(
            text, found, documents, recalled, self.memory.known if self.memory else 0.0
        )
        assessor = Scorer(
            intent=intent,
            asked=commands(text, lambda word: documents.stem_of(word) is not None),
            request_groups=cache(lambda: groups_of(text)),
            found=found,
            said=frozenset(key for key, weight in found.asked.items() if weight == 1.0),
            documents=documents,
            tools=self.tools,
            shares=self._weight_shares(),
            extra=self.extra,
            history=history,
            now=now,
            half_life_days=self.config.history_half_life_days,
            similar=by_number,
            nearest=max(by_number.values(), default=0.0) or 1.0,
            recalled=recalled,
            gain=word_gain(recalled, self.memory.known if self.memory else 0.0),
            words=words,
            closest=max(words.values(), default=0.0) or 1.0,
            alike=alike,
            typed=command_line.find_program(text),
            age=age_asked_for(text),
        )
        return assessor, named

    def _find_named_tools(self, text: str) -> frozenset[int]:
        """Return the tools that the request names by id, file or whole name."""
        mentioned = mentions(text)
        near = {n for key in map(key_of, mentioned) for n in self.documents.spelt(key)}
        near.update(self._tool_numbers(name for name in mentioned if not name.startswith("=")))
        return frozenset(
            n for n in near if not mentioned.isdisjoint(spellings(self._tool_by_number(n)))
        )

    def _find_phrased_tools(
        self, text: str, assessed: Sequence[ScoredTool], recalled: Mapping[str, PastVotes]
    ) -> frozenset[int]:
        """Return the best candidates whose manifest has the whole request as one of its intents.

        Stop words count here: "who can log in" is not "log". None are returned if the same request
        was asked before, because how that ended says more than a manifest. The name in "is cron
        running" is a word of other tools, so more candidates are looked at.
        """
        of_service = asks_for_a_service(text)
        best = assessed[: max(self.config.max_candidates, POOL if of_service else 0)]
        manifests = [(a.number, self._tool_by_number(a.number).manifest) for a in best]
        intents = [(number, manifest.intents) for number, manifest in manifests if manifest]
        if not intents:
            return frozenset()
        asked = letters_of(text)
        votes = (vote for past in recalled.values() for vote in past.votes)
        if any(letters_of(vote.request) == asked for vote in votes):
            return frozenset()
        found = frozenset(number for number, phrases in intents if is_one_of(text, phrases))
        if found or not of_service:
            return found
        return frozenset(
            number for number, _ in intents if answers_for_any_service(self._tool_by_number(number))
        )

    def _tool_numbers(self, ids: Iterable[str]) -> list[int]:
        found = (self.documents.number(tool_id) for tool_id in ids)
        return [n for n in found if n is not None]

    def _tools_for_plugins(self) -> list[int]:
        """Return every tool if a weighted plugin may score tools that share no word; or none."""
        if not any(self.config.weights.get(f.name, 0.0) > 0 for f in self.extra):
            return []
        return [self.documents.at(position) for position in range(len(self.tools))]

    def _tool_by_number(self, number: int) -> ToolSpec:
        return self.tools[self.documents.position(number)]

    def _break_ties(self, assessed: Sequence[ScoredTool]) -> tuple[list[ScoredTool], int]:
        """Return the candidates in final order, and how many of them tie for the first place.

        The tolerance applies to the first place only. Further down, the scores of a large catalogue
        all lie close together, and their order decides nothing.
        """
        ordered = list(assessed)
        first = end_of_tie(assessed, 0, self.config.tie_tolerance) if assessed else 0
        start, end = 0, first
        scores = [a.order[:2] for a in assessed[first:]]
        last = len(ordered) if len(set(scores)) < len(scores) else first
        while start < last:
            if end > start + 1:
                ordered[start:end] = sorted(
                    assessed[start:end],
                    key=lambda a: tie_key(as_candidate(a, self._tool_by_number)),
                )
            start, end = end, end_of_tie(assessed, end) if end < last else end
        return ordered, first


def _unparsed_intent(request: str) -> ParsedIntent:
    return ParsedIntent(domain=None, action=None, intent=request, confidence=0.0)


def admission_filter(
    documents: Documents,
    hidden: Collection[str],
    kinds: Collection[Kind] | None,
    allowed: Allowed | None,
) -> Admit | None:
    """Return a predicate by tool number, or None if all tools may be candidates."""
    if not hidden and kinds is None and allowed is None:
        return None
    wanted = {n for n, kind in enumerate(KINDS) if kinds is None or kind in kinds}

    def admit(number: int) -> bool:
        if documents.flags(number) & KIND_BITS not in wanted:
            return False
        tool_id = documents.id(number)
        if tool_id in hidden or allowed is None:
            return tool_id not in hidden
        return allowed(tool_id) if callable(allowed) else tool_id in allowed

    return admit
