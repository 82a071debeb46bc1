"""Query terms: a request with its synonyms, compounds and probable typos, weighted (spec §4).

Misspelt words are corrected here, by their distance to known words, and the weight of a synonym or
a typo is set here. The synonyms themselves are loaded in `routing/intent/synonyms.py`. Names of
machines and options are dropped from a request here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol

from pulsus.core.text.literals import KIND, OWN, Value, cut_out_values
from pulsus.core.text.tokens import STOP_WORDS, WEAK_WORDS, stem, words
from pulsus.late_pattern import late_pattern


class Lexicon(Protocol):
    """The words something is written in; `rankers.doc` has two."""

    def knows(self, key: str) -> bool:
        """Return True if any document has the stem."""
        ...

    def stem_of(self, word: str) -> str | None:
        """Return the stem of a word that is written somewhere."""
        ...

    def like(self, first: str, shortest: int, longest: int) -> Sequence[str]:
        """Return the written words of some length that begin so, shorter ones first."""
        ...

    def called(self, key: str) -> bool:
        """Return True if a name is exactly this stem."""
        ...

    @property
    def nearby(self) -> dict[str, Mapping[str, float]]:
        """Known words near to unknown ones, cached between requests."""
        ...


Synonyms = Mapping[str, tuple[str, ...]]
"""A lower-case word or phrase (up to three words) → words it may also mean."""

SYNONYM = 0.5
"""Weight of a synonym beside the word itself."""
_ONLY_SYNONYM = 0.8
"""Its weight where the word itself stands nowhere: then it is what the word means."""
_TYPO = 0.7
_COMPOUND = 0.9
HOW: Mapping[float, Literal["synonym", "typo", "compound"]] = {
    SYNONYM: "synonym",
    _ONLY_SYNONYM: "synonym",
    _TYPO: "typo",
    _COMPOUND: "compound",
}
"""The kind of a match by its weight. A word's own stem weighs 1."""
_PHRASE = 3
_MEMO = 4096
"""Unknown words whose meaning is remembered."""

_ASKING = WEAK_WORDS | {
    "check",
    "count",
    "display",
    "find",
    "list",
    "look",
    "print",
    "report",
    "see",
    "show",
    "tell",
    "view",
}
_ASKS = 0.4
"""Weight of a word that only asks (`show`, `find`) beside a word of the subject."""


class Term(NamedTuple):
    """One word of the request and the stems it may match, its own first, each with a weight in
    (0, 1].

    `factor` in (0, 1] is how much the word counts at all: less inside a value (literals.py).
    """

    word: str
    stems: Mapping[str, float]
    factor: float = 1.0


class StemmedSynonyms(dict[str, tuple[str, ...]]):
    """Synonyms of which an earlier run kept the `table`: stemming them all takes a while."""

    def __init__(
        self, synonyms: Synonyms, table: Mapping[tuple[str, ...], tuple[str, ...]]
    ) -> None:
        super().__init__(synonyms)
        self.table = dict(table)


