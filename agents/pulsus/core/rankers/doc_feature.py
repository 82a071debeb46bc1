"""The doc bucket's words: BM25, character n-grams, coverage (spec §4 `doc_keywords`, ADR 18).

`scorer.py` combines it with meaning, anti-intents and caution, and `core/rankers/lexical/bm25.py`
has the constants of BM25.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping
from heapq import nlargest

from pulsus.core.rankers.feature_protocol import PastVotes
from pulsus.core.rankers.lexical.char_ngrams import request_worth
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.query_matches import POOL, QueryMatches
from pulsus.core.text.tokens import STOP_WORDS, words

_CHARS = 0.6
_COVERAGE = 0.5
"""Weights of n-grams and coverage beside BM25."""

_PAST = 3.0
"""The gain of words over the rest of the bucket where every tool has a past: then they are the
words of requests. Over three routing sets 2 to 6 were alike; 0 costs 1 to 4 points of hit@1."""

_SPELT_OUT = 12
"""Candidates whose n-grams are compared. Over eight routing sets 10 were as good as all."""

_NO_PAST = PastVotes(0.0)


def word_gain(recalled: Mapping[str, PastVotes], known: float) -> float:
    """Return the weight of words beside n-grams, coverage and meaning: 1 without a past.

    `known` is the share of the catalogue's tools that have one.
    """
    return 1 + _PAST * known if recalled else 1.0


def doc_shares(
    text: str,
    found: QueryMatches,
    documents: Documents,
    recalled: Mapping[str, PastVotes],
    known: float,
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the share in [0, 1] of every tool looked at: 1 where it is the best by each part.

    And the `likeness` of those it was looked up of.

    BM25 and n-grams are relative to the request's best; what the words of a tool's past requests
    hold of this one counts as its own words do. `known` is the share of tools that have a past.
    """
    overlaps = {n: own.overlap for n, own in found.found.items()}
    if recalled:
        for n in overlaps:
            overlaps[n] += found.mass * recalled.get(documents.id(n), _NO_PAST).text
    best = max(overlaps.values(), default=0.0) or 1.0
    gain = word_gain(recalled, known)
    plain = {n: gain * own / best + _COVERAGE * found.coverage(n) for n, own in overlaps.items()}
    near = [(-value, documents.position(n), n) for n, value in plain.items()]
    near.sort()
    content = [w for w in words(text) if w not in STOP_WORDS and not w.isdecimal()]
    alike = ngram_cosine(content, [n for _, _, n in near[:_SPELT_OUT]], documents)
    most = max(alike.values(), default=0.0) or 1.0
    for n, value in alike.items():
        plain[n] += _CHARS * (value / most)
    return {n: value / (gain + _CHARS + _COVERAGE) for n, value in plain.items()}, alike


def ngram_cosine(
    said: Iterable[str], numbers: Collection[int], documents: Documents
) -> dict[int, float]:
    """Return the cosine of n-grams of these tools with a request of these words, each word once."""
    if "numpy" in sys.modules:
        from pulsus.core.rankers.lexical import ngram_cosine_numpy  # only where it costs no import

        return ngram_cosine_numpy.ngram_cosine(said, numbers, documents)
    return plain_ngram_cosine(said, numbers, documents)


def plain_ngram_cosine(
    said: Iterable[str], numbers: Collection[int], documents: Documents
) -> dict[int, float]:
    """Return the same numbers without numpy."""
    worth = request_worth(said)
    length = math.sqrt(sum(worth.values())) or 1.0
    known: dict[int, dict[int, float]] = {}
    found: dict[int, float] = {}
    for n in numbers:
        part, words, counts = documents.spelling(n)
        scores = known.setdefault(id(part), {})
        total = 0.0
        for word, count in zip(words, counts, strict=True):
            score = scores.get(word)
            if score is None:
                score = scores[word] = _word_score(part.grams(word), worth)
            total += count * score
        norm = documents.norm(n)
        found[n] = total / (norm * length) if norm else 0.0
    return found


def _word_score(slots: Iterable[int], worth: Mapping[int, float]) -> float:
    """Return the summed worth of a word's n-grams to the request."""
    total = 0.0
    for slot in slots:
        if slot in worth:
            total += worth[slot]
    return total


def remembered_candidates(recalled: Mapping[str, PastVotes]) -> list[str]:
    """Return tools that past requests speak for, the best `POOL` of them."""
    said = {t: past.text + past.value for t, past in recalled.items() if past.value >= 0}
    return nlargest(POOL, said, key=lambda tool: (said[tool], tool))
