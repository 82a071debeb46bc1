"""The weights of a catalogue's words (spec §4 `doc_keywords`): lookups in a segment, or in two.

The second holds tools that came or changed since the first was made. Counts are kept, weights are
not: an index that grew with the catalogue answers exactly as one made anew. `index_builder.py`
counts the words, and `routing/search/ranking_index_cache.py` keeps the index.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any

from pulsus.core.rankers.lexical.index_segment import IndexSegment, encode
from pulsus.core.rankers.lexical.postings import (
    StemEntry,
    idf,
    lost_words,
    moved_positions,
    postings,
)
from pulsus.core.rankers.lexical.tool_fields import NAME
from pulsus.fast_dataclass import dataclass

_MEMO = 20_000
"""Words whose place is remembered between requests."""


@dataclass(frozen=True, slots=True)
class DocIndex:
    """A small vocabulary in memory. `vocabulary` maps each word as written to its stem."""

    size: int
    idf: Mapping[str, float]
    vocabulary: Mapping[str, str]
    nearby: dict[str, Mapping[str, float]] = field(default_factory=dict)

    def knows(self, key: str) -> bool:
        """Return True if any tool has the stem."""
        return key in self.idf

    def stem_of(self, word: str) -> str | None:
        """Return the stem of a word that is written somewhere."""
        return self.vocabulary.get(word)

    def like(self, first: str, shortest: int, longest: int) -> Sequence[str]:
        """Return the words of some length that begin so, in order."""
        return [
            word
            for word in self.vocabulary
            if shortest <= len(word) <= longest and word.startswith(first)
        ]

    def called(self, key: str) -> bool:
        """Return True if a tool's name is exactly this stem."""
        return False  # folders have no tools


