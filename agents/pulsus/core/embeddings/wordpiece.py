"""Text to the token numbers of an uncased BERT model: the WordPiece algorithm in plain Python.

`vocabulary.txt` is BERT's own (google-research/bert, Apache-2.0): a line's number is its token's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD = 100
"""Characters of a word beyond which BERT takes it for unknown."""
# Blocks whose characters are words of their own (BERT's list of CJK ideographs).
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def tokens(text: str, limit: int) -> list[int]:
    """Return the token numbers of `text` between start and end marks: `limit` at most, the rest is
    cut.
    """
    known = vocabulary()
    found: list[int] = []
    for word in _split_into_words(text):
        found.extend(_split_into_pieces(word))
        if len(found) >= limit - 2:
            break
    return [known[_START], *found[: limit - 2], known[_END]]


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, int]:
    """Return each token's number."""
    listed = files(__package__).joinpath("vocabulary.txt").read_text(encoding="utf-8")
    return {token: number for number, token in enumerate(listed.removesuffix("\n").split("\n"))}


@lru_cache(maxsize=65536)
def _split_into_pieces(word: str) -> tuple[int, ...]:
    """Return the longest known beginning, then the longest known continuations.

    A word that cannot be split in this way becomes the one token for unknown words.
    """
    known = vocabulary()
    if len(word) > _LONGEST_WORD:
        return (known[_UNKNOWN],)
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if mark + word[start:e] in known), 0)
        if not end:
            return (known[_UNKNOWN],)
        found.append(known[mark + word[start:end]])
        start = end
    return tuple(found)


def _split_into_words(text: str) -> Iterator[str]:
    """Yield lower-case words without accents. A punctuation mark or ideograph is a word."""
    for chunk in _strip_accents(text).split():
        word = ""
        for char in chunk:
            if _is_separate_token(char):
                if word:
                    yield word
                yield char
                word = ""
            else:
                word += char
        if word:
            yield word


def _strip_accents(text: str) -> str:
    visible = "".join(_clean_character(char) for char in text)
    unaccented = (
        c for c in unicodedata.normalize("NFD", visible) if unicodedata.category(c) != "Mn"
    )
    return "".join(unaccented).lower()


def _clean_character(char: str) -> str:
    if char in "\t\n\r" or unicodedata.category(char) == "Zs":
        return " "
    return "" if char in "\0\ufffd" or unicodedata.category(char).startswith("C") else char


def _is_separate_token(char: str) -> bool:
    """Return True for an ASCII sign, Unicode punctuation, or an ideograph."""
    code = ord(char)
    if code < 128:
        return char.isprintable() and not char.isalnum() and char != " "
    if unicodedata.category(char).startswith("P"):
        return True
    return any(first <= code <= last for first, last in _IDEOGRAPHS)
