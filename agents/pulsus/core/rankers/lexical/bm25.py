"""The best tools by the request's words: BM25 over postings (Robertson & Zaragoza 2009).

Few postings are added up here; many, where numpy is loaded anyway, in bm25_numpy.py. Both do the
same operations in the same order, so that no score depends on which one ran. The constants k1 and b
stand here. `query_terms.py` makes the terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.postings import Postings

K1 = 1.2
B = 0.5
"""Weight of a tool's length. Over eight routing sets 0.5 was better than 0.75."""


class Lookup(NamedTuple):
    """One meaning of a request word: stem, weight, what it adds, its idf, and its tools."""

    key: str
    weight: float
    gain: float
    idf: float
    postings: tuple[Postings, ...]


class Hit(NamedTuple):
    """A request word in a tool: the term's number, the stem found, its weight, places as bits."""

    term: int
    key: str
    weight: float
    places: int


def length_norm(documents: Documents) -> tuple[float, float]:
    """Return the length norm of the denominator: a constant, and an amount for each word."""
    return K1 * (1 - B), K1 * B / documents.mean_length


def score_sums(lookups: Sequence[Sequence[Lookup]], documents: Documents) -> dict[int, float]:
    """Return the score of every tool that has a word of the request, by number."""
    least, slope = length_norm(documents)
    total: dict[int, float] = {}
    for meanings in lookups:
        if len(meanings) == 1:
            for part in meanings[0].postings:
                _add_scores(total, meanings[0].gain, part, least, slope)
        elif meanings:
            reached: dict[int, float] = {}
            for meaning in meanings:
                for part in meaning.postings:
                    _raise_scores(reached, meaning.gain, part, least, slope)
            for n, value in reached.items():
                total[n] = total.get(n, 0.0) + value
    for n in documents.gone:
        total.pop(n, None)
    return total


def _add_scores(
    total: dict[int, float], gain: float, part: Postings, least: float, slope: float
) -> None:
    get, lengths, first, most = total.get, part.lengths, part.first, K1 + 1
    for n, count in zip(part.tools.tolist(), part.counts.tolist(), strict=True):
        value = gain * (count * most) / (count + (least + slope * lengths[n]))
        n += first
        total[n] = get(n, 0.0) + value


def _raise_scores(
    reached: dict[int, float], gain: float, part: Postings, least: float, slope: float
) -> None:
    for n, count in zip(part.tools.tolist(), part.counts.tolist(), strict=True):
        value = gain * (count * (K1 + 1)) / (count + (least + slope * part.lengths[n]))
        n += part.first
        if value > reached.get(n, 0.0):
            reached[n] = value


def best_tools(
    scores: Mapping[int, float],
    documents: Documents,
    size: int,
    admit: Callable[[int], bool] | None,
) -> dict[int, float]:
    """Return the `size` best tools that are admitted, best first, equal scores in the order of
    ids.
    """
    least = 0.0
    if admit is None and len(scores) > size:
        least = sorted(scores.values(), reverse=True)[size - 1]
    near = [(-value, documents.position(n), n) for n, value in scores.items() if value >= least]
    admitted = (at for at in sorted(near) if admit is None or admit(at[2]))
    return {n: -value for value, _, n in islice(admitted, size)}
