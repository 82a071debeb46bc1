"""Split requests and tools into words and their stems, for ranking and parsing (spec §4).

The stop words and weak words stand here. Synonyms and typos are looked up in
`core/rankers/lexical/query_terms.py`, and the domain and action of a request in
`routing/prompt_parser.py`. Tokens of a language model are counted in `llm/token_estimate.py`. Whole
words only: a stop word never matches inside another word, and `cat` never inside `catalogue`.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from typing import Protocol, cast

from pulsus.late_pattern import late_pattern

# Grammar and politeness. Words that can name a task or a thing (show, list, up, all) stay: how
# common they are in the catalogue decides their weight.
_STOP = """
a about actually again am an and any anybody anyone anything are as at be because been
being both but by can cannot could d did do does doing don done during each either else
etc ever every everything for from further go going got had has
have having he hello help her here hers hey hi him his how however i if im in instead into is
it its itself ive just kindly know let lets like ll m maybe me might mine
must my myself no nor not of off on once one ones only onto or
other our ours out please quickly re really s same she should so some somebody
someone something soon such sure t tell than thank thanks that the their theirs them then there
these they thing things this those through thus to too try upon us ve very
wanted wants was we well were what whats whatever when where whether which while who
whom whose why will with within would yes yet you your yours
according aren arent asap btw cant couldn couldnt didn didnt doesn doesnt dont dunno em fyi gimme
gonna gotta hasn hasnt haven havent hows isn isnt lemme okay pls plz shouldn shouldnt thats theres
theyre til wanna wasn wasnt weren werent wheres whos wont wouldn wouldnt youre
"""
STOP_WORDS = frozenset(_STOP.split())

# They may tell tools apart (`get`, `before`) and mostly only carry a request: they match for less.
_WEAK = """
after before get gets getting give gives make makes many may more most much need needed needs over
own per until use used using via want without
"""
WEAK_WORDS = frozenset(_WEAK.split())

_OWN_STEMS = {
    **{"container": "container", "containers": "container"},
    **{"setting": "setting", "settings": "setting"},
}
"""Nouns that Snowball cuts to a verb of requests: a line contains a word and is no container, and
who asks for a setting sets nothing."""

_CAMEL = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s\b)")
_WORD = late_pattern(r"[^\W_]+")
_DIGITS = late_pattern(r"\d+|[^\d]+")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@cache
def _load_stemmer() -> _Stemmer:
    import Stemmer  # only for words that no index knows

    return cast(_Stemmer, Stemmer.Stemmer("english"))


def clean(text: str) -> str:
    """Return the text as NFKC on one line, without control, format, private or surrogate
    characters.
    """
    flat = " ".join(text.split())
    if flat.isascii() and flat.isprintable():
        return flat
    flat = unicodedata.normalize("NFKC", " ".join(text.split()))
    kept = (c for c in flat if not unicodedata.category(c).startswith("C"))
    return " ".join("".join(kept).split())


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the Snowball stem of one lower-case word, or its own (`_OWN_STEMS`)."""
    return _OWN_STEMS.get(word) or _load_stemmer().stemWord(word)


def words(text: str) -> list[str]:
    """Lower-case words in order, with identifiers split: `listOpen_ports` gives three.

    A word that mixes letters and digits gives itself, then its parts: `sha256sum`, `sha`, `256`,
    `sum`.
    """
    return list(_cached_words(text))


@lru_cache(maxsize=16)
def _cached_words(text: str) -> tuple[str, ...]:
    """Return the words, cached: values, commands and n-grams split the same request."""
    out: list[str] = []
    for word in _WORD.findall(text):
        if word.islower() and word.isalpha():
            out.append(word)
            continue
        if word.isalpha() and word[1:].islower():  # one capital, in front
            out.append(word.lower())
            continue
        for part in _CAMEL.split(word):
            low = part.lower()
            out.append(low)
            digits = () if low.isalpha() else _DIGITS.findall(low)
            if len(digits) > 1:
                out.extend(digits)
    return tuple(out)


def first_words(text: str) -> list[str]:
    """Return the `words` of a text's first identifier: the rest is not looked at."""
    found = _WORD.search(text)
    return words(found.group()) if found else []


def stems(text: str) -> list[str]:
    """Return stems of the content words, in order, repeats kept."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS]


def content_words(text: str) -> list[str]:
    """Return the words that say what a text is about, in order, each once: no stop words, no weak
    ones.
    """
    said = (w for w in words(text) if w not in STOP_WORDS and w not in WEAK_WORDS)
    return list(dict.fromkeys(said))
