"""Character n-grams of words, with weights that no catalogue changes (spec §4 `doc_keywords`).

How rare a gram is comes from a shipped table, made by scripts/fit_grams.py. So a tool's figures
depend on that tool alone, and over eight routing sets it ranked better than each catalogue's own
statistics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from zlib import crc32

SLOTS = 1 << 16
SCALE = 25.0
"""Table values per unit of idf."""

_LENGTHS = (3, 4, 5)


def slots_of(word: str) -> tuple[int, ...]:
    """Return slots of the 3- to 5-grams of a word's UTF-8, padded by one blank a side; repeats
    kept.
    """
    padded = f" {word} ".encode()
    return tuple(
        crc32(padded[at : at + length]) & (SLOTS - 1)
        for length in _LENGTHS
        for at in range(len(padded) - length + 1)
    )


grams = lru_cache(maxsize=65536)(slots_of)
"""The same, remembered: tools share their words."""


@cache
def idf_table() -> bytes:
    """Return the idf of every slot, times `SCALE`."""
    return Path(__file__).with_name("grams.bin").read_bytes()


def request_worth(said: Iterable[str]) -> dict[int, float]:
    """Return the worth of each slot to a request: its idf squared, for each n-gram."""
    worth: dict[int, float] = {}
    for word in dict.fromkeys(said):
        for slot, own in _ngram_weights(word):
            worth[slot] = worth.get(slot, 0.0) + own
    return worth


_SQUARES = [(value / SCALE) ** 2 for value in range(256)]


@lru_cache(maxsize=512)
def _ngram_weights(word: str) -> list[tuple[int, float]]:
    idf = idf_table()
    return [(slot, _SQUARES[idf[slot]]) for slot in slots_of(word)]


def gram_norm(counts: Mapping[str, int]) -> float:
    """Return the length of a tool's gram vector, √Σ(tf·idf)²; 0.0 for no words."""
    found: Counter[int] = Counter()
    for word, count in counts.items():
        for slot in grams(word):
            found[slot] += count
    idf = idf_table()
    return math.sqrt(sum((tf * idf[slot] / SCALE) ** 2 for slot, tf in found.items()))
