"""Names of discovered resources that are like one that was not found (deep dive §11)."""

from __future__ import annotations

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from pulsus.gates.resources.resolved_context import ResolvedContext

_MOST = 5
_LEAST_SIMILARITY = 0.75
"""Jaro-Winkler similarity from which a name is offered. "homepage" and "homepage-docker" have 0.91,
unrelated names of one length about 0.5."""


def similar_names(name: str, context: ResolvedContext, now: float) -> list[str]:
    """Return at most five names of resources that are like `name`, the most similar first.

    The names come as discovery wrote them. A name of several resources comes as their ids.
    """
    known: dict[str, list[str]] = {}
    for resource in context.live(now):
        known.setdefault(resource.name, []).append(resource.id)
    close = process.extract(
        _plain(name),
        list(known),
        scorer=JaroWinkler.normalized_similarity,
        processor=_plain,
        limit=_MOST,
        score_cutoff=_LEAST_SIMILARITY,
    )
    offered = (one for found, _, _ in close for one in _as_offered(found, known[found]))
    return list(offered)[:_MOST]


def _plain(name: str) -> str:
    """Return the name part of an id or a name, in lower case."""
    return name.rpartition(":")[2].lstrip("@").casefold()


def _as_offered(name: str, ids: list[str]) -> list[str]:
    return [name] if len(ids) == 1 else ids
