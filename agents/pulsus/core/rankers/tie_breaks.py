"""Tie-breakers: decide which of two candidates comes first, and say why (spec §5, §9).

`lexical_ranker.py` orders the candidates by it. Two tools of one name are told apart in
`routing/tool_discovery.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from pulsus.core.types import ToolSpec

GRAINS = 10**9
"""Scores equal to this many parts of 1 are equal: sums of floats must not break a tie."""

_HISTORY_DIGITS = 2
"""Histories that are equal to this many digits are equal: a hundredth says nothing about a tool."""


class Scored(Protocol):
    """A scored tool, with the part of its order that is known without reading the tool."""

    @property
    def order(self) -> Figures:
        """Named, score, shared, history, each so that less comes first."""
        ...


class RankedCandidate(NamedTuple):
    """A tool with its features (all in [0, 1]) and their weighted sum."""

    tool: ToolSpec
    features: Mapping[str, float]
    score: float
    named: bool = False
    phrased: bool = False


_Key = tuple[bool, bool, float, int, int, str, str]

_REASONS = (
    "named in the request",
    "domain tool over shared tool",
    "higher history",
    "shallower path",
    "score",
    "lexicographic by filename",
    "lexicographic by id",
)


Figures = tuple[bool, int, bool, int]
"""The part of the order that needs no look at the tool itself."""


def sort_key(named: bool, score: float, shared: bool, history: float) -> Figures:
    """Sorts best first: named in the request, score, domain before shared, history."""
    return (not named, -int(score * GRAINS + 0.5), shared, -int(history * GRAINS + 0.5))


def end_of_tie(found: Sequence[Scored], start: int, tolerance: float = 0.0) -> int:
    """Return the end of the candidates that tie with the one at `start`. `found` is by score.

    A candidate ties if its score is lower by `tolerance` at most. Tools that the request names tie
    only with each other.
    """
    named, score, *_ = found[start].order
    least = score + int(tolerance * GRAINS + 0.5)
    end = start + 1
    while end < len(found) and found[end].order[0] == named and found[end].order[1] <= least:
        end += 1
    return end


def tie_key(candidate: RankedCandidate) -> _Key:
    """Sorts candidates with equal scores, best first; total over distinct ids.

    The four tie-breakers of §5, then the id. The score comes before the file name: it may still
    differ within the tolerance, and says more than the alphabet.
    """
    tool = candidate.tool
    history = candidate.features.get("history", 0.0)
    return (
        not candidate.named,
        tool.shared,
        -round(history, _HISTORY_DIGITS),
        len(tool.path.parts),
        -int(candidate.score * GRAINS + 0.5),
        tool.path.name,
        tool.id,
    )


def tie_break(winner: RankedCandidate, loser: RankedCandidate, *, tied: bool = False) -> str | None:
    """Return the reason other than the score for the order, or None if the score decided.

    `tied` says that the two scores count as equal, although they differ within the tolerance.
    """
    same = winner.named == loser.named
    if same and not tied and abs(winner.score - loser.score) * GRAINS > 1:
        return None
    pairs = zip(tie_key(winner), tie_key(loser), _REASONS, strict=True)
    reason = next((why for mine, theirs, why in pairs if mine != theirs), None)
    if reason == _REASONS[0] and winner.phrased:
        return "the request is one of its intents"
    return None if reason == "score" else reason


def why_not(
    winner: RankedCandidate,
    loser: RankedCandidate,
    weights: Mapping[str, float],
    *,
    tied: bool = False,
) -> str:
    """Return one line: the feature that cost `loser` most against `winner`, or the tie-break."""
    broken = tie_break(winner, loser, tied=tied)
    if broken:
        apart = abs(winner.score - loser.score) * GRAINS > 1 and winner.named == loser.named
        equal = f" (scores {winner.score:.3f} and {loser.score:.3f} count as equal)"
        return f"{winner.tool.id} is before it: {broken}{equal if apart else ''}"
    ahead, behind = winner.features, loser.features
    _, worst = max([(w * (ahead[name] - behind[name]), name) for name, w in weights.items()])
    return (
        f"{worst} {loser.features[worst]:.2f} against {winner.features[worst]:.2f} "
        f"of {winner.tool.id}"
    )
