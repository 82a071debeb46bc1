"""Tools to a segment (spec §13): words counted once, so that a request only looks up. Pure.

Counting needs no library: what a word weighs follows from the counts when a request is ranked, and
an index that grew with the catalogue equals one made anew. `routing/search/ranking_index_cache.py`
decides if a kept index is stale.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import pulsus
from pulsus.core.contract.tool_table import make_columns
from pulsus.core.rankers.lexical.char_ngrams import gram_norm, grams
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_segment import (
    PRINT_BYTES,
    IndexSegment,
    encode,
    hash_of,
    pack_columns,
)
from pulsus.core.rankers.lexical.tool_fields import (
    field_words,
    stem_counts,
    stem_places,
    surface_words,
)
from pulsus.core.rankers.lexical.tool_names import tool_spellings
from pulsus.core.system.cache_file import Column
from pulsus.core.text.tokens import stem
from pulsus.core.types import Kind, ToolSpec

KINDS: tuple[Kind, ...] = ("resolve", "read", "write")
KIND_BITS = 0b11
"""The first two bits of a tool's flags: its kind's place in `KINDS`."""
SHARED = 1 << 2
CAREFUL = 1 << 3
"""A declared write tool: it must be asked for its change."""
DECLINES = 1 << 4
"""Its manifest has anti-intents."""

ANALYSIS = f"1 {pulsus.__version__}"
"""The code that takes words from tools; the number changes when it takes other words."""

MOST = 255
"""Highest count of a word in one tool; BM25 hardly tells it from more."""


def prints_of(tools: Sequence[ToolSpec]) -> list[bytes]:
    """Return a short hash of what each tool's words come from: its file and its manifest."""
    known = make_columns(tools)
    printed = (
        f"{ANALYSIS} {sha256} {hints}"
        for sha256, hints in zip(known.sha256, known.hints, strict=True)
    )
    return [
        hashlib.blake2b(each.encode("utf-8", "replace"), digest_size=PRINT_BYTES).digest()
        for each in printed
    ]


def pack_index(
    tools: Iterable[tuple[ToolSpec, bytes]], *, key: str = "", removed: Sequence[int] = ()
) -> bytes:
    """Return the segment of tools in id order, each with its print (`prints_of`)."""
    packer = _IndexPacker()
    for tool, printed in tools:
        packer.add(tool, printed)
    return pack_columns(packer.columns(removed), key)


def words_of(tools: Sequence[ToolSpec]) -> Documents:
    """Return the words of tools in id order, counted anew."""
    packed = pack_index(zip(tools, prints_of(tools), strict=True))
    return Documents.of(IndexSegment.from_bytes(packed))


def flags_of(tool: ToolSpec) -> int:
    """Return the properties that filters and order need, as bits."""
    careful = CAREFUL if tool.kind_declared and tool.kind == "write" else 0
    declines = DECLINES if tool.manifest and tool.manifest.anti_intents else 0
    return KINDS.index(tool.kind) | (SHARED if tool.shared else 0) | careful | declines


