"""Fuzzy matching: match names in a request to resources, exactly or by likeness (§1). Pure.

Typos in names that a tool call gives are answered by `gates/resources/similar_resources.py`.

A prefix of at least four letters is enough; more than three similar resources are too many. A
likeness is never certain. It puts a resource into the session, but does not count as if the user
had named it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pulsus.gates.resources.resolved_resource import ResolvedResource

LEAST_PREFIX: Final = 4
"""Letters of a word that may stand for the start of a longer name (deep dive §1)."""

TOO_GENERAL: Final = 3
"""A word that is like more resources than this says nothing about any of them."""

_WORD: Final = re.compile(r"[^\W_][\w.-]*[^\W_]|[^\W_]")
_PARTS: Final = re.compile(r"[-_.@]+")


def exact_matches(name: str, resources: Sequence[ResolvedResource]) -> tuple[ResolvedResource, ...]:
    """Return the resources with this id, name or alias. Case counts only if it decides.

    An id comes first, so that no name can take its place.
    """
    by_id = tuple(one for one in resources if one.id == name)
    if by_id:
        return by_id
    as_written = tuple(one for one in resources if name in one.names)
    plain = name.casefold()
    return as_written or tuple(
        one for one in resources if plain in (each.casefold() for each in one.names)
    )


def similar_matches(
    name: str, resources: Sequence[ResolvedResource]
) -> tuple[ResolvedResource, ...]:
    """Return the resources whose name begins with `name`, or has it between hyphens.

    `name` has at least four letters, or is a whole part. Of a prefix that is too general nothing
    is returned.
    """
    plain = name.casefold()
    found = tuple(one for one in resources if _is_like(plain, one))
    return found if len(found) <= TOO_GENERAL else ()


def matches_in_words(
    text: str, resources: Sequence[ResolvedResource]
) -> tuple[ResolvedResource, ...]:
    """Return the resources that the plain words of a text may mean, in the text's order."""
    lower = text.casefold()
    found: dict[str, ResolvedResource] = {}
    for word in dict.fromkeys(each.group().rstrip(".-") for each in _WORD.finditer(lower)):
        hits = exact_matches(word, resources) or (
            similar_matches(word, resources) if len(word) >= LEAST_PREFIX else ()
        )
        found |= {one.id: one for one in hits if len(hits) <= TOO_GENERAL}
    for one in resources:  # names of several words, such as "this machine"
        for name in one.names:
            if " " in name and re.search(rf"\b{re.escape(name.casefold())}\b", lower):
                found[one.id] = one
    return tuple(found.values())


def _is_like(plain: str, resource: ResolvedResource) -> bool:
    every = (resource.name, *resource.aliases)
    names = {each.casefold() for each in every if " " not in each}  # "this machine" is no prefix
    if len(plain) >= LEAST_PREFIX and any(name.startswith(plain) for name in names):
        return True
    return any(plain in _PARTS.split(name)[:8] for name in names if _PARTS.search(name))