def synonym_table(synonyms: Synonyms) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return synonyms by stemmed phrase, so that `certs` finds what `cert` was given."""
    if isinstance(synonyms, StemmedSynonyms):
        return synonyms.table
    table: dict[tuple[str, ...], dict[str, None]] = {}
    for phrase, meanings in synonyms.items():
        key = tuple(stem(w) for w in words(phrase))
        found = table.setdefault(key, {})
        for meaning in meanings:
            found.update(dict.fromkeys(stem(w) for w in words(meaning) if w not in STOP_WORDS))
    return {key: tuple(found) for key, found in table.items()}


def request_terms(
    text: str, index: Lexicon, table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> tuple[Term, ...]:
    """Return the request's content words, each once, with everything in the catalogue they may
    mean.
    """
    rest, values = cut_out_values(text)
    rest = _drop_machines_and_options(rest, index, table)
    said = words(rest)
    content = [w for w in said if w not in STOP_WORDS]
    found = _find_own_stems(content, index, table)
    for word, meanings in _list_synonyms(said, table, index) if table else ():
        if word in found:
            weight = SYNONYM if index.knows(_find_stem(word, index)) else _ONLY_SYNONYM
            _raise_weights(found[word], {m: weight for m in meanings if index.knows(m)})
    for first, second in pairwise(content):
        joined = index.stem_of(first + second)
        for word in (first, second) if joined else ():
            if joined and word in found:
                _raise_weights(found[word], {joined: _COMPOUND})
    machine = _find_machine_name(said, found, index)
    if machine:
        del found[machine]
    about = any(word not in _ASKING for word in found)
    outside = [
        Term(word, keys, _ASKS if about and _is_question_word(word, index) else 1.0)
        for word, keys in found.items()
        if not word.isdecimal()
    ]
    return _drop_repeated_stems([*outside, *_list_value_terms(values, index)])


def _find_own_stems(
    content: Sequence[str], index: Lexicon, table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> dict[str, dict[str, float]]:
    """Return each word with its stem, and for an unknown word with those that it probably means."""
    found: dict[str, dict[str, float]] = {}
    for word in dict.fromkeys(content):
        key = _find_stem(word, index)
        near: Mapping[str, float] = {}
        if not index.knows(key):
            near = _cached_nearby_stems(word, index)
            if not near and (key,) not in table and is_misspelt_stop_word(word):
                continue
        found[word] = {key: 1.0}
        _raise_weights(found[word], near)
    return found


_MACHINE = late_pattern(
    r"\b(on|at|of|from|for|in|to)\s+([a-z][a-z0-9]*(?:-[a-z0-9]+)*-?\d{1,4})\b(?![./:@])", re.I
)
_OPTION = late_pattern(r"(?<!\S)-{1,2}([a-z][\w-]*)", re.I)
_DIGIT = late_pattern(r"\d")
"""The name of a machine has a digit. It is looked for first: most requests have none."""


def _drop_machines_and_options(
    text: str, index: Lexicon, table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> str:
    """Return the text without names of machines ("on app-03") and options ("-ltn") that no tool
    has.

    They say where or how, not what. So they are no words that a tool should have.
    """

    def known(word: str) -> bool:
        key = _find_stem(word.replace("-", "").lower(), index)
        return index.knows(key) or (key,) in table

    if "-" in text:
        text = _OPTION.sub(lambda m: m[0] if known(m[1]) else " ", text)
    if not _DIGIT.search(text):
        return text
    return _MACHINE.sub(lambda m: m[0] if known(m[2]) else f"{m[1]} ", text)


def is_misspelt_stop_word(word: str) -> bool:
    """Return True for an unknown word that is a stop word with a letter lost, added or swapped.

    A replaced letter mostly makes another word: "bring" is not "being".
    """
    if len(word) < 5 or not word.isalpha():
        return False
    lost_or_swapped = _stop_word_slips()
    return word in lost_or_swapped or any(
        word[:at] + word[at + 1 :] in _LONG_STOP_WORDS for at in range(len(word))
    )


_LONG_STOP_WORDS = frozenset(stop for stop in STOP_WORDS if len(stop) > 3)


@cache
def _stop_word_slips() -> frozenset[str]:
    """Return the longer stop words with one letter lost, or with two neighbours swapped.

    They are listed once, because comparing an unknown word with every stop word takes longer than
    ranking.
    """
    lost = {stop[:at] + stop[at + 1 :] for stop in _LONG_STOP_WORDS for at in range(len(stop))}
    swapped = {
        stop[:at] + stop[at + 1] + stop[at] + stop[at + 2 :]
        for stop in _LONG_STOP_WORDS
        for at in range(len(stop) - 1)
    }
    return frozenset(lost | swapped)


def _find_machine_name(
    said: Sequence[str], found: Mapping[str, Mapping[str, float]], index: Lexicon
) -> str | None:
    """Return a last word after "on" or "at" that no tool has in any meaning: a machine's name.

    It says where, not what. So it is no word that a tool should have ("port 22 on bastion").
    """
    if len(found) < 2 or said[-2:-1] not in (["on"], ["at"]):
        return None
    name = said[-1]
    meanings = found.get(name, {})
    return None if not meanings or any(map(index.knows, meanings)) else name


def _is_question_word(word: str, index: Lexicon) -> bool:
    """Return True for a word that only asks, unless a tool has this whole name (`find`)."""
    return word in _ASKING and not index.called(_find_stem(word, index))


def _list_value_terms(values: Sequence[Value], index: Lexicon) -> Iterator[Term]:
    """Yield a term for each word and kind of the values that the catalogue knows."""
    for value in values:
        for value_words, factor in ((value.own, OWN), (value.kind, KIND)):
            for word in value_words:
                key = _find_stem(word, index)
                if index.knows(key):
                    yield Term(word, {key: 1.0}, factor)


def _drop_repeated_stems(found: Sequence[Term]) -> tuple[Term, ...]:
    """Return one term a stem, the first: `log` and `logs` in one request are one word."""
    seen: dict[str, Term] = {}
    for term in found:
        seen.setdefault(next(iter(term.stems)), term)
    return tuple(seen.values())


def _find_stem(word: str, index: Lexicon) -> str:
    """Return the word's stem, from the index if possible: stemming takes longer than ranking."""
    return index.stem_of(word) or stem(word)


def _raise_weights(into: dict[str, float], more: Mapping[str, float]) -> None:
    for key, weight in more.items():
        into[key] = max(into.get(key, 0.0), weight)


def _list_synonyms(
    request_words: Sequence[str], table: Mapping[tuple[str, ...], tuple[str, ...]], index: Lexicon
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each content word that is, or lies in, a known phrase, with that phrase's meanings."""
    keys = [_find_stem(w, index) for w in request_words]
    for length in range(1, _PHRASE + 1):
        for start in range(len(request_words) - length + 1):
            meanings = table.get(tuple(keys[start : start + length]))
            if meanings:
                for word in request_words[start : start + length]:
                    yield word, meanings


def _cached_nearby_stems(word: str, index: Lexicon) -> Mapping[str, float]:
    known = index.nearby.get(word)
    if known is None:
        if len(index.nearby) > _MEMO:
            index.nearby.clear()
        known = index.nearby[word] = _find_nearby_stems(word, index)
    return known


def _find_nearby_stems(word: str, index: Lexicon) -> dict[str, float]:
    """Return stems for an unknown word: a compound of two known words, or a typo of one."""
    for cut in range(3, len(word) - 2):
        first = index.stem_of(word[:cut])
        second = index.stem_of(word[cut:]) if first else None
        if first and second:
            return {first: _COMPOUND, second: _COMPOUND}
    if len(word) < 4 or not word.isalpha():
        return {}
    from rapidfuzz import process  # only for a word that no tool has
    from rapidfuzz.distance import OSA

    allowed = 1 if len(word) < 8 else 2
    written = index.like(word[0], len(word) - allowed, len(word) + allowed)
    close = process.extract(word, written, scorer=OSA.distance, score_cutoff=allowed, limit=3)
    meant = (index.stem_of(known) for known, _, _ in close)
    return dict.fromkeys((key for key in meant if key), _TYPO)