@dataclass(frozen=True)
class Documents:
    """A catalogue's words. Tools have numbers; their positions are those in id order.

    `gone` are numbers of `base` that no longer count: removed, or changed and in `delta`.
    """

    base: IndexSegment
    delta: IndexSegment | None = None
    gone: frozenset[int] = frozenset()
    _lost: Counter[str] = field(default_factory=Counter)
    _dead: frozenset[str] = frozenset()
    _moved: tuple[list[int], list[int], list[int]] = ([], [], [])
    _total: int = 0
    nearby: dict[str, Mapping[str, float]] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, base: IndexSegment, delta: IndexSegment | None = None) -> Documents:
        """Return the words of a segment, and of the one that follows it."""
        total = base["total"][0]
        if delta is None:
            return cls(base, _total=total)
        removed = delta["removed"].tolist()
        gone, dead = lost_words(base, delta, removed)
        total += delta["total"][0] - sum(base["lengths"][n] for n in removed)
        moved = moved_positions(base, delta, removed)
        return cls(base, delta, frozenset(removed), gone, dead, moved, total)

    @cached_property
    def size(self) -> int:
        """The number of tools."""
        return len(self.base) - len(self.gone) + (0 if self.delta is None else len(self.delta))

    @cached_property
    def mean_length(self) -> float:
        """Number of words of a tool, at least 1."""
        return self._total / self.size if self._total else 1.0

    @cached_property
    def unseen(self) -> float:
        """The idf of a word no tool has."""
        return idf(self.size, 0)

    @cached_property
    def entry(self) -> Callable[[str], StemEntry | None]:
        """Returns a stem that some tool has."""
        return lru_cache(_MEMO)(self._find_entry)

    def _find_entry(self, key: str) -> StemEntry | None:
        raw, found = encode(key), []
        for first, part in self._list_segments():
            number = part.stems.find(raw)
            if number is not None:
                found.append(postings(part, number, first))
        tools = sum(len(f.tools) for f in found) - self._lost[key]
        return StemEntry(idf(self.size, tools), tuple(found)) if tools else None

    def _list_segments(self) -> Iterator[tuple[int, IndexSegment]]:
        yield 0, self.base
        if self.delta is not None:
            yield len(self.base), self.delta

    def knows(self, key: str) -> bool:
        """Return True if a tool has the stem."""
        return self.entry(key) is not None

    def weight(self, key: str) -> float:
        """Return the idf of a stem, seen or not."""
        found = self.entry(key)
        return found.idf if found else self.unseen

    @cached_property
    def stem_of(self) -> Callable[[str], str | None]:
        """Returns the stem of a word that is written in some tool."""
        return lru_cache(_MEMO)(self._find_stem_of_word)

    def _find_stem_of_word(self, word: str) -> str | None:
        if word in self._dead:
            return None
        part, number = self.base, self.base.word(word)
        if number is None and self.delta is not None:
            part, number = self.delta, self.delta.word(word)
        return None if number is None else part.stems.text(part["word_stem"][number])

    def like(self, first: str, shortest: int, longest: int) -> Sequence[str]:
        """Return the written words of some length that begin so, shorter ones first."""
        by_length = self._cached_words_beginning_with(first)
        found: list[str] = []
        for length in range(shortest, longest + 1):
            found += by_length.get(length, ())
        return found

    @cached_property
    def _cached_words_beginning_with(self) -> Callable[[str], dict[int, list[str]]]:
        return lru_cache(_MEMO)(self._find_words_beginning_with)

    def _find_words_beginning_with(self, first: str) -> dict[int, list[str]]:
        """Return the written words with this beginning, in order, by length."""
        found: set[str] = set()
        low = encode(first)
        for _, part in self._list_segments():
            # No UTF-8 holds FF: it comes after every word that begins so.
            span = range(part.words.place(low), part.words.place(low + b"\xff"))
            found.update(part.words.text(n) for n in span)
        by_length: dict[int, list[str]] = {}
        for word in sorted(found - self._dead):
            by_length.setdefault(len(word), []).append(word)
        return by_length

    @cached_property
    def called(self) -> Callable[[str], bool]:
        """Returns True if a tool's name is exactly this stem."""
        return lru_cache(_MEMO)(self._is_whole_name)

    def _is_whole_name(self, key: str) -> bool:
        entry = self.entry(key)
        return entry is not None and any(
            bits & NAME and self.name_size(n) == 1
            for p in entry.postings
            for n, bits in zip((p.first + t for t in p.tools), p.places, strict=True)
            if n not in self.gone
        )

    def name_size(self, number: int) -> int:
        """Return the number of stems in a tool's name."""
        part, own = self.within(number)
        return part["name_at"][own + 1] - part["name_at"][own]

    @cached_property
    def name_mass(self) -> Callable[[int], float]:
        """Returns the idf of the stems in a tool's name, together."""
        return lru_cache(_MEMO)(self._name_mass)

    def _name_mass(self, number: int) -> float:
        part, own = self.within(number)
        span = range(part["name_at"][own], part["name_at"][own + 1])
        mass = 0.0
        for at in span:
            mass += self.weight(part.stems.text(part["name_stem"][at]))
        return mass

    def flags(self, number: int) -> int:
        """Return the bits that filters and order need (index_builder.py)."""
        if self.delta is None:
            return self.base.flags[number]
        part, own = self.within(number)
        return part["flags"][own]

    def id(self, number: int) -> str:
        """Return a tool's id."""
        part, own = self.within(number)
        return part.ids.text(own)

    def number(self, tool_id: str) -> int | None:
        """Return the number of an id."""
        raw = encode(tool_id)
        for first, part in self._list_segments():
            found = part.ids.find(raw)
            if found is not None and first + found not in self.gone:
                return first + found
        return None

    def spelling(self, number: int) -> tuple[IndexSegment, list[int], list[int]]:
        """A tool's words by their number in a segment, and how often each is written."""
        part, own = self.within(number)
        first, last = part["said_at"][own : own + 2]
        words, counts = part["said_word"][first:last], part["said_count"][first:last]
        return part, words.tolist(), counts.tolist()

    def written_grams(self, word: str) -> memoryview[int] | None:
        """Return the slots of a word's n-grams as the index keeps them; None for an unknown word.

        Each slot takes two bytes. Reading them takes a fraction of the time that hashing them does.
        """
        part, number = self.base, self.base.word(word)
        if number is None and self.delta is not None:
            part, number = self.delta, self.delta.word(word)
        return None if number is None else part.gram_slots(number)

    def norm(self, number: int) -> float:
        """Return the length of a tool's n-gram vector (char_ngrams.py)."""
        part, own = self.within(number)
        return part.norms[own]

    def spelt(self, spelling: str) -> list[int]:
        """Return tools that may be spelt so: the caller compares."""
        found = [first + n for first, part in self._list_segments() for n in part.spelt(spelling)]
        return [n for n in found if n not in self.gone]

    def position(self, number: int) -> int:
        """Return a tool's place in id order."""
        if self.delta is None:
            return number
        removed, before, own = self._moved
        if number >= len(self.base):
            return own[number - len(self.base)]
        return number - bisect_left(removed, number) + bisect_right(before, number)

    def at(self, position: int) -> int:
        """Return the number of the tool at a place in id order."""
        if self.delta is None:
            return position
        removed, _, own = self._moved
        new = bisect_left(own, position)
        if new < len(own) and own[new] == position:
            return len(self.base) + new
        rank = position - new
        return rank + bisect_right([n - k for k, n in enumerate(removed)], rank)

    def within(self, number: int) -> tuple[IndexSegment, int]:
        """Return the segment a tool is in, and its number there."""
        if self.delta is not None and number >= len(self.base):
            return self.delta, number - len(self.base)
        return self.base, number
