"""Postings of a stem, and their change when tools come and go. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from pulsus.core.rankers.lexical.index_segment import IndexSegment
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Postings:
    """The tools of one segment that have a stem, by number in it; `first` is that of all."""

    first: int
    tools: memoryview[int]
    counts: memoryview[int]
    places: memoryview[int]
    lengths: memoryview[int]


@dataclass(frozen=True, slots=True)
class StemEntry:
    """A stem: its weight, and where it stands."""

    idf: float
    postings: tuple[Postings, ...]


def idf(size: int, tools: int) -> float:
    """Return the idf of a word that `tools` of `size` tools have (BM25; never negative)."""
    return math.log(1 + (size - tools + 0.5) / (tools + 0.5))


def postings(part: IndexSegment, number: int, first: int) -> Postings:
    span = slice(part["posting_at"][number], part["posting_at"][number + 1])
    return Postings(
        first,
        part["posting_tool"][span],
        part["posting_count"][span],
        part["posting_places"][span],
        part["lengths"],
    )


def lost_words(
    base: IndexSegment, delta: IndexSegment, removed: Sequence[int]
) -> tuple[Counter[str], frozenset[str]]:
    """Return the number of tools that each stem lost, and the words that no tool has any more."""
    written: Counter[int] = Counter()
    lost: Counter[str] = Counter()
    for n in removed:
        tool_words = base["said_word"][base["said_at"][n] : base["said_at"][n + 1]]
        written.update(tool_words)
        lost.update(base.stems.text(s) for s in {base["word_stem"][w] for w in tool_words})
    dead = (base.words.raw(w) for w, n in written.items() if n == base["word_tools"][w])
    return lost, frozenset(w for w in map(bytes.decode, dead) if delta.word(w) is None)


def moved_positions(
    base: IndexSegment, delta: IndexSegment, removed: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Removed numbers; by new tool how many of the base come before it, and its position."""
    before = [base.ids.place(delta.ids.raw(n)) for n in range(len(delta))]
    own = [at - bisect_left(removed, at) + n for n, at in enumerate(before)]
    return list(removed), before, own
