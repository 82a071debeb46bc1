"""Find numbers in an answer that no tool result, request or context has. Pure.

A small model that read 23.5 GiB may write 16 GB. A number counts as grounded if a source has it,
also rounded or in the other spelling of its thousands. Numbers below ten do not count: an answer
may count what it lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w]*\d)")
_FREE_BELOW: Final = 10
_MOST_DIGITS: Final = 3
"""Decimals to which a source is rounded for the comparison."""


def find_ungrounded_numbers(answer: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers of the answer, as written, that are in none of the sources."""
    known = {each for source in sources for each in _numbers(source)}
    rounded = {f"{each:.{places}f}" for each in known for places in range(_MOST_DIGITS + 1)}
    plain = {f"{each:g}" for each in known}
    return tuple(
        text
        for text in dict.fromkeys(_NUMBER.findall(answer))
        if (number := _to_float(text)) is not None
        and number >= _FREE_BELOW
        and text.replace(",", "") not in rounded
        and f"{number:g}" not in plain
    )


def _numbers(text: str) -> Iterable[float]:
    for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text):
        number = _to_float(found)
        if number is not None:
            yield number
        # A list such as "80,443" is two numbers.
        if "," in found:
            yield from (float(part) for part in re.findall(r"\d+(?:\.\d+)?", found))


def _to_float(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
