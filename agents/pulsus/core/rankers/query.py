"""A request as weighted terms: itself, synonyms, compounds, probable typos (spec §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from pulsus.core.rankers.doc import DocIndex
from pulsus.core.rankers.literals import KIND, OWN, Value, take_values
from pulsus.core.rankers.text import STOP_WORDS, stem, words

Synonyms = Mapping[str, tuple[str, ...]]
"""A lower-case word or phrase (up to three words) → words it may also mean."""

SYNONYM = 0.5
"""Weight of a synonym beside the word itself."""
_TYPO = 0.7
_COMPOUND = 0.9
_PHRASE = 3

_ASKING = frozenset(
    {
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
)
_ASKS = 0.4
"""What a word counts that is mostly a way of asking, beside words that say for what."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word of the request and the stems it may match, each with a weight in (0, 1].

    `factor` in (0, 1] is how much the word counts at all: less inside a value (literals.py).
    """

    word: str
    stems: Mapping[str, float]
    factor: float = 1.0


def synonym_table(synonyms: Synonyms) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Synonyms by stemmed phrase, so that `certs` finds what `cert` was given."""
    table: dict[tuple[str, ...], dict[str, None]] = {}
    for phrase, meanings in synonyms.items():
        key = tuple(stem(w) for w in words(phrase))
        found = table.setdefault(key, {})
        for meaning in meanings:
            found.update(dict.fromkeys(stem(w) for w in words(meaning) if w not in STOP_WORDS))
    return {key: tuple(found) for key, found in table.items()}


def terms(
    text: str, index: DocIndex, table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> tuple[Term, ...]:
    """The request's content words, each once, with everything in the catalogue they may mean."""
    rest, values = take_values(text)
    said = words(rest)
    content = [w for w in said if w not in STOP_WORDS]
    found: dict[str, dict[str, float]] = {}
    for word in content:
        key = stem(word)
        found.setdefault(word, {key: 1.0})
        if key not in index.idf:
            _raise(found[word], _nearby(word, index))
    for word, meanings in _synonyms(said, table):
        if word in found:
            _raise(found[word], {m: SYNONYM for m in meanings if m in index.idf})
    for first, second in pairwise(content):
        joined = index.vocabulary.get(first + second)
        if joined:
            for word in (first, second):
                _raise(found[word], {joined: _COMPOUND})
    about = any(word not in _ASKING for word in found)
    outside = [
        Term(word, keys, _ASKS if about and _only_asks(word, index) else 1.0)
        for word, keys in found.items()
        if not word.isdecimal()
    ]
    return _distinct([*outside, *_in_values(values, index)])


def _only_asks(word: str, index: DocIndex) -> bool:
    """Whether the word is a way of asking; not where a tool is called just that (`find`)."""
    return word in _ASKING and (stem(word),) not in index.names


def _in_values(values: Sequence[Value], index: DocIndex) -> Iterator[Term]:
    """Terms of the values' words and kinds the catalogue knows; an unknown one asks nothing."""
    for value in values:
        for said, factor in ((value.own, OWN), (value.kind, KIND)):
            for word in said:
                key = stem(word)
                if key in index.idf:
                    yield Term(word, {key: 1.0}, factor)


def _distinct(found: Sequence[Term]) -> tuple[Term, ...]:
    """One term a stem, the first: `log` and `logs` in one request are one word."""
    seen: dict[str, Term] = {}
    for term in found:
        seen.setdefault(stem(term.word), term)
    return tuple(seen.values())


def _raise(into: dict[str, float], more: Mapping[str, float]) -> None:
    for key, weight in more.items():
        into[key] = max(into.get(key, 0.0), weight)


def _synonyms(
    said: Sequence[str], table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each content word that is, or lies in, a known phrase, with that phrase's meanings."""
    keys = [stem(w) for w in said]
    for length in range(1, _PHRASE + 1):
        for start in range(len(said) - length + 1):
            meanings = table.get(tuple(keys[start : start + length]))
            if meanings:
                for word in said[start : start + length]:
                    yield word, meanings


def _nearby(word: str, index: DocIndex) -> dict[str, float]:
    """Stems an unknown word may be: a compound of two known words, or a typo of one."""
    for cut in range(3, len(word) - 2):
        first, second = index.vocabulary.get(word[:cut]), index.vocabulary.get(word[cut:])
        if first and second:
            return {first: _COMPOUND, second: _COMPOUND}
    if len(word) < 4 or not word.isalpha():
        return {}
    allowed = 1 if len(word) < 8 else 2
    close = process.extract(
        word, index.vocabulary.keys(), scorer=OSA.distance, score_cutoff=allowed, limit=3
    )
    return {index.vocabulary[known]: _TYPO for known, _, _ in close if known[0] == word[0]}
