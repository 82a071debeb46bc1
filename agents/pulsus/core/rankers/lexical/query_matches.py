"""Find the tools that share words with a request, in one pass over the postings.

All tools are scored by their words (BM25); of the best few it is then looked up which words stand
where. Both ways of scoring give the same numbers to the last bit (bm25.py, bm25_numpy.py). Typos
and synonyms come from `query_terms.py`.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from pulsus.core.rankers.lexical import bm25 as overlap
from pulsus.core.rankers.lexical.bm25 import Hit, Lookup
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.postings import Postings
from pulsus.core.rankers.lexical.query_terms import HOW, Term
from pulsus.core.rankers.lexical.tool_fields import FOCUS, NAME, place_names
from pulsus.core.types import WordMatch
from pulsus.fast_dataclass import dataclass

POOL = 24
"""Candidates whose features are computed; the rest share too few words to matter."""

MENTION = 0.6
"""Weight of a word that a tool only mentions, in its body, arguments or history."""

_FEW = 400
"""Postings up to which passing over all beats looking up each candidate."""


MANY = 500
"""Postings from which numpy is faster where it is loaded. Loading it costs a hundred requests."""


class ToolMatches(NamedTuple):
    """The matches of one tool.

    `overlap` is its BM25 score; `covered` the idf mass of the matched words; `named` that of its
    name's words the request says, or means.
    """

    overlap: float
    covered: float
    named: float
    hits: Sequence[Hit]
    terms: int


_NOTHING = ToolMatches(0.0, 0.0, 0.0, (), 0)


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """The tools looked at, by number.

    `asked` maps every stem looked for to its weight. `mass` is the idf mass of the whole request.
    """

    terms: tuple[Term, ...]
    asked: Mapping[str, float]
    found: Mapping[int, ToolMatches]
    mass: float

    def coverage(self, number: int) -> float:
        """Share of the request's idf mass the tool has words for, in [0, 1]."""
        return min(1.0, self.found[number].covered / self.mass) if self.mass else 0.0


Admit = Callable[[int], bool]
"""Decides by number if a tool may be a candidate."""


def match_query(
    terms: tuple[Term, ...],
    documents: Documents,
    *,
    admit: Admit | None = None,
    extra: Collection[int] = (),
) -> QueryMatches:
    """Return the evidence of a request; a word found in several meanings counts by its best one.

    Tools that are not admitted are not there, though their words keep what they weigh. `extra` are
    looked at whatever they share.
    """
    asked: dict[str, float] = {}
    owns: list[float] = []
    lookups: list[list[Lookup]] = []
    mass = 0.0
    for term in terms:
        for key, weight in term.stems.items():
            asked[key] = max(asked.get(key, 0.0), weight * term.factor)
        lookups.append(_look_up_term(term, documents))
        own = importance(term, lookups[-1], documents)
        owns.append(own)
        mass += own
    named = {own.key: asked[own.key] * own.idf for meanings in lookups for own in meanings}
    scores, hits = best_matches(lookups, documents, admit, extra)
    found = {
        n: _build_tool_matches(score, hits[n], owns, named) if hits[n] else _NOTHING
        for n, score in scores.items()
    }
    return QueryMatches(terms, asked, found, mass)


def best_matches(
    lookups: Sequence[Sequence[Lookup]],
    documents: Documents,
    admit: Admit | None,
    extra: Collection[int],
) -> tuple[dict[int, float], dict[int, list[Hit]]]:
    """Return the `POOL` best tools that are admitted and share a word, best first, then `extra`;
    and where the terms stand in each.
    """
    many = sum([len(p.tools) for term in lookups for found in term for p in found.postings])
    if many >= MANY and "numpy" in sys.modules:
        from pulsus.core.rankers.lexical import bm25_numpy  # only where it costs no import

        return bm25_numpy.best_matches(lookups, documents, POOL, admit, extra)
    scores = overlap.score_sums(lookups, documents)
    found = overlap.best_tools(scores, documents, POOL, admit)
    found |= {n: scores.get(n, 0.0) for n in extra if n not in found}
    return found, _list_hits(lookups, found)


