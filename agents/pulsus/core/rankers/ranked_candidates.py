"""Candidates as they are given back: p and every reason, of the numbers that decided (spec §5).

`lexical_ranker.py` ranks them; their number is limited by `ranker.max_candidates`
(`config/settings.py`). Candidates in `_tmp/` are modules: `core/storage/candidate_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from pulsus.core.rankers.calibration import Calibration
from pulsus.core.rankers.calibration_signals import calibration_signals, candidate_details
from pulsus.core.rankers.lexical.query_matches import (
    inexact_matches,
    matched_words,
    unmatched_words,
)
from pulsus.core.rankers.scorer import ScoredTool, Scorer
from pulsus.core.rankers.tie_breaks import RankedCandidate, tie_break, why_not
from pulsus.core.types import Ranked, ToolSpec


def ranked_rows(
    assessor: Scorer,
    ordered: Sequence[ScoredTool],
    kept: Sequence[int],
    shown: Sequence[int],
    *,
    tool: Callable[[int], ToolSpec],
    calibration: Calibration,
    weights: Mapping[str, float],
    tied: int,
) -> tuple[Ranked, ...]:
    """Return the candidates to give back, with p (it never rises down the order) and why.

    `ordered` are all, best first; `kept` the places of those that count for ranks, `shown` which of
    these are given. `tool` gives a tool by its number. The scores of the first `tied` of `ordered`
    count as equal.
    """
    if not shown:
        return ()
    found = assessor.found
    detail = candidate_details(found, assessor.documents, assessor.alike, assessor.recalled)
    numbers = calibration_signals(
        [a.standing for a in ordered],
        assessor.documents.size,
        lambda at: detail(ordered[at].number),
        kept[shown[-1]] + 1,
    )
    chances = list(accumulate([calibration.p(s) for s in numbers], min))
    wanted = {kept[at] for n in shown for at in (n, n + 1) if at < len(kept)} | {kept[0]}
    known = {at: as_candidate(ordered[at], tool) for at in wanted}
    winner = known[kept[0]]

    def tie_break_before_next(n: int) -> str | None:
        if n + 1 >= len(kept):
            return None
        at, after = kept[n], kept[n + 1]
        return tie_break(known[at], known[after], tied=after < tied)

    ranked = []
    for n in shown:
        at = kept[n]
        assessed, own = ordered[at], known[at]
        hits = found.found[assessed.number].hits
        ranked.append(
            Ranked(
                tool=own.tool,
                features=assessed.features,
                weights=weights,
                score=assessed.score,
                p=chances[at],
                rank=n + 1,
                tie_break=tie_break_before_next(n),
                why_not=why_not(winner, own, weights, tied=max(kept[0], at) < tied) if n else None,
                matched=matched_words(found.terms, hits),
                meant=inexact_matches(found.terms, hits),
                unmatched=unmatched_words(found.terms, hits),
                signals=numbers[at],
                caution=assessed.caution,
                votes=assessed.votes,
                phrased=assessed.phrased,
            )
        )
    return tuple(ranked)


def as_candidate(assessed: ScoredTool, tool: Callable[[int], ToolSpec]) -> RankedCandidate:
    """Return a scored tool with its `ToolSpec`, which `tool` gives by number."""
    standing = assessed.standing
    return RankedCandidate(
        tool(assessed.number), assessed.features, assessed.score, standing.named, assessed.phrased
    )
