"""Explain why one candidate lost against another, and the parts of its `p` (spec §5, §12). Pure.

Everything is computed from the numbers the decision was made from. `routing/search/why_not.py` says
why a tool was not chosen, and `cli/render/explain_table.py` prints it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pulsus.core.rankers.calibration import CAUTION, Calibration
from pulsus.core.rankers.intent_phrases import share_of_anti_intent
from pulsus.core.text.tokens import stem, stems, words
from pulsus.core.types import Ranked, ToolSpec
from pulsus.fast_dataclass import dataclass

_EQUAL = 1e-9
"""Scores closer than this are equal (tie_breaks.py rounds to as many digits)."""


@dataclass(frozen=True, slots=True)
class FeatureGap:
    """One feature of a loser against the winner's. `weight` is its share of all weights.

    `gap` is `weight` times the difference: positive where the loser is worse.
    """

    feature: str
    own: float
    winner: float
    weight: float
    gap: float


@dataclass(frozen=True, slots=True)
class RankChange:
    """A feature's value above which the loser would win, everything else as it is."""

    feature: str
    now: float
    above: float


@dataclass(frozen=True, slots=True)
class SignalContribution:
    """The share of one signal in the log-odds of `p`: `coefficient` times `value`."""

    signal: str
    value: float
    coefficient: float
    push: float


def feature_contributions(ranked: Ranked) -> dict[str, float]:
    """Return the share of each feature in the score. Zero weights give zeros."""
    return {name: share * ranked.features[name] for name, share in _weight_shares(ranked).items()}


def gaps(winner: Ranked, loser: Ranked) -> tuple[FeatureGap, ...]:
    """Return every weighted feature of both, what cost the loser most first.

    The gaps sum to `winner.score - loser.score`.
    """
    found = []
    for name, share in _weight_shares(winner).items():
        mine, theirs = loser.features.get(name, 0.0), winner.features.get(name, 0.0)
        if share:
            found.append(FeatureGap(name, mine, theirs, share, share * (theirs - mine)))
    return tuple(sorted(found, key=lambda g: (-g.gap, g.feature)))


def fewest_deciding_gaps(found: Sequence[FeatureGap]) -> tuple[FeatureGap, ...]:
    """Return the fewest features without whose gaps the loser would not have lost by score.

    Empty if it did not: `gaps` sum to 0 or less.
    """
    remaining = math.fsum(g.gap for g in found)
    taken = []
    for gap in sorted(found, key=lambda g: (-g.gap, g.feature)):
        if remaining <= _EQUAL:
            break
        taken.append(gap)
        remaining -= gap.gap
    return tuple(taken)


def single_feature_changes(found: Sequence[FeatureGap]) -> tuple[RankChange, ...]:
    """Return each feature that alone could make the loser win, the smallest rise first."""
    lost_by = math.fsum(g.gap for g in found)
    if lost_by <= _EQUAL:
        return ()
    possible = [RankChange(g.feature, g.own, g.own + lost_by / g.weight) for g in found]
    reachable = [c for c in possible if c.above < 1.0]
    return tuple(sorted(reachable, key=lambda c: (c.above - c.now, c.feature)))


def round_to_sum(values: Sequence[float], digits: int) -> tuple[float, ...]:
    """Return the values rounded so that they still sum to their rounded sum: what is printed adds
    up.

    Each differs from its value by less than one unit of the last digit (largest remainder).
    """
    unit = 10.0**digits
    scaled = [value * unit for value in values]
    floors = [math.floor(value) for value in scaled]
    missing = round(math.fsum(scaled)) - sum(floors)
    by_rest = sorted(range(len(scaled)), key=lambda n: (floors[n] - scaled[n], n))
    for n in by_rest[:missing]:
        floors[n] += 1
    return tuple(round(value / unit, digits) for value in floors)


def signal_contributions(
    calibration: Calibration, signals: Mapping[str, float]
) -> tuple[SignalContribution, ...]:
    """Return the signals that moved the log-odds from the intercept, the strongest first.

    The intercept and all pushes sum to the log-odds; a tool named in the request, and one at odds
    with it, have limits of p beside them (calibration.py).
    """
    coefficients = {**calibration.coefficients, "caution": -CAUTION}
    found = [
        SignalContribution(name, signals.get(name, 0.0), weight, weight * signals.get(name, 0.0))
        for name, weight in coefficients.items()
    ]
    return tuple(sorted((f for f in found if f.push), key=lambda f: (-abs(f.push), f.signal)))


def matched_words(ranked: Ranked) -> tuple[str, ...]:
    """Return the request's words found in the tool, each once, in the order of places."""
    return tuple(dict.fromkeys(w for found in ranked.matched.values() for w in found))


def spelt(tool: ToolSpec, found: str) -> str:
    """Return a stem as the tool writes it: the shortest of its words with that stem, or the
    stem.
    """
    hints = " ".join((*tool.manifest.intents, *tool.manifest.requests)) if tool.manifest else ""
    text = f"{tool.name} {tool.domain or ''} {tool.action} {tool.doc} {hints}"
    return min(
        (w for w in words(text) if stem(w) == found), key=lambda w: (len(w), w), default=""
    ) or (found)


def declined(tool: ToolSpec, request: str) -> tuple[str, ...]:
    """Return the tool's anti-intents the request says words of."""
    request_stems = frozenset(stems(request))
    refused = tool.manifest.anti_intents if tool.manifest else ()
    return tuple(h for h in refused if share_of_anti_intent(h, request_stems, request))


def _weight_shares(ranked: Ranked) -> dict[str, float]:
    total = sum(ranked.weights.values())
    return {name: weight / total for name, weight in ranked.weights.items()}