def importance(term: Term, found: Sequence[Lookup], documents: Documents) -> float:
    """Return the idf of the word, or of what it most probably means where it is unknown, by
    factor.
    """
    if not found:
        return term.factor * documents.unseen
    if len(found) == 1:
        return term.factor * found[0].idf
    return term.factor * max((meaning.weight, meaning.idf) for meaning in found)[1]


def _look_up_term(term: Term, documents: Documents) -> list[Lookup]:
    found = []
    for key, weight in term.stems.items():
        entry = documents.entry(key)
        if entry is not None:
            gain = term.factor * weight * entry.idf
            found.append(Lookup(key, weight, gain, entry.idf, entry.postings))
    return found


def _list_hits(lookups: Sequence[Sequence[Lookup]], pool: Collection[int]) -> dict[int, list[Hit]]:
    """Return the hits of the terms in each tool of the pool."""
    hits: dict[int, list[Hit]] = {n: [] for n in pool}
    for number, meanings in enumerate(lookups):
        for key, weight, _, _, postings in meanings:
            same: dict[int, Hit] = {}
            for part in postings:
                for n, places in _list_places(part, hits):
                    hit = same.get(places)
                    if hit is None:
                        hit = same[places] = Hit(number, key, weight, places)
                    hits[n].append(hit)
    return hits


def _list_places(part: Postings, pool: Collection[int]) -> list[tuple[int, int]]:
    """Return the tools of the pool among these postings, with their places."""
    first, tools = part.first, part.tools
    if len(tools) <= _FEW:
        near = zip(tools.tolist(), part.places.tolist(), strict=True)
        return [(first + n, places) for n, places in near if first + n in pool]
    found = []
    for n in pool:
        at = bisect_left(tools, n - first) if n >= first else len(tools)
        if at < len(tools) and tools[at] == n - first:
            found.append((n, part.places[at]))
    return found


def _build_tool_matches(
    score: float, hits: Sequence[Hit], owns: Sequence[float], worth: Mapping[str, float]
) -> ToolMatches:
    covered = named = 0.0
    count, last, reach = 0, -1, 0.0
    named_stems: list[str] = []
    for number, key, weight, places in hits:
        own = weight if places & FOCUS else weight * MENTION
        if number == last:  # another meaning of the same word: the better one counts
            covered += max(0.0, own - reach) * owns[number]
            reach = max(own, reach)
        else:
            covered += own * owns[number]
            count, last, reach = count + 1, number, own
        if places & NAME and key not in named_stems:
            named_stems.append(key)
            named += worth[key]
    return ToolMatches(score, covered, named, hits, count)


def matched_words(terms: Sequence[Term], hits: Sequence[Hit]) -> dict[str, tuple[str, ...]]:
    """Return the request's words found in one tool, by place; a word may stand in several."""
    found: dict[str, dict[str, None]] = {}
    for number, _, _, places in hits:
        word = terms[number].word
        for place in place_names(places):
            if place in found:
                found[place][word] = None
            else:
                found[place] = {word: None}
    return {place: tuple(matched) for place, matched in found.items()}


def inexact_matches(terms: Sequence[Term], hits: Sequence[Hit]) -> tuple[WordMatch, ...]:
    """Return the words a tool has only as something else, each by its best meaning, in their
    order.
    """
    if {hit.weight for hit in hits} <= {1.0}:  # most of the time: each as itself
        return ()
    best: dict[int, Hit] = {}
    for hit in hits:
        if hit.term not in best or best[hit.term].weight < hit.weight:
            best[hit.term] = hit
    return tuple(
        WordMatch(terms[number].word, hit.key, HOW[hit.weight])
        for number, hit in sorted(best.items())
        if hit.weight in HOW
    )


def unmatched_words(terms: Sequence[Term], hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the words a tool has nothing for, in their order."""
    found = {hit.term for hit in hits}
    return tuple([term.word for number, term in enumerate(terms) if number not in found])
