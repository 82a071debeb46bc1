"""Paths taken apart, found by one of their literal parts instead of one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

_WILD: Final = frozenset("*?[")


class PartIndex(Generic[Item]):
    """Items, each with the parts of a path, some of which may be patterns."""

    def __init__(self, items: Iterable[tuple[Sequence[str], Item]]) -> None:
        self._items = tuple(items)
        self._all = tuple(item for _, item in self._items)
        self._by_place: dict[int, dict[str, list[Item]]] = {}

    def like(self, parts: Sequence[str]) -> Iterable[Item]:
        """The items that may fit `parts` one by one: a literal fits only itself, or a pattern."""
        for place, part in enumerate(parts):
            if _WILD.isdisjoint(part):
                known = self._at(place)
                return (*known.get(part, ()), *known.get("*", ()))
        return self._all

    def _at(self, place: int) -> dict[str, list[Item]]:
        """The items by their part at `place`, those with a pattern there below `*`."""
        found = self._by_place.get(place)
        if found is None:
            found = self._by_place[place] = {}
            for parts, item in self._items:
                if place < len(parts):
                    key = parts[place] if _WILD.isdisjoint(parts[place]) else "*"
                    found.setdefault(key, []).append(item)
        return found
