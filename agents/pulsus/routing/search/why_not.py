"""The smallest reason a tool was not chosen for a request, and what would change it. Pure.

`pulsus explain --why-not` shows it. A low p is explained in `routing/search/low_probability.py`.

The search is the one `pulsus route` makes; nothing is run and nothing is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pulsus.core.rankers import score_differences
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.rankers.score_differences import FeatureGap, RankChange
from pulsus.core.types import BrokenTool, Catalogue, Ranked, SubIntent, ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.routing.search import manifest_advice
from pulsus.routing.search.low_probability import low_probability_reason
from pulsus.routing.search.search_result import SearchResult

Code = Literal[
    "CHOSEN",
    "BELOW_TAU",
    "NO_WORDS",
    "AT_ODDS",
    "NAMED",
    "ORDER",
    "SCORE",
    "COMPOSED",
    "SHADOWED",
    "FILTERED",
    "BROKEN",
    "DEPRECATED",
]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer about one tool. `reason` and `fix` are one line each; `fix` may be empty.

    `winner` is the candidate it is compared with. `own` is the tool as it was ranked, None if it
    was not. `gaps` sum to the difference of the scores. `lacks` are the words of the request that
    the tool does not have. `part` is the clause of a composition.
    """

    tool: str
    code: Code
    reason: str
    fix: str = ""
    winner: Ranked | None = None
    own: Ranked | None = None
    gaps: tuple[FeatureGap, ...] = ()
    changes: tuple[RankChange, ...] = ()
    lacks: tuple[str, ...] = ()
    part: str | None = None


def because_broken(found: BrokenTool, where: str) -> WhyNot:
    """Explain that a broken file cannot be chosen."""
    return WhyNot(
        where,
        "BROKEN",
        f"broken: {found.code}: {found.reason}",
        "repair the file; `pulsus tools check` lists every such file",
    )


def because_filtered(tool: ToolSpec, refusal: str) -> WhyNot:
    """Explain that a filtered tool cannot be chosen."""
    fix = "ask without that filter, or change it in the settings"
    return WhyNot(tool.id, "FILTERED", f"filtered out: {refusal}", fix)


def because_deprecated(tool: ToolSpec, note: str) -> WhyNot:
    """Explain that a deprecated tool was not chosen."""
    fix = f"reinstate it: `pulsus deprecate {tool.id} --undo`"
    return WhyNot(tool.id, "DEPRECATED", note, fix)


def why_not(
    tool: ToolSpec,
    found: SearchResult,
    catalogue: Catalogue,
    calibration: Calibration,
    *,
    tau: float,
    subintents: Sequence[SubIntent] = (),
    request: str = "",
) -> WhyNot:
    """Explain why `tool` was not chosen by `found`, a search for `request` that included it.

    For a composition, `subintents` are those of the search, with `tool` ranked in each.
    """
    step = next((n for n, r in enumerate(found.choice.chosen) if r.tool.id == tool.id), None)
    if step is not None:
        return _chosen(tool, found, step)
    if found.choice.policy == "compose":
        return _no_step(tool, subintents)
    own = next((r for r in found.candidates if r.tool.id == tool.id), None)
    if own is None or (len(found.candidates) == 1 and _wordless(own)):
        return _unranked(tool, catalogue, own, request)
    if found.candidates[0].tool.id == tool.id:
        rival = found.candidates[1] if len(found.candidates) > 1 else None
        return _below(own, rival, calibration, tau, request)
    answer = compare_with_winner(found.candidates[0], own, request)
    best = found.candidates[0].p
    if best >= tau and answer.fix and answer.code in ("SCORE", "NO_WORDS"):
        answer = replace(
            answer, fix=manifest_advice.suggest_for_competitor(found.candidates[0], answer.fix)
        )
    if best < tau:
        answer = replace(answer, reason=f"{answer.reason}; nothing reaches τ (best p {best:.2f})")
    return answer


