"""One binary file of a catalogue's words, read in place (spec §13). Pure: bytes in, bytes out.

Opening it parses nothing: every column is a view of the bytes. Sorted texts are searched by
bisection. `pack` (index_builder.py) writes it.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal

from pulsus.fast_dataclass import dataclass

FORMAT = 3
MAGIC = b"PulsusR" + sys.byteorder[:1].encode()

TYPES: Mapping[str, Literal["B", "H", "I", "f"]] = {
    "stems": "B",
    "stem_at": "I",
    "words": "B",
    "word_at": "I",
    "word_stem": "I",
    "word_tools": "I",
    "word_slots": "I",
    "gram_at": "I",
    "grams": "H",
    "posting_at": "I",
    "posting_tool": "I",
    "posting_count": "B",
    "posting_places": "B",
    "lengths": "I",
    "total": "I",
    "name_at": "I",
    "name_stem": "I",
    "ids": "B",
    "id_at": "I",
    "prints": "B",
    "flags": "B",
    "said_at": "I",
    "said_word": "I",
    "said_count": "B",
    "norms": "f",
    "spelt_hash": "I",
    "spelt_tool": "I",
    "removed": "I",
}
"""Columns in order, with their `array` type; an "I" of small numbers is kept as "H".

`X_at` holds where each entry of `X` begins, and at last where it ends. Postings are by stem, in
tool order. `said_word` is each tool's written words, `said_count` how often, `norms` the length of
its character n-grams and `grams` those of each word (char_ngrams.py). `word_slots` is a hash table
of the words: most lookups ask for what is not there. `total` is one number, the sum of `lengths`;
`removed` are ids' numbers in the segment that this one follows."""

_LAYOUT = FORMAT << 24 | zlib.crc32(repr(TYPES).encode()) >> 8
"""The format and the columns: a file of other columns is of another format."""

PRINT_BYTES = 8
KEY_BYTES = 32
_HEAD = struct.Struct("=8sII32s")
_COLUMN = struct.Struct("=QQ8s")


def encode(text: str) -> bytes:
    """Text as the file holds it. A path may hold what is no UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def hash_of(text: str) -> int:
    """Where a word or a spelling is looked for; others may share it."""
    return zlib.crc32(encode(text))


class Damaged(ValueError):
    """Bytes that are no segment of this format."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Sorted distinct texts."""

    data: bytes
    start: int
    at: memoryview[int]

    def __len__(self) -> int:
        return len(self.at) - 1

    def raw(self, number: int) -> bytes:
        """One text, encoded."""
        return self.data[self.start + self.at[number] : self.start + self.at[number + 1]]

    def text(self, number: int) -> str:
        """One text."""
        return self.raw(number).decode("utf-8", "surrogatepass")

    def place(self, raw: bytes) -> int:
        """How many texts come before this one."""
        return bisect_left(range(len(self)), raw, key=self.raw)

    def find(self, raw: bytes) -> int | None:
        """The number of a text."""
        number = self.place(raw)
        return number if number < len(self) and self.raw(number) == raw else None


class Segment:
    """The columns of `TYPES` over one buffer. Numbers of tools, stems, words are positions.

    Raises Damaged where the bytes are cut short, altered or of another format.
    """

    __slots__ = ("_columns", "check", "data", "flags", "ids", "key", "norms", "stems", "words")

    def __init__(self, data: bytes) -> None:
        try:
            magic, kind, check, key = _HEAD.unpack_from(data)
        except struct.error:
            raise Damaged("it is cut short") from None
        if magic != MAGIC or kind != _LAYOUT:
            raise Damaged("it is of another format")
        if zlib.crc32(memoryview(data)[_HEAD.size :]) != check:
            raise Damaged("its checksum is wrong")
        self.data = data
        self.key: bytes = key
        self.check: int = check
        self._columns: dict[str, memoryview[int]] = {}
        try:
            starts = self._place()
        except (struct.error, TypeError):
            raise Damaged("its columns have other sizes than they should") from None
        self.flags = self["flags"]
        self.stems = Texts(data, starts["stems"], self["stem_at"])
        self.words = Texts(data, starts["words"], self["word_at"])
        self.ids = Texts(data, starts["ids"], self["id_at"])

    def _place(self) -> dict[str, int]:
        """Where each column begins. Raises struct.error or TypeError for one that cannot be."""
        starts: dict[str, int] = {}
        view = memoryview(self.data)
        for number, (name, code) in enumerate(TYPES.items()):
            start, size, kept = _COLUMN.unpack_from(view, _HEAD.size + number * _COLUMN.size)
            starts[name] = start
            column = view[start : start + size]
            match code:
                case "f":
                    self.norms = column.cast("f")
                case "I" if kept[:1] == b"I":
                    self._columns[name] = column.cast("I")
                case "I" | "H":
                    self._columns[name] = column.cast("H")
                case _:
                    self._columns[name] = column
        return starts

    def __getitem__(self, name: str) -> memoryview[int]:
        """A column."""
        return self._columns[name]

    def __len__(self) -> int:
        """Its tools."""
        return len(self["flags"])

    def grams(self, word: int) -> list[int]:
        """The slots of a written word's character n-grams, repeats kept (char_ngrams.py)."""
        at = self._columns["gram_at"]
        return self._columns["grams"][at[word] : at[word + 1]].tolist()

    def print(self, number: int) -> bytes:
        """What a tool's words were taken from, as a short hash."""
        return bytes(self["prints"][number * PRINT_BYTES : (number + 1) * PRINT_BYTES])

    def word(self, word: str) -> int | None:
        """The number of a written word."""
        slots, at, data = self._columns["word_slots"], self.words.at, self.data
        raw = word.encode()
        last = len(slots) - 1
        place = zlib.crc32(raw) & last
        while number := slots[place]:  # counted from 1
            start = self.words.start
            if data[start + at[number - 1] : start + at[number]] == raw:
                return number - 1
            place = (place + 1) & last
        return None

    def spelt(self, spelling: str) -> list[int]:
        """Tools that may be spelt so: the caller compares."""
        hashes = self["spelt_hash"]
        wanted = hash_of(spelling)
        first = last = bisect_left(hashes, wanted)
        while last < len(hashes) and hashes[last] == wanted:
            last += 1
        return self["spelt_tool"][first:last].tolist()


def assemble(columns: Mapping[str, bytes], key: bytes) -> bytes:
    """The file of these columns. `key` (32 bytes) says what it was made from."""
    table, at = [], _HEAD.size + len(TYPES) * _COLUMN.size
    body = []
    for name, code in TYPES.items():
        kept, column = _small(columns[name]) if code == "I" else (code, columns[name])
        padding = -at % 8
        at += padding
        table.append(_COLUMN.pack(at, len(column), kept.encode()))
        body += [bytes(padding), column]
        at += len(column)
    rest = b"".join([*table, *body])
    return _HEAD.pack(MAGIC, _LAYOUT, zlib.crc32(rest), key) + rest


def _small(column: bytes) -> tuple[str, bytes]:
    """A column in half the space, where its numbers allow that."""
    numbers = array("I", column)
    if max(numbers, default=0) >> 16:
        return "I", column
    return "H", array("H", numbers).tobytes()
