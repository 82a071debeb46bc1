"""Decide which of two candidates comes first, and say why (spec §5 tie-breakers, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pulsus.core.types import ToolSpec

_GRAINS = 10**9
"""Scores equal to this many parts of 1 are equal: sums of floats must not break a tie."""


class RankedCandidate(NamedTuple):
    """A tool with its features (all in [0, 1]) and their weighted sum."""

    tool: ToolSpec
    features: Mapping[str, float]
    score: float
    named: bool = False


_Key = tuple[bool, int, bool, int, int, str, str]
_REASONS = (
    "named in the request",
    "score",
    "domain tool over shared tool",
    "higher history",
    "shallower path",
    "lexicographic by filename",
    "lexicographic by id",
)


Figures = tuple[bool, int, bool, int]
"""The part of the order that needs no look at the tool itself."""


def sort_key(named: bool, score: float, shared: bool, history: float) -> Figures:
    """Sorts best first: named in the request, score, domain before shared, history."""
    return (not named, -int(score * _GRAINS + 0.5), shared, -int(history * _GRAINS + 0.5))


def order_key(candidate: RankedCandidate) -> _Key:
    """Sorts best first; total over distinct ids.

    A tool named in the request, then score, then the four tie-breakers of §5, then the id.
    """
    tool = candidate.tool
    history = candidate.features.get("history", 0.0)
    own = sort_key(candidate.named, candidate.score, tool.shared, history)
    return (*own, *last_resort(tool))


def last_resort(tool: ToolSpec) -> tuple[int, str, str]:
    """Shallower path, file name, id."""
    return (len(tool.path.parts), tool.path.name, tool.id)


def tie_break(winner: RankedCandidate, loser: RankedCandidate) -> str | None:
    """Return the reason other than the score for the order, or None if the score decided."""
    same = winner.named == loser.named
    if same and abs(winner.score - loser.score) * _GRAINS > 1:
        return None
    pairs = zip(order_key(winner), order_key(loser), _REASONS, strict=True)
    reason = next((why for mine, theirs, why in pairs if mine != theirs), None)
    return None if reason == "score" else reason


def why_not(winner: RankedCandidate, loser: RankedCandidate, weights: Mapping[str, float]) -> str:
    """Return one line: the feature that cost `loser` most against `winner`, or the tie-break."""
    broken = tie_break(winner, loser)
    if broken:
        return f"{winner.tool.id} is before it: {broken}"
    ahead, behind = winner.features, loser.features
    _, worst = max([(w * (ahead[name] - behind[name]), name) for name, w in weights.items()])
    return (
        f"{worst} {loser.features[worst]:.2f} against {winner.features[worst]:.2f} "
        f"of {winner.tool.id}"
    )