def compare_with_winner(
    winner: Ranked, own: Ranked, request: str = "", *, feedback: bool = True
) -> WhyNot:
    """Explain why `own` came after `winner` for `request`: the first of these that holds.

    - It has none of the request's words.
    - It is at odds with the request.
    - The request names the winner.
    - Another rule than the score put the winner first.
    - Some features cost it the first place.

    `feedback` is False for a ranking that does not count feedback (`pulsus eval`).
    """
    found = score_differences.gaps(winner, own)
    lacks = manifest_advice.typed_words(lacking(winner, own), request)
    base = WhyNot(own.tool.id, "SCORE", "", winner=winner, own=own, gaps=found, lacks=lacks)
    who = winner.tool.id
    if _wordless(own):
        return replace(
            base,
            code="NO_WORDS",
            reason=manifest_advice.no_words_reason(lacks),
            fix=_intent(lacks, request, own.tool.id),
        )
    if own.caution and not winner.caution:
        return replace(
            base,
            code="AT_ODDS",
            reason=f"at odds: {own.caution}",
            fix=manifest_advice.suggest_for_mismatch(own),
        )
    if winner.signals.get("named") and not own.signals.get("named"):
        return replace(
            base,
            code="NAMED",
            reason=f"the request is an intent of {who}, word for word, and such a tool is first"
            if winner.phrased
            else f"the request names {who}, and a named tool is always first",
            fix=f"take the intent out of the manifest of {who}"
            if winner.phrased
            else "leave the name out of the request",
        )
    cost = score_differences.fewest_deciding_gaps(found)
    if not cost:
        return replace(base, code="ORDER", reason=own.why_not or f"{who} is before it")
    possible = tuple(
        c
        for c in score_differences.single_feature_changes(found)
        if c.above < _most(c.feature, winner, own)
    )
    history = (
        f"tell of a run it was right for, `pulsus feedback RUN --right {own.tool.id}`"
        if feedback
        else manifest_advice.suggest_request(own.tool.id)
    )
    fix = _raise(possible, base, own, request, history)
    return replace(base, reason=_cost(cost, who), changes=possible, fix=fix)


def lacking(winner: Ranked, own: Ranked) -> tuple[str, ...]:
    """Return the words of the request that `own` lacks, words of the winner first."""
    has = set(score_differences.matched_words(own))
    words = (*score_differences.matched_words(winner), *own.unmatched)
    return tuple(dict.fromkeys(word for word in words if word not in has))


def _chosen(tool: ToolSpec, found: SearchResult, step: int) -> WhyNot:
    own = found.choice.chosen[step]
    if found.choice.policy == "compose":
        part = found.subintents[step].text
        reason = f"it was chosen: step {step + 1} of the plan, for {part!r} (p {own.p:.2f})"
        return WhyNot(tool.id, "CHOSEN", reason, own=own, part=part)
    rival = next((r for r in found.candidates if r.tool.id != tool.id), None)
    lead = f"; next is {rival.tool.id} with p {rival.p:.2f}" if rival else ""
    return WhyNot(tool.id, "CHOSEN", f"it was chosen: {found.choice.reason}{lead}", own=own)


def _no_step(tool: ToolSpec, subintents: Sequence[SubIntent]) -> WhyNot:
    """Explain why it is no step, against the winner of the clause where it comes closest."""
    if tool.composed:
        return WhyNot(tool.id, "COMPOSED", "a composition is no step of another one")
    pairs = []
    for clause in subintents:
        own = next((r for r in clause.candidates if r.tool.id == tool.id), None)
        if own and clause.candidates[0].tool.id != tool.id:
            winner = clause.candidates[0]
            pairs.append((winner.score - own.score, clause.text, winner, own))
    if not pairs:
        fix = manifest_advice.suggest_request(tool.id)
        return WhyNot(tool.id, "NO_WORDS", manifest_advice.no_words_reason(()), fix)
    _, text, winner, own = min(pairs, key=lambda pair: (pair[0], pair[1]))
    answer = compare_with_winner(winner, own, text)
    return replace(answer, part=text, reason=f"for {text!r}: {answer.reason}")


