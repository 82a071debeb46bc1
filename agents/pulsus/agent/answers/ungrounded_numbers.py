"""Phantom numbers: find those in an answer that no tool result, request or context has. Pure.

A small model that read 23.5 GiB may write 16 GB. A number counts as grounded if a source has it,
also rounded or in the other spelling of its thousands. Numbers below ten do not count: an answer
may count what it lists.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_DIGITS: Final = r"\d+(?:,\d+)*(?:\.\d+)?"
_SOURCE_NUMBER: Final = re.compile(_DIGITS)
_ANSWER_NUMBER: Final = re.compile(rf"(?<![\w.]){_DIGITS}(?!\w*\d)")
_FREE_BELOW: Final = 10
_MOST_DIGITS: Final = 3
"""Decimals to which a source is rounded for the comparison."""


def find_ungrounded_numbers(answer: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers of the answer, as written, that are in none of the sources."""
    known = {
        each
        for source in sources
        for found in _SOURCE_NUMBER.findall(source)
        for each in (_to_float(found), *_parts(found))
    }
    rounded = {f"{each:.{places}f}" for each in known for places in range(_MOST_DIGITS + 1)}
    plain = {f"{each:g}" for each in known}

    def is_grounded(text: str) -> bool:
        number = _to_float(text)
        return number < _FREE_BELOW or f"{number:g}" in plain or text.replace(",", "") in rounded

    return tuple(
        text
        for text in dict.fromkeys(_ANSWER_NUMBER.findall(answer))
        if not is_grounded(text) and not ("," in text and all(map(is_grounded, text.split(","))))
    )


def _parts(found: str) -> list[float]:
    """Return the numbers of a list such as "80,443", which may be one number as well."""
    return [float(part) for part in found.split(",")] if "," in found else []


def _to_float(text: str) -> float:
    return float(text.replace(",", ""))
