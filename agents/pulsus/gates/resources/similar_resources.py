"""Did you mean: discovered resources with a name like one that was not found (deep dive §11).

Suggestions for a typo in the name of a host, service or container. An ambiguous name (of several
resources) is refused in `strict_resolution.py`.
"""

from __future__ import annotations

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource

_MOST = 5
_LEAST_SIMILARITY = 0.75
"""Jaro-Winkler similarity from which a name is offered. "homepage" and "homepage-docker" have 0.91,
unrelated names of one length about 0.5."""


def similar_names(name: str, context: ResolvedContext, now: float) -> list[str]:
    """Return at most five names of resources that are like `name`, the most similar first.

    The names come as discovery wrote them. A name of several resources comes as their ids.
    """
    known: dict[str, list[ResolvedResource]] = {}
    for resource in context.live(now):
        known.setdefault(resource.name, []).append(resource)
    close = process.extract(
        _plain(name),
        {one: one.casefold() for one in known},
        scorer=JaroWinkler.normalized_similarity,
        limit=_MOST,
        score_cutoff=_LEAST_SIMILARITY,
    )
    offered: list[str] = []
    for _, _, found in close:
        offered += [found] if len(known[found]) == 1 else [one.id for one in known[found]]
    return offered[:_MOST]


def _plain(name: str) -> str:
    """Return the name part of an id or a name, in lower case."""
    return name.rpartition(":")[2].lstrip("@").casefold()
