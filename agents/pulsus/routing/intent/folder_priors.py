"""Let embeddings and docs influence the folder of a request (spec §3, §14). Pure.

The folder itself is chosen in `routing/prompt_parser.py`.

The words of a request give each folder a share and leave a rest, "none of them". Embeddings and
docs distribute only part of that rest. They never lower a folder's probability.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from pulsus.core.types import Passage

Place = tuple[str | None, str]
"""Domain (None = shared) and action."""

_VAGUE, _CLEAR = 0.20, 0.60
"""Cosine of the best folder at which none, and all that may be, of the rest is shared out."""
_MEANT = 0.75
"""Most of the rest that meaning may share out: words alone are never fully overruled."""
_SHARPNESS = 20.0
"""Log-odds between two folders for each 1 of cosine."""
_HINTED = 0.5
"""Most of the rest that hints may share out."""


class FolderSimilarity(Protocol):
    """The similarity of a request to folders."""

    def similar(self, text: str) -> Mapping[int, float]:
        """Cosine in [-1, 1] by the folder's position."""
        ...


class Library(Protocol):
    """The project's docs."""

    def passages(self, text: str) -> tuple[Passage, ...]:
        """Return the passages on a request, best first; empty without a match."""
        ...


def apply_embedding_prior(
    shares: Mapping[Place, float], places: Sequence[Place], similar: Mapping[int, float]
) -> dict[Place, float]:
    """Return the shares, each raised by how like its folder is to the request; they sum to 1 at
    most.
    """
    if not similar:
        return dict(shares)
    best = max(similar.values())
    sure = min(1.0, max(0.0, (best - _VAGUE) / (_CLEAR - _VAGUE)))
    pull = {places[n]: math.exp(_SHARPNESS * (value - best)) for n, value in similar.items()}
    return _shared_out(shares, pull, _MEANT * sure)


def apply_doc_prior(
    shares: Mapping[Place, float], places: Sequence[Place], passages: Sequence[Passage]
) -> dict[Place, float]:
    """Return the shares, each raised by the passages that speak of its folder; they sum to 1 at
    most.
    """
    pull: dict[Place, float] = {}
    known = set(places)
    best = 0.0
    for passage in passages:
        spoken = [place for place in passage.places if place in known]
        best = max(best, passage.score if spoken else 0.0)
        for place in spoken:
            pull[place] = pull.get(place, 0.0) + passage.score / len(spoken)
    return _shared_out(shares, pull, _HINTED * best)


def _shared_out(
    shares: Mapping[Place, float], pull: Mapping[Place, float], part: float
) -> dict[Place, float]:
    """Return `part` of what the shares leave open, given to places in proportion to their pull."""
    total = sum(pull.values())
    if not total or part <= 0:
        return dict(shares)
    given = part * max(0.0, 1.0 - sum(shares.values()))
    return {
        place: shares.get(place, 0.0) + given * (pull.get(place, 0.0) / total)
        for place in dict.fromkeys((*shares, *pull))
        if place in shares or pull[place] > 0
    }
