"""Find patterns of paths that may stand for a secret, and folders with secrets below them.

`secret_files.py` asks it about `cat /etc/sh*`, and about a search below /etc.

Wildcards (`*`, `?`, `[…]`) are compared with secret places. A pattern has to name the place: if
only its stars fit, it does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, Generic, TypeVar

from pulsus.commands.risk.secret_paths import (
    LONGEST,
    ORDINARY,
    SecretPlace,
    in_public_folder,
    normalize,
    secret_places,
    unknown_parent,
)
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern
from pulsus.commands.shell.parent_folders import climbs

_HOMES: Final = (("root",), ("home", "*"), ("users", "*"), ("var", "root"))
"""Folders of homes, for programs that look into folders."""

_DEEPEST: Final = 64
"""Folders in a pattern that is looked through; a deeper one is taken for a secret."""

_LEAST: Final = 2
"""Letters that a pattern has to share with a name that may be anywhere (`id*`, not `*`)."""

_STARS: Final = re.compile(r"[*?]")

_MARKS: Final = re.compile(r"[*?\[]")


def secret_pattern(path: str, *, names: bool = True) -> bool:
    """Return True if `path`, with unquoted `*`, `?` or `[…]`, may stand for a file that holds
    secrets."""
    if len(path) > LONGEST or not normalize(path):
        return False
    if path.count("/") > _DEEPEST or unknown_parent(path):
        return True
    return _may_be_secret(simplify_pattern(normalize(path)), names, path[:1] in {"/", "~"})


@lru_cache(maxsize=4096)
def _may_be_secret(path: str, names: bool, rooted: bool) -> bool:
    parts = path.split("/")
    if _may_name_place(parts, rooted):
        return True
    if rooted and any(_may_begin_with_place(parts, place) for place in secret_places("rooted")):
        return True
    if not names or path.endswith(".pub") or in_public_folder(path):
        return False
    return _may_be_secret_name(parts[-1])


def _may_name_place(parts: Sequence[str], rooted: bool) -> bool:
    """Return True if the parts of a pattern can end in a place, or, if it is a folder, go
    through it."""
    for (count, folder), index in _places_by_length().items():
        last = len(parts) - count
        for start in range(0 if folder else max(last, 0), last + 1):
            here = parts[start : start + count]
            if any(_is_place_meant(here, place, rooted, start) for place in index.like(here)):
                return True
    return False


@cache
def _places_by_length() -> Mapping[tuple[int, bool], PartIndex[SecretPlace]]:
    """Return the places by their number of parts, and by whether they are folders."""
    found: dict[tuple[int, bool], list[SecretPlace]] = {}
    for place in secret_places("places"):
        found.setdefault((len(place.parts), place.folder), []).append(place)
    return {key: PartIndex((one.parts, one) for one in places) for key, places in found.items()}


def _is_place_meant(here: Sequence[str], place: SecretPlace, rooted: bool, start: int) -> bool:
    """Return True if these parts name `place`, and do not just match everything. `start` parts
    stand before them."""
    if not all(map(_may_match_part, here, place.parts)):
        return False
    named = [h for h, own in zip(here, place.parts, strict=True) if own != "*"]
    letters = sum(len(part.strip("*?")) for part in named)
    known = rooted and bool(place.root) and (start == 0 or here[0][0] == ".")
    return known or letters >= _LEAST * len(named)


def _may_begin_with_place(parts: Sequence[str], place: SecretPlace) -> bool:
    """Return True if a pattern of a whole path can name `place`, which lies right below the
    root."""
    count = len(place.parts)
    if len(parts) == 1 and not parts[0].strip("*?"):
        return False  # `/*` says nothing
    fits = len(parts) >= count if place.folder else len(parts) == count
    return fits and all(map(_may_match_part, parts[:count], place.parts))


@lru_cache(maxsize=4096)
def _may_be_secret_name(pattern: str) -> bool:
    """Return True if `pattern` means a file of a secret name: both share letters, or the ending."""
    endings, names = _secret_names()
    _, dot, own = pattern.rpartition(".")
    if dot and own.strip("*?") and any(patterns_overlap(own, ending) for ending in endings):
        return True
    return any(_is_similar_name(pattern, one) and _may_match_part(pattern, one) for one in names)


@cache
def _secret_names() -> tuple[Sequence[str], Sequence[str]]:
    """Return the endings of names that any letters may begin (`*.pem`), and the other names."""
    names = [place.parts[0] for place in secret_places("names")]
    endings = [name for name in names if name.rpartition(".")[:2] == ("*", ".")]
    return [name[2:] for name in endings], [name for name in names if name not in endings]


def _may_match_part(pattern: str, name: str) -> bool:
    """Return True if one part of a pattern can be `name`. If both have stars, they also have to be
    alike."""
    if name == "*" or "*" not in name:
        return not (name[0] == "." and pattern[0] in "*?") and patterns_overlap(
            pattern, simplify_pattern(name)
        )
    return _is_similar_name(pattern, name) and patterns_overlap(pattern, simplify_pattern(name))


def _is_similar_name(pattern: str, name: str) -> bool:
    """Return True if both begin or end with the same letters, and with more than a few by
    chance."""
    least = 1 if name[0] == "." else _LEAST
    (head, tail), (own_head, own_tail) = _literal_ends(pattern, _STARS), _literal_ends(name, _MARKS)
    return _begin_alike(head, own_head, least) or _begin_alike(tail, own_tail, _LEAST + 1)


@lru_cache(maxsize=4096)
def _literal_ends(name: str, marks: re.Pattern[str]) -> tuple[str, str]:
    """Return the letters before the first of `marks`, and those behind the last, backwards."""
    parts = marks.split(_stem_of_name(name))
    return parts[0], parts[-1][::-1]


def _begin_alike(one: str, other: str, count: int) -> bool:
    """Return True if both begin with the same letters, `count` of them or more."""
    return len(one) >= count and other.startswith(one[:count])


def _stem_of_name(name: str) -> str:
    return name.rpartition(".")[0] or name


def contains_secrets(path: str, pattern: str = "*") -> bool:
    """Return True if secrets lie in the folder `path` or below it, in files called like
    `pattern`."""
    if len(path) > LONGEST:
        return False
    known = normalize(path)
    # `../../etc` is `/etc` from some folder, and `..` is `/`.
    rooted = path[:1] in {"/", "~"} or climbs(path)
    return _has_secrets_below(simplify_pattern(known), simplify_pattern(pattern.lower()), rooted)


@lru_cache(maxsize=1024)
def _has_secrets_below(path: str, pattern: str, rooted: bool) -> bool:
    """Return True if a secret lies below the folder. A relative path may lie anywhere, so it
    does not count."""
    parts = path.split("/") if path else []
    if not rooted or ORDINARY.search(pattern):
        return False
    for inner, folder in _secrets_from_root().like(parts):
        fits = folder or patterns_overlap(pattern, simplify_pattern(inner[-1]))
        if fits and len(parts) < len(inner) and all(map(patterns_overlap, parts, inner)):
            return True
    return False


@cache
def _secrets_from_root() -> PartIndex[tuple[tuple[str, ...], bool]]:
    """Return the secrets in known places, as parts from the root, with True for a folder."""
    found = []
    for place in (*secret_places("places"), *secret_places("rooted")):
        if place.parts[0] == "*":
            continue  # in any folder: nothing says that it is this one
        for home in _HOMES if place.root == "~" else ((),):
            inner = (*home, *place.parts)
            found.append((inner, (inner, place.folder)))
    return PartIndex(found)


Item = TypeVar("Item")

_WILD: Final = frozenset("*?[")


class PartIndex(Generic[Item]):
    """Items, each with the parts of a path, some of which may be patterns."""

    def __init__(self, items: Iterable[tuple[Sequence[str], Item]]) -> None:
        self._items = tuple(items)
        self._all = tuple(item for _, item in self._items)
        self._by_place: dict[int, dict[str, list[Item]]] = {}

    def like(self, parts: Sequence[str]) -> Iterable[Item]:
        """Return the items that may fit `parts` one by one: a literal fits only itself, or a
        pattern."""
        for place, part in enumerate(parts):
            if _WILD.isdisjoint(part):
                known = self._items_by_part(place)
                return (*known.get(part, ()), *known.get("*", ()))
        return self._all

    def _items_by_part(self, place: int) -> dict[str, list[Item]]:
        """Return the items by their part at `place`, those with a pattern there below `*`."""
        found = self._by_place.get(place)
        if found is None:
            found = self._by_place[place] = {}
            for parts, item in self._items:
                if place < len(parts):
                    key = parts[place] if _WILD.isdisjoint(parts[place]) else "*"
                    found.setdefault(key, []).append(item)
        return found
