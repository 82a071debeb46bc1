"""One binary file of a catalogue's words, read in place (spec §13). Pure: bytes in, bytes out.

Opening it parses nothing: every column is a view of the bytes. Sorted texts are searched by
bisection. `pack` (index_builder.py) writes it in the format of core/system/cache_file.py.
`routing/search/ranking_index_cache.py` decides if the file is stale.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Mapping

from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import CacheFile, Column
from pulsus.fast_dataclass import dataclass

KIND = "ranking 5"
"""The number goes up when the columns change, or the words in them."""

PRINT_BYTES = 8


def encode(text: str) -> bytes:
    """Text as the file holds it. A path may hold what is no UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def hash_of(text: str) -> int:
    """Return the hash of a word or spelling. Several texts may share it."""
    return zlib.crc32(encode(text))


@dataclass(frozen=True, slots=True)
class Texts:
    """Sorted distinct texts."""

    data: bytes
    start: int
    at: memoryview[int]

    def __len__(self) -> int:
        return len(self.at) - 1

    def raw(self, number: int) -> bytes:
        """Return one text, encoded."""
        return self.data[self.start + self.at[number] : self.start + self.at[number + 1]]

    def text(self, number: int) -> str:
        """Return one text."""
        return self.raw(number).decode("utf-8", "surrogatepass")

    def place(self, raw: bytes) -> int:
        """Return the number of texts before this one."""
        return bisect_left(range(len(self)), raw, key=self.raw)

    def find(self, raw: bytes) -> int | None:
        """Return the number of a text."""
        number = self.place(raw)
        return number if number < len(self) and self.raw(number) == raw else None


class IndexSegment:
    """Columns over one buffer. Tools, stems and words are numbered by position.

    `X_at` holds the position at which each entry of `X` begins, and at last the end. Postings are
    by stem, in tool order. `said_word` holds the written words of each tool, `said_count` how often
    each is, and `norms` the length of the tool's character n-grams. `grams` holds the n-grams of
    each word (char_ngrams.py). `word_slots` is a hash table of the words, because most lookups are
    for a word that no tool has. `total` is one number, the sum of `lengths`. `removed` are numbers
    of ids in the segment that this one follows.

    `key` names what the segment was made from. Raises KeyError for a missing column.
    """

    __slots__ = ("_columns", "checksum", "flags", "ids", "key", "norms", "stems", "words")

    def __init__(self, content: CacheFile) -> None:
        columns: Mapping[str, memoryview[int]] = content.columns
        starts, data = content.starts, content.data
        self.key = str(content.values)
        self.checksum = content.checksum
        self._columns = columns
        self.flags = columns["flags"]
        self.norms: memoryview[float] = content.columns["norms"]
        self.stems = Texts(data, starts["stems"], columns["stem_at"])
        self.words = Texts(data, starts["words"], columns["word_at"])
        self.ids = Texts(data, starts["ids"], columns["id_at"])

    @classmethod
    def from_bytes(cls, data: bytes) -> IndexSegment:
        """Return the segment that `pack` wrote. Raises DamagedCache or OtherKind."""
        return cls(cache_file.unpack(data, KIND))

    def __getitem__(self, name: str) -> memoryview[int]:
        """Return a column."""
        return self._columns[name]

    def __len__(self) -> int:
        """Return its tools."""
        return len(self["flags"])

    def grams(self, word: int) -> list[int]:
        """Return the slots of a written word's character n-grams, repeats kept (char_ngrams.py)."""
        return self.gram_slots(word).tolist()

    def gram_slots(self, word: int) -> memoryview[int]:
        """Return the same as a view of the file."""
        at = self._columns["gram_at"]
        return self._columns["grams"][at[word] : at[word + 1]]

    def print(self, number: int) -> bytes:
        """Return a short hash of the sources of a tool's words."""
        return bytes(self["prints"][number * PRINT_BYTES : (number + 1) * PRINT_BYTES])

    def word(self, word: str) -> int | None:
        """Return the number of a written word."""
        slots, at, data = self._columns["word_slots"], self.words.at, self.words.data
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
        """Return tools that may be spelt so: the caller compares."""
        hashes = self["spelt_hash"]
        wanted = hash_of(spelling)
        first = last = bisect_left(hashes, wanted)
        while last < len(hashes) and hashes[last] == wanted:
            last += 1
        return self["spelt_tool"][first:last].tolist()


def pack_columns(columns: Mapping[str, Column], key: str) -> bytes:
    """Return the file of these columns."""
    return cache_file.pack(
        KIND, key, {name: _shrink_column(column) for name, column in columns.items()}
    )


def _shrink_column(column: Column) -> Column:
    """Return a column in half the space if its numbers allow that."""
    if isinstance(column, bytes) or column.typecode != "I" or max(column, default=0) >> 16:
        return column
    return array("H", column)
