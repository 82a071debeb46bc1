"""Tell if a text is ordinary English, whose claims of work the phrases know. Pure.

It decides only if a true sentence is shown beside an answer, so a wrong "no" costs one line. Words
that many languages share (nouns of the trade, names, short words) speak for no language.

`run_facts.py` asks it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.commands.shipped_data import rules_of
from pulsus.core.text.tokens import STOP_WORDS, WEAK_WORDS

_SENTENCES: Final = re.compile(r"[.!?…]+(?:\s+|$)|[。！？｡؟।]+|\n+")
_TOKEN: Final = re.compile(r"\S+")
_NAME: Final = re.compile(r"[\d_./@:=\\~%-]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_EDGES: Final = "\"'`()[]{}<>*,;:.!?|-“”„«»…"
_LEAST_SHARED: Final = 4
"""A sentence of shared words alone, the longest of which is shorter, says nothing."""


def is_plain_english(text: str, known: str = "") -> bool:
    """Return True if every sentence is English by most of its words that tell.

    The words of `known`, and names with a digit or a mark in them, tell nothing. A text without
    words is plain.
    """
    said = set(_LETTERS.findall(known.casefold()))
    return all(_is_english(one, said) for one in _SENTENCES.split(text.replace("’", "'")))


def _is_english(sentence: str, said: set[str]) -> bool:
    english, shared = _vocabulary()
    found = other = longest = 0
    for token in _TOKEN.findall(sentence.casefold()):
        bare = token.strip(_EDGES)
        if not bare or _NAME.search(bare):
            # A word with a mark in it is a name, unless it is written in other letters.
            other += not bare.isascii()
            continue
        for word in _LETTERS.findall(bare.partition("'")[0]):
            longest = max(longest, len(word))
            found += word in english
            other += word not in english and word not in shared and word not in said
    if not found and not other:
        return longest < _LEAST_SHARED
    return found > other


def english_words() -> frozenset[str]:
    """Return the known words: those of English, and those that many languages share."""
    english, shared = _vocabulary()
    return english | shared


@cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that are English alone, and those that tell no language."""
    claims: Any = rules_of(Path(__file__).with_name("phantom_claims.yaml"))
    own: Any = rules_of(Path(__file__).with_suffix(".yaml"))
    lists = {name: _words_of(words) for name, words in claims["words"].items()}
    shared = lists["noun"] | lists["metric"] | _words_of(own["shared"])
    english = STOP_WORDS | WEAK_WORDS | _words_of(own["common"]) | _words_of(claims["hedges"])
    return english.union(*lists.values()) - shared, shared


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.replace("_", " ").split())
