"""Match glob patterns of file names, also with one another.

`commands/risk/wildcard_secret_paths.py` decides with it if a pattern may stand for a secret.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import Final

_SET: Final = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]{0,32}\]|[^\]]){0,255}?\]")
_STARS: Final = re.compile(r"\*{2,}")
_WILD: Final = frozenset("*?[")
LONGEST: Final = 255
"""Bytes of the longest file name."""


@lru_cache(maxsize=4096)
def simplify_pattern(pattern: str) -> str:
    """Return `pattern` with `?` for each set `[…]` and one star for several: it fits no fewer
    names."""
    return _STARS.sub("*", _SET.sub("?", pattern))


def fits(name: str, pattern: str) -> bool:
    """Return True if `name` fits `pattern`, as `fnmatchcase` has it, which keeps too few
    expressions."""
    if _WILD.isdisjoint(pattern):
        return name == pattern
    return _compile_pattern(pattern).match(name) is not None


@lru_cache(maxsize=4096)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def patterns_overlap(one: str, other: str) -> bool:
    """Return True if some name fits both (`*` any characters, `?` one), in time |one| · |other|."""
    # Most pairs begin or end with letters that differ.
    if _differ(one[:1], other[:1]) or _differ(one[-1:], other[-1:]):
        return False
    return _have_common_name(one, other)


def _differ(one: str, other: str) -> bool:
    """Return True if the letters differ, and neither stands for others."""
    return one != other and one not in "*?" and other not in "*?"


@lru_cache(maxsize=4096)
def _have_common_name(one: str, other: str) -> bool:
    if _shortest_length(one) > _longest_length(other) or _shortest_length(other) > _longest_length(
        one
    ):
        return False
    reached = _add_places_after_stars(one, {0})
    for letter in _split_letters(other):
        reached = _add_places_after_stars(one, _places_after(one, reached, letter))
        if not reached:
            return False
    return len(one) in reached


def _shortest_length(pattern: str) -> int:
    return len(pattern) - pattern.count("*")


def _longest_length(pattern: str) -> int:
    return LONGEST if "*" in pattern else len(pattern)


def _split_letters(pattern: str) -> list[str]:
    return re.findall(r"\*+|[^*]", pattern)


def _add_places_after_stars(pattern: str, places: set[int]) -> set[int]:
    """Return `places` in the pattern, and those after stars that may stand for nothing."""
    found = set(places)
    for place in range(len(pattern)):
        if place in found and pattern[place] == "*":
            found.add(place + 1)
    return found


def _places_after(pattern: str, places: set[int], letter: str) -> set[int]:
    """Return the places in `pattern` after `letter` (`?` for any, `*` for any number) was read."""
    if letter[0] == "*":
        return set(range(min(places), len(pattern) + 1))
    return {
        place if pattern[place] == "*" else place + 1
        for place in places
        if place < len(pattern) and (pattern[place] in "*?" or letter in ("?", pattern[place]))
    }
