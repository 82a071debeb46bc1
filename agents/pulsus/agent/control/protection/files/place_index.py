"""Ask how a path without patterns lies to many places: hundreds cost no more than one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Parts = tuple[str, ...]
"""The names in a path, from the root on."""
Relation = Literal["inside", "above"]
"""A path is in a protected place (or is it), or is a folder around one."""


class PlaceIndex:
    """The places, each by the parts of its path."""

    def __init__(self, places: Sequence[Parts]) -> None:
        self.places = tuple(places)
        self._whole = frozenset(places)
        self._lengths = sorted({len(place) for place in places} - {0})
        self._around = frozenset(place[:n] for place in places for n in range(len(place)))

    def relate(self, parts: Parts) -> Relation | None:
        """Return how a path lies to the places, or None if it is apart from them."""
        for length in self._lengths:
            if length > len(parts):
                break
            if parts[:length] in self._whole:
                return "inside"
        return "above" if parts in self._around else None
