"""The cosine of character n-grams (doc_feature.py): the same sums in the same order, on arrays."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pulsus.core.rankers.lexical.char_ngrams import SCALE, SLOTS, idf_table, slots_of
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_segment import IndexSegment

Floats = NDArray[np.float64]
Column = NDArray[np.unsignedinteger[Any]]
_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}

_SQUARES = np.array([(value / SCALE) ** 2 for value in range(256)])
"""The idf of a slot squared, by its value in the table."""


class _View(NamedTuple):
    """A segment's words by tool, and n-grams by word (index_segment.py)."""

    at: memoryview[int]
    words: Column
    counts: Column
    gram_at: Column
    grams: Column


def ngram_cosine(
    said: Iterable[str], numbers: Collection[int], documents: Documents
) -> dict[int, float]:
    """Return the cosine of n-grams of these tools with a request of these words, each word once."""
    slots, worth = _build_request_slots(list(dict.fromkeys(said)), documents)
    length = math.sqrt(sum(worth.tolist())) or 1.0
    by_part: dict[int, tuple[IndexSegment, list[int], list[int]]] = {}
    for n in numbers:
        part, own = documents.within(n)
        _, everywhere, inside = by_part.setdefault(id(part), (part, [], []))
        everywhere.append(n)
        inside.append(own)
    found: dict[int, float] = dict.fromkeys(numbers, 0.0)
    for part, everywhere, inside in by_part.values():
        totals = _score_tools(_array_view(part, documents), inside, slots, worth)
        for n, own, total in zip(everywhere, inside, totals, strict=True):
            norm = part.norms[own]
            found[n] = total / (norm * length) if norm else 0.0
    return found


def _build_request_slots(
    request_words: Sequence[str], documents: Documents
) -> tuple[Column, Floats]:
    """Return for every slot the place of its weight in the request, or 0; and the weights."""
    if not request_words:
        return np.zeros(SLOTS, np.uint8), np.zeros(1)
    every = [documents.written_grams(word) or _ngram_slots(word) for word in request_words]
    slots = np.frombuffer(b"".join(every), np.uint16)
    own = _SQUARES[np.frombuffer(idf_table(), np.uint8)[slots]]
    count = len(slots)
    places: Column = np.zeros(SLOTS, np.uint16 if count < SLOTS else np.uint32)
    places[slots[::-1]] = np.arange(count, 0, -1)  # of a slot's places the first
    return places, _sum_by_place(places[slots], own, count + 1)


@lru_cache(maxsize=512)
def _ngram_slots(word: str) -> bytes:
    return array("H", slots_of(word)).tobytes()


def _score_tools(view: _View, tools: Sequence[int], slots: Column, worth: Floats) -> list[float]:
    """Return the summed n-gram worth of each of these tools of a segment."""
    spans = [slice(view.at[n], view.at[n + 1]) for n in tools]
    words = np.concatenate([view.words[span] for span in spans])
    if not len(words):
        return [0.0] * len(tools)
    counts = np.concatenate([view.counts[span] for span in spans])
    words = words.astype(np.int64)
    first = view.gram_at[words].astype(np.int64)
    sizes = view.gram_at[words + 1] - first
    ends = sizes.cumsum()
    every = (first - ends + sizes).repeat(sizes)
    every += np.arange(len(every))
    found = slots[view.grams[every]]
    known = found.nonzero()[0]
    scores = _sum_by_place(ends.searchsorted(known, side="right"), worth[found[known]], len(words))
    own = np.arange(len(tools)).repeat([span.stop - span.start for span in spans])
    totals: list[float] = _sum_by_place(own, counts * scores, len(tools)).tolist()
    return totals


def _sum_by_place(at: NDArray[Any], values: Floats, size: int) -> Floats:
    """Return the values of each place, added up in the order given."""
    return cast(Floats, np.bincount(at, values, size))


def _array_view(part: IndexSegment, documents: Documents) -> _View:
    """Return the columns as arrays of the same bytes. They are cached with the documents."""
    kept: dict[int, _View] = documents.arrays.setdefault("spelling", {})
    view = kept.get(id(part))
    if view is None:
        names = ("said_word", "said_count", "gram_at", "grams")
        view = kept[id(part)] = _View(part["said_at"], *(_to_array(part[name]) for name in names))
    return view


def _to_array(column: memoryview[int]) -> Column:
    return np.frombuffer(column, _TYPES[column.itemsize])
