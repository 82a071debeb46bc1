"""Words that begin with something that only looks like a dash (`find . –delete`).

To a program they are operands; to whoever wrote them, options. So both readings are judged, and the
command is a read only where both are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pulsus.commands.shell.words import Word

_SIGNS: Final = "\u2212\u02d7\u2043\u2796"
"""Minus sign, modifier minus, hyphen bullet, heavy minus."""


def readings(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """`words` as they are, then, where it differs, with plain dashes at their beginnings."""
    as_they_are = tuple(words)
    yield as_they_are
    meant = tuple(map(_meant, words))
    if meant != as_they_are:
        yield meant


def _meant(word: Word) -> Word:
    if not word.text or word.text[0].isascii() or not _is_dash(word.text[0]):
        return word
    return replace(word, text=_plain(word.text), head=_plain(word.head))


def _plain(text: str) -> str:
    bare = text.lstrip("".join(filter(_is_dash, set(text))))
    return "-" * (len(text) - len(bare)) + bare


def _is_dash(char: str) -> bool:
    return unicodedata.category(char) == "Pd" or char in _SIGNS