def _unranked(tool: ToolSpec, catalogue: Catalogue, own: Ranked | None, request: str) -> WhyNot:
    by = next((s.domain for s in catalogue.shadowed if s.shared == tool.path), None)
    if by is not None:
        winner = next((t.id for t in catalogue.tools if t.path == by), str(by))
        reason = f"shadowed by {winner}: a domain tool wins over the shared tool of that name"
        return WhyNot(tool.id, "SHADOWED", reason, "rename one of the two")
    words = manifest_advice.typed_words(own.unmatched, request) if own else ()
    fix = _intent(words, request, tool.id)
    return WhyNot(
        tool.id, "NO_WORDS", manifest_advice.no_words_reason(words), fix, own=own, lacks=words
    )


def _below(
    own: Ranked, rival: Ranked | None, calibration: Calibration, tau: float, request: str
) -> WhyNot:
    because = low_probability_reason(own, rival, calibration)
    return WhyNot(
        own.tool.id,
        "BELOW_TAU",
        f"it is first but p {own.p:.2f} < τ {tau:.2f} because {because}",
        manifest_advice.suggest_for_mismatch(own)
        if own.caution
        else _intent(own.unmatched, request, own.tool.id),
        own=own,
        lacks=manifest_advice.typed_words(own.unmatched, request),
    )


def _intent(words: Sequence[str], request: str, tool_id: str) -> str:
    found = manifest_advice.suggest_intent(words, request, tool_id)
    return found or manifest_advice.suggest_request(tool_id)


def _most(feature: str, winner: Ranked, own: Ranked) -> float:
    """Return the value that `own` may come up to in this feature, whatever is done for it.

    A name that the request says whole counts the less the more tools there are (tool_names.py):
    how much
    is seen where the request says part of one. Where it is not known, 0: nothing is promised.
    """
    if feature == "doc":
        return own.features.get("doc", 0.0) if own.caution else 1.0
    if feature != "name" or own.signals.get("named"):
        return 1.0
    for one in (winner, own):
        covered = one.signals.get("name_cover", 0.0)
        if covered and not one.signals.get("named"):
            return one.features.get("name", 0.0) / covered
    return 0.0


def _raise(
    possible: Sequence[RankChange], lost: WhyNot, own: Ranked, request: str, history: str
) -> str:
    """Return the advice for the smallest change of one feature; words come first.

    `history` is the advice for the feature of that name.
    """
    if own.caution:
        return manifest_advice.suggest_for_mismatch(own)
    words = lost.lacks or (score_differences.matched_words(lost.winner) if lost.winner else ())
    if not possible:
        return (
            manifest_advice.suggest_intent(words, request, own.tool.id)
            or "no single feature could make it win"
        )
    best = next((c for c in possible if c.feature == "doc"), possible[0])
    above = f"{best.feature} above {_ceil(best.above):.2f}"
    need = f"{above} would put it first by score (now {best.now:.2f})"
    how = {
        "doc": _intent(words, request, own.tool.id),
        "name": "say more of the tool's name in the request",
        "history": history,
    }.get(best.feature)
    return f"{need}: {how}" if how else need


def _cost(cost: Sequence[FeatureGap], winner: str) -> str:
    """Return the fewest features that cost it the first place."""
    told = [f"{gap.feature} feature: {gap.own:.2f} against {gap.winner:.2f}" for gap in cost]
    if len(told) == 1:
        return f"it would have won but for the {told[0]} of {winner}"
    names = f"{', '.join(g.feature for g in cost[:-1])} and {cost[-1].feature}"
    values = ", ".join(f"{gap.feature} {gap.own:.2f} against {gap.winner:.2f}" for gap in cost)
    return f"{names} together put {winner} before it: {values}"


def _ceil(value: float) -> float:
    """Rounded up to two decimals: a stated bound that is enough."""
    return math.ceil(value * 100 - 1e-9) / 100


def _wordless(own: Ranked) -> bool:
    """Return True if it shares no word with the request, and no past request supports it."""
    return not (score_differences.matched_words(own) or own.votes)