class _IndexPacker:
    """Columns while they grow; stems and words are numbered as they come."""

    def __init__(self) -> None:
        self.stems: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.word_stem = array("I")
        self.word_tools = array("I")
        self.postings: list[tuple[array[int], bytearray, bytearray]] = []
        self.ids: list[bytes] = []
        self.prints: list[bytes] = []
        self.flags = bytearray()
        self.lengths = array("I")
        self.names: list[list[int]] = []
        self.said: list[list[tuple[int, int]]] = []
        self.norms = array("f")
        self.spelt: list[tuple[int, int]] = []

    def add(self, tool: ToolSpec, printed: bytes) -> None:
        number = len(self.ids)
        fields = field_words(tool)
        counts, bits = stem_counts(fields), stem_places(fields)
        for key, count in counts.items():
            tools, found, where = self.postings[self._stem_number(key)]
            tools.append(number)
            found.append(min(count, MOST))
            where.append(bits[key])
        written = surface_words(fields)
        self.norms.append(gram_norm(written))
        said = [(self._word_number(word), min(count, MOST)) for word, count in written.items()]
        for word, _ in said:
            self.word_tools[word] += 1
        self.said.append(said)
        self.names.append([self.stems[k] for k in dict.fromkeys(map(stem, fields["name"]))])
        self.lengths.append(sum(counts.values()))
        self.ids.append(encode(tool.id))
        self.prints.append(printed)
        self.flags.append(flags_of(tool))
        self.spelt += [(hash_of(key), number) for key in sorted(tool_spellings(tool))]

    def _stem_number(self, key: str) -> int:
        number = self.stems.setdefault(key, len(self.stems))
        if number == len(self.postings):
            self.postings.append((array("I"), bytearray(), bytearray()))
        return number

    def _word_number(self, word: str) -> int:
        number = self.words.setdefault(word, len(self.words))
        if number == len(self.word_stem):
            self.word_stem.append(self.stems[stem(word)])
            self.word_tools.append(0)
        return number

    def columns(self, removed: Sequence[int]) -> dict[str, Column]:
        """Return every column, stems and words renumbered in the order of their texts."""
        stems, stem_number = _sort_with_places(self.stems)
        words, word_number = _sort_with_places(self.words)
        by_stem = [self.postings[self.stems[s]] for s in stems]
        by_word = [self.words[w] for w in words]
        self.spelt.sort()
        said = [sorted((word_number[w], count) for w, count in own) for own in self.said]
        return {
            **_text_columns("stem", map(encode, stems)),
            **_text_columns("word", map(encode, words)),
            "word_stem": _number_column(stem_number[self.word_stem[n]] for n in by_word),
            "word_tools": _number_column(self.word_tools[n] for n in by_word),
            "word_slots": _build_hash_table(words),
            "gram_at": _end_column(len(grams(word)) for word in words),
            "grams": array("H", (slot for word in words for slot in grams(word))),
            "posting_at": _end_column(len(tools) for tools, _, _ in by_stem),
            "posting_tool": _number_column(number for tools, _, _ in by_stem for number in tools),
            "posting_count": b"".join(counts for _, counts, _ in by_stem),
            "posting_places": b"".join(bits for _, _, bits in by_stem),
            "lengths": self.lengths,
            "total": _number_column([sum(self.lengths)]),
            "name_at": _end_column(map(len, self.names)),
            "name_stem": _number_column(stem_number[n] for name in self.names for n in name),
            **_text_columns("id", self.ids),
            "prints": b"".join(self.prints),
            "flags": bytes(self.flags),
            "said_at": _end_column(map(len, self.said)),
            "said_word": _number_column(word for own in said for word, _ in own),
            "said_count": bytes(count for own in said for _, count in own),
            "norms": self.norms,
            "spelt_hash": _number_column(found for found, _ in self.spelt),
            "spelt_tool": _number_column(number for _, number in self.spelt),
            "removed": _number_column(removed),
        }


def _sort_with_places(numbers: Mapping[str, int]) -> tuple[list[str], list[int]]:
    """Return the texts in order, and the place of each by its number."""
    texts = sorted(numbers)
    place = [0] * len(texts)
    for at, text in enumerate(texts):
        place[numbers[text]] = at
    return texts, place


def _build_hash_table(words: Sequence[str]) -> Column:
    """Return the hash table of the words: each slot is a word's number plus one, or 0."""
    size = 2 << len(words).bit_length()
    slots = array("I", bytes(4 * size))
    for number, word in enumerate(words, start=1):
        at = hash_of(word) & (size - 1)
        while slots[at]:
            at = (at + 1) & (size - 1)
        slots[at] = number
    return slots


def _text_columns(name: str, texts: Iterable[bytes]) -> dict[str, Column]:
    listed = list(texts)
    return {f"{name}s": b"".join(listed), f"{name}_at": _end_column(map(len, listed))}


def _end_column(sizes: Iterable[int]) -> Column:
    return _number_column(accumulate(sizes, initial=0))


def _number_column(numbers: Iterable[int]) -> Column:
    return array("I", numbers)
