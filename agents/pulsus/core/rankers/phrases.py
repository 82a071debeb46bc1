"""What two requests are compared by: stems and pairs of neighbouring words (ADR 16). Pure."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from pulsus.core.rankers.literals import take_values
from pulsus.core.rankers.text import STOP_WORDS, clean, stem, words
from pulsus.record import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stem, or a `pair` of them in order. `key` is a 64-bit hash of it, the same everywhere."""

    key: int
    pair: bool


@lru_cache(maxsize=1 << 14)
def phrases(text: str) -> tuple[Phrase, ...]:
    """Every phrase of a request once: content words, pairs of all words, and what its values are.

    Pairs keep the stop words: `to file` and `from file` ask for different things.
    """
    rest, values = take_values(clean(text))
    said = words(rest)
    single = [stem(w) for w in said if w not in STOP_WORDS]
    single += [stem(w) for value in values for w in (*value.own, *value.kind)]
    stems = [stem(w) for w in said]
    found = dict.fromkeys(single, False)
    found.update({f"{first} {second}": True for first, second in pairwise(stems)})
    return tuple(Phrase(_key(phrase), pair) for phrase, pair in found.items())


def _key(phrase: str) -> int:
    return int.from_bytes(blake2b(phrase.encode("utf-8", "replace"), digest_size=8).digest())
