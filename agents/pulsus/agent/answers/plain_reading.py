"""Tell if an answer only tells what was read of a machine. Pure.

What claims a change, a check or an approval cannot be listed: there is always one phrase more. The
words of a plain reading can. An answer with any other word is one beside which a true sentence of
the runtime stands. So an unknown word costs one line, and never hides that nothing was changed.
Words of tool results do not count as known: who writes a log could put the claim there.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.commands.shipped_data import rules_of

_TOKEN: Final = re.compile(r"\S+")
_EDGES: Final = "\"'`()[]{}<>*,;:.!?|-"
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")
_PIECES: Final = re.compile(r"[a-z]+")
_DEED: Final = re.compile(r"(?:ed|ing|en)\Z")
"""Endings of words that may claim a deed. They make no word known that only the question has."""


def is_plain_reading(answer: str, question: str) -> bool:
    """Return True if every word of the answer is one of a plain reading, a name or a number.

    A word of the question is known as well, unless it may claim a deed.
    """
    asked = {word for word in _PIECES.findall(question.casefold()) if not _may_claim(word)}
    known = _vocabulary() | asked
    return all(_is_known(token, known) for token in _TOKEN.findall(answer.replace("’", "'")))


def _is_known(token: str, known: frozenset[str] | set[str]) -> bool:
    if not token.isascii():
        return False
    bare = token.strip(_EDGES).casefold()
    if not bare or _WORD.fullmatch(bare):
        return not bare or bare in known
    pieces = _PIECES.findall(bare)
    if bare[0] == "/" or any(char.isdigit() for char in bare):
        return not any(map(_may_claim, pieces))  # a path, a number or a name with one
    return all(piece in known for piece in pieces)


def _may_claim(word: str) -> bool:
    """Return True for a word of a deed: by a list of phrases, or by its ending."""
    return word not in _vocabulary() and (word in _deeds() or _DEED.search(word) is not None)


def reading_words() -> frozenset[str]:
    """Return the words of plain readings and of what is read."""
    return _vocabulary()


@cache
def _vocabulary() -> frozenset[str]:
    """Return the words of plain readings and of what is read."""
    own: Any = rules_of(Path(__file__).with_suffix(".yaml"))
    lists = _claim_words()
    return frozenset(f"{own['words']} {lists['noun']} {lists['metric']}".split()) - _NOT_NOUNS


_NOT_NOUNS: Final = frozenset(
    {
        *("restart", "upgrade", "rollback", "rollout", "migration", "patch", "deployment"),
        *("update", "updates", "change", "changes", "scan"),
    }
)
"""Nouns that name a deed: "Restart: no errors"."""


@cache
def _deeds() -> frozenset[str]:
    lists = _claim_words()
    return frozenset(" ".join((lists["done"], lists["looked"], lists["past"])).split()) | _NOT_NOUNS


def _claim_words() -> Any:
    rules: Any = rules_of(Path(__file__).with_name("phantom_claims.yaml"))
    return rules["words"]
