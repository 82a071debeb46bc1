"""Rate each tool alone by the words of a request: the first of the models. Pure.

Only `pulsus compose-eval` uses it. Routes rank tools in `core/rankers/lexical_ranker.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pulsus.core.compose.tool_chains.chain_model import Matrix
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable, Words
from pulsus.core.compose.tool_chains.verb_clauses import ClauseSpans, split_clauses
from pulsus.core.text.tokens import stem, stems

RankText = Callable[[str], Mapping[str, tuple[float, float]]]
"""A text → score and p of each tool that matches, by id."""

NAMES = (
    *("clause_share", "clause_score", "clause_p", "request_share", "request_score", "request_p"),
    *("clause_rank", "clause_first", "part_share", "part_p", "name_in_clause"),
    *("summary_in_clause", "clause_covered", "request_covered", "outputs_in_request"),
    *("inputs_in_request", "name_in_request", "few_clauses", "no_inputs", "clause_share_times_p"),
    "request_first",
)
"""Columns, in order. A share is relative to the best tool of the same text."""

_OF_REQUEST, _OF_CLAUSE, _OF_PART = 40, 20, 8
"""Candidates taken from the ranking of the whole request, of a clause and of a part."""


@dataclass(frozen=True)
class ScoredText:
    """The ranking of one text: score and p of each tool, and the best score."""

    scores: Mapping[str, tuple[float, float]]
    best: float

    @classmethod
    def of(cls, text: str, rank: RankText) -> ScoredText:
        """Return the ranking of `text`; empty for a text without content words."""
        scores = rank(text) if stems(text) else {}
        return cls(scores, max((score for score, _ in scores.values()), default=0.0) or 1.0)

    def values(self, tool: str) -> tuple[float, float, float]:
        """Return the share of the best score, the score and p of one tool."""
        score, p = self.scores.get(tool, (0.0, 0.0))
        return score / self.best, score, p

    def rank(self, tool: str) -> int:
        """Return the place of a tool, from 1."""
        own = self.scores.get(tool, (0.0, 0.0))[0]
        return 1 + sum(score > own for score, _ in self.scores.values())

    def first(self, count: int) -> list[str]:
        """Return the best tools, equal scores in id order."""
        return sorted(self.scores, key=lambda tool: (-self.scores[tool][0], tool))[:count]


@dataclass(frozen=True)
class RequestScores:
    """A request cut into clauses, with the rankings of the whole, of clauses and of parts."""

    spans: ClauseSpans
    whole: ScoredText
    clauses: Sequence[ScoredText]
    parts: Sequence[ScoredText]

    @classmethod
    def of(cls, request: str, rank: RankText) -> RequestScores:
        """Return the rankings of a request and its pieces."""
        spans = split_clauses(request)
        whole = ScoredText.of(spans.text, rank)
        seen: dict[str, ScoredText] = {spans.text: whole}

        def scored(span: tuple[int, int]) -> ScoredText:
            text = spans.text[slice(*span)]
            if text not in seen:
                seen[text] = ScoredText.of(text, rank)
            return seen[text]

        return cls(
            spans,
            whole,
            tuple(scored(span) for span in spans.clauses),
            tuple(scored(span) for span in spans.parts),
        )


@dataclass(frozen=True)
class ToolEvidence:
    """The candidates of a request, as places in the table, and one row of numbers for each.

    `clause` is the clause that suits a candidate best, `position` where its words begin.
    """

    request: RequestScores
    tools: Sequence[int]
    columns: Matrix
    clause: Sequence[int]
    position: Sequence[float]


def collect_evidence(
    request: RequestScores, table: SignatureTable, include: Collection[int] = ()
) -> ToolEvidence:
    """Return the candidates of a request with their numbers. `include` adds tools."""
    tools = _list_candidates(request, table, include)
    spans = request.spans
    said = Words(stems(spans.text))
    said_in = [Words(stems(spans.clause_text(n))) for n in range(len(spans.clauses))]
    rows, clauses, positions = [], [], []
    for place in tools:
        tool = table.tools[place]
        best, clause = _best_clause(request, tool.id)
        words = said_in[clause] if said_in else Words()
        scored = request.clauses[clause] if request.clauses else request.whole
        rank = scored.rank(tool.id)
        share, score, p = request.whole.values(tool.id)
        part_share, part_p = _best_part(request, tool.id)
        rows.append(
            [
                *(*best, share, score, p, 1 / rank, float(rank == 1), part_share, part_p),
                table.share(words, tool.name_words),
                table.share(words, tool.summary_words),
                table.share(tool.own_words, words),
                table.share(tool.own_words, said),
                len(tool.all_output_words & said) / max(1, min(4, len(tool.all_output_words))),
                sum(bool(one) and one <= said for one in tool.input_words)
                / max(1, len(tool.input_words)),
                table.share(said, tool.name_words),
                1 / max(1, len(spans.clauses)),
                float(not tool.inputs),
                best[0] * best[2],
                float(score > 0 and request.whole.rank(tool.id) == 1),
            ]
        )
        clauses.append(clause)
        positions.append(_find_position(spans, clause, tool.own_words))
    columns = np.array(rows, dtype=np.float64).reshape(len(tools), len(NAMES))
    return ToolEvidence(request, tools, columns, clauses, positions)


def _list_candidates(
    request: RequestScores, table: SignatureTable, include: Collection[int]
) -> tuple[int, ...]:
    found = set(request.whole.first(_OF_REQUEST))
    for scored in request.clauses:
        found.update(scored.first(_OF_CLAUSE))
    for scored in request.parts:
        found.update(scored.first(_OF_PART))
    places = {table.place[tool] for tool in found if tool in table.place}
    makers = {maker for place in sorted(places) for maker in table.producers(place)}
    return tuple(sorted(places | makers | set(include)))


def _best_clause(request: RequestScores, tool: str) -> tuple[tuple[float, float, float], int]:
    """Return share, score and p of the clause that suits a tool best, and its number."""
    rated = [(scored.values(tool), number) for number, scored in enumerate(request.clauses)]
    none = ((0.0, 0.0, 0.0), 0)
    return max(rated, key=lambda row: row[0][0] * row[0][1], default=none)


def _best_part(request: RequestScores, tool: str) -> tuple[float, float]:
    """Return share and p of the part that suits a tool best. A vague part counts for less."""
    rated = (scored.values(tool) for scored in request.parts)
    shares = ((share * min(1.0, score * 1.6), score, p) for share, score, p in rated)
    share, _, p = max(shares, default=(0.0, 0.0, 0.0))
    return share, p


def _find_position(spans: ClauseSpans, clause: int, words: Words) -> float:
    """Return where the first word of a tool stands in its clause, or the middle of the clause."""
    if not spans.clauses:
        return 0.0
    start, end = spans.clauses[clause]
    for match in re.finditer(r"[A-Za-z]+", spans.text[start:end]):
        if stem(match.group().lower()) in words:
            return float(start + match.start())
    return start + (end - start) / 2
