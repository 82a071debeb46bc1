"""Phrases that two requests are compared by: stems and word pairs (ADR 16). Pure.

`core/memory/recall.py` compares past requests by them.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.tokens import STOP_WORDS, clean, stem, words
from pulsus.fast_dataclass import dataclass

_QUOTES = "\"'`"
"""Quoted text is a value too, but often it is the words of the request itself."""

_IN_VALUE = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stem, or a `pair` of them in order. `key` is a 64-bit hash of it, the same everywhere.

    `own` stands in a value (a path, an address): it says which thing, hardly what is to be done.
    """

    key: int
    pair: bool
    own: bool = False

    @property
    def likeness(self) -> int:
        """Return what two requests share if they are alike by this phrase: a word beside a value
        and one in a value are two things.
        """
        return self.key ^ _IN_VALUE if self.own else self.key


@lru_cache(maxsize=1 << 14)
def phrases(text: str) -> tuple[Phrase, ...]:
    """Return every phrase of a request once: content words, pairs of all words, and what its values
    are.

    Pairs keep the stop words: `to file` and `from file` ask for different things.
    """
    rest, values = cut_out_values(clean(text))
    said = words(rest)
    single = [stem(w) for w in said if w not in STOP_WORDS]
    single += [stem(w) for value in values for w in value.kind]
    single += [stem(w) for value in values if value.text[0] in _QUOTES for w in value.own]
    stems = [stem(w) for w in said]
    found = dict.fromkeys(single, False)
    found.update({f"{first} {second}": True for first, second in pairwise(stems)})
    own = dict.fromkeys(stem(w) for value in values for w in value.own)
    return (
        *(Phrase(_hash_phrase(phrase), pair) for phrase, pair in found.items()),
        *(Phrase(_hash_phrase(phrase), False, own=True) for phrase in own if phrase not in found),
    )


def _hash_phrase(phrase: str) -> int:
    return int.from_bytes(blake2b(phrase.encode("utf-8", "replace"), digest_size=8).digest())
