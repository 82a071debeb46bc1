"""Phantom numbers: find those in an answer that no tool result, request or context has. Pure.

An answer with invented (hallucinated) numbers is sent back once, by `agent/loop/agent_loop.py`.

A small model that read 23.5 GiB may write 16 GB. A number counts as grounded if a source has it,
also rounded or in the other spelling of its thousands. Numbers below ten do not count: an answer
may count what it lists. Digits within a word count as any others, and so do exponents, hexadecimal
numbers and words for numbers. A word with digits that a source has is grounded as a whole. So is
an address or a version: that a source has each of its numbers is not enough.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from pulsus.agent.answers.ungrounded_sizes import find_ungrounded_sizes

_DIGITS: Final = r"\d+(?:,\d+)*(?:\.\d+)?"
_NUMBER: Final = re.compile(_DIGITS)
_GROUPS: Final = r"\d{1,3}(?:[ _'’]\d{3})+(?![\w'’])(?:\.\d+)?"
"""Thousands apart."""
_EXPONENT: Final = r"\d{1,32}(?:\.\d{1,32})?[eE][+-]?\d{1,3}(?!\w)"
_HEX: Final = r"0[xX][\dA-Fa-f]{1,32}(?!\w)"
_DOTTED: Final = r"[vV]?\d+(?:\.\d+){2,}(?!\w|\.\d)"
"""An IPv4 address or a version."""
_COLONS: Final = (
    r"(?=[\d:]*[A-Fa-f]|[\dA-Fa-f:]*::)"
    r"(?:(?:[\dA-Fa-f]{1,4}::?){2,7}[\dA-Fa-f]{0,4}|(?:[\dA-Fa-f]{1,4})?::[\dA-Fa-f]{1,4})(?!\w)"
)
"""An IPv6 or a hardware address."""
_TOKEN: Final = re.compile(
    rf"(?<![\w.:])(?P<address>{_DOTTED}|{_COLONS})"
    rf"|(?<![\w.])(?:(?P<hex>{_HEX})|(?P<exponent>{_EXPONENT})|(?P<groups>{_GROUPS}))"
    rf"|(?<!\w)[^\W\d]*{_DIGITS}(?:\w*\d)?|{_DIGITS}"
)
_GROUP_SIGNS: Final = re.compile(r"[ _'’,]")
_NAMES: Final = re.compile(
    r"(?i)(?:sha|aes|utf|base|u?int|float|ipv|ed|rs|es|hs|md|ext|ntfs|http|oauth|amd|arm|riscv|aarch|i|x|win"
    r"|log|ipv|s|k|p)_?\d{1,3}(?:_\d\d)?"
)
"""Names of methods and machines with a number in them: they count nothing."""
_SMALL: Final = {
    word: number
    for number, word in enumerate(
        [
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        10,
    )
}
_TENS: Final = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_UNITS: Final = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], 1
    )
}
_TIMES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_SPELT: Final = re.compile(
    rf"(?i)\b(?:(?P<tens>{'|'.join(_TENS)})(?:[ -](?P<unit>{'|'.join(_UNITS)}))?"
    rf"|(?P<small>{'|'.join([*_SMALL, *_UNITS])}))(?:[ -](?P<times>{'|'.join(_TIMES)}))?\b"
)
_FREE_BELOW: Final = 10
_MOST_DIGITS: Final = 3
"""Decimals to which a source is rounded for the comparison."""


class _Known:
    """The numbers and words of the sources."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._text = "\n".join(sources).casefold()
        known = {
            each
            for found in _NUMBER.findall(self._text)
            for each in (_to_float(found), *_parts(found))
        }
        known |= {value for _, value in _spelt(self._text)}
        self._rounded = {
            f"{each:.{places}f}" for each in known for places in range(_MOST_DIGITS + 1)
        }
        self._plain = {f"{each:g}" for each in known}

    def has(self, text: str) -> bool:
        """Return True for a number that a source has, or that is too small to count."""
        number = _to_float(text)
        return self.has_value(number) or text.replace(",", "") in self._rounded

    def has_value(self, number: float) -> bool:
        """Return True for a value that a source has, or that is too small to count."""
        return number < _FREE_BELOW or f"{number:g}" in self._plain

    def has_address(self, text: str) -> bool:
        """Return True if a source has the address or version, and not only one that begins so."""
        plain = text.casefold().removeprefix("v")
        return re.search(rf"(?<![\d.:]){re.escape(plain)}(?![\da-f])", self._text) is not None

    def has_word(self, word: str) -> bool:
        """Return True if a source has the word, also as the beginning of a longer one."""
        start = r"(?:(?<![^\W_])|(?<=\\[nrt]))"  # JSON writes a line feed as two characters
        return re.search(start + re.escape(word.casefold()), self._text) is not None


def find_ungrounded_numbers(answer: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers of the answer, as written, that are in none of the sources.

    A size or percentage is returned with its unit if the sources have the number in another one.
    """
    answer, sources = unicodedata.normalize("NFKC", answer), [*sources]
    known = _Known(sources)
    found = [*_unknown_tokens(answer, known)]
    found += [text for text, value in _spelt(answer) if not known.has_value(value)]
    sizes = find_ungrounded_sizes(answer, sources)
    found += [size for size in sizes if not any(each in size for each in found)]
    return tuple(dict.fromkeys(found))


def _unknown_tokens(answer: str, known: _Known) -> Iterator[str]:
    for token in _TOKEN.finditer(answer):
        text = token[0]
        if token["address"]:
            if not known.has_address(text):
                yield text
        elif token["hex"] or token["exponent"]:
            value = float(int(text, 16)) if token["hex"] else float(text)
            if not known.has_value(value) and not known.has_word(text):
                yield text
        elif token["groups"]:
            plain = _GROUP_SIGNS.sub("", text)
            if not known.has(plain) and not _are_known(_GROUP_SIGNS.split(text), known):
                yield text
        elif not _NUMBER.fullmatch(text):
            yield from _unknown_in_word(text, known)
        elif not _is_known(text, known):
            yield text


def _unknown_in_word(word: str, known: _Known) -> Iterator[str]:
    runs = _NUMBER.findall(word)
    unknown = [run for run in runs if not _is_known(run, known)]
    if unknown and not _NAMES.fullmatch(word) and not known.has_word(word):
        yield unknown[0] if len(runs) == 1 else word


def _is_known(text: str, known: _Known) -> bool:
    return known.has(text) or ("," in text and _are_known(text.split(","), known))


def _are_known(parts: list[str], known: _Known) -> bool:
    """Return True for a list of known numbers. `000` is a part of a larger number instead."""
    return all(known.has(part) and not (part[0] == "0" and len(part) > 1) for part in parts)


def _spelt(text: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers that are words, from ten on: `ninety-one`, `five hundred`."""
    for found in _SPELT.finditer(text):
        small = (found["small"] or "").lower()
        value = _SMALL.get(small, 0) + _UNITS.get(small, 0)
        value += _TENS.get((found["tens"] or "").lower(), 0)
        value += _UNITS.get((found["unit"] or "").lower(), 0)
        value *= _TIMES.get((found["times"] or "").lower(), 1)
        if value >= _FREE_BELOW:
            yield found[0], float(value)


def _parts(found: str) -> list[float]:
    """Return the numbers of a list such as "80,443", which may be one number as well."""
    return [float(part) for part in found.split(",")] if "," in found else []


def _to_float(text: str) -> float:
    return float(text.replace(",", ""))
