"""Wildcard patterns matched in one pass, however many stars they hold. Pure.

A pattern comes from a docstring, so it must not be able to hold up the match: a regular expression
with many stars tries every way to split the text. Here all ways go forward together, one bit a
state of the pattern (Baeza-Yates and Gonnet, 1992).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"\*\*|\\.|.", re.DOTALL)


class _Compiled(NamedTuple):
    letters: dict[str, int]
    """A letter of the pattern → its places."""
    any_letter: int
    """Places of `?`."""
    within: int
    """Places of `*`: any letters but `/`."""
    across: int
    """Places of `**`: any letters."""
    length: int


def matches_wildcard(pattern: str, text: str, *, below: bool = False, separator: str = "/") -> bool:
    """Tell whether `text` is what the pattern describes.

    `*` and `?` stay within one part, `**` does not; a backslash makes the next letter plain. With
    `below`, what lies below such a path matches too. Without a `separator` there is one part.
    """
    made = _compiled(pattern)
    stars = made.within | made.across
    end = 1 << made.length
    states = _skipped(1, stars)
    for letter in text:
        if below and letter == separator and states & end:
            return True
        inner = letter != separator
        stay = states & (stars if inner else made.across)
        taken = states & (made.letters.get(letter, 0) | (made.any_letter if inner else 0))
        states = _skipped(stay | taken << 1, stars)
        if not states:
            return False
    return bool(states & end)


def _skipped(states: int, stars: int) -> int:
    """Return the states, and those behind a star that matches no letter."""
    return states | (states & stars) << 1


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> _Compiled:
    letters: dict[str, int] = {}
    places = {"?": 0, "*": 0, "**": 0}
    place, before = 0, ""
    for token in _TOKEN.findall(pattern):
        if before in ("*", "**") and token in ("*", "**"):
            if token == "**" and before == "*":  # the wider of two stars side by side
                places["*"] &= ~(1 << place - 1)
                places["**"] |= 1 << place - 1
                before = token
            continue
        before = token
        if token in places:
            places[token] |= 1 << place
        else:
            letter = token[1:] if len(token) == 2 else token
            letters[letter] = letters.get(letter, 0) | 1 << place
        place += 1
    return _Compiled(letters, places["?"], places["*"], places["**"], place)
