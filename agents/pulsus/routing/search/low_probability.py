"""The reason why p of the first tool is low, from its signals (ADR 17). Pure.

p itself is computed in `core/rankers/calibration.py`. If a p is too low to select a tool (the
request is ambiguous) is decided in `core/compose/selection/choose_policy.py`, and a person is asked
in `routing/clarify.py`.
"""

from __future__ import annotations

from pulsus.core.rankers import score_differences
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.types import Ranked

_FEW = "the words it shares with the request are few or common"
_NEAR = 0.5
"""Share of the first tool's p from which a rival fits about as well."""
_RIVALRY = frozenset({"lead", "shared", "alike_lead", "recalled_lead"})
_NAMING = frozenset({"name_words"})
_GIVEN = frozenset({"size", "caution", "named"})
"""Signals by the explanation they get if they keep p low; the others mean few matched words.
Given signals are no reason: no user can change them."""


def low_probability_reason(own: Ranked, rival: Ranked | None, calibration: Calibration) -> str:
    """Name the reason for a low p: the signal that costs most against its usual value."""
    if own.caution:
        return own.caution
    heard, missing = len(score_differences.matched_words(own)), len(own.unmatched)
    if missing and missing >= heard:
        return f"only {heard} of {heard + missing} words matched"
    worst = max(_losses(own, calibration), default=(0.0, ""))[1]
    if worst in _RIVALRY and rival:
        if rival.p >= _NEAR * own.p:
            return f"{rival.tool.id} fits about as well (p {rival.p:.2f})"
        others = score_differences.matched_words(rival)
        if same := [word for word in score_differences.matched_words(own) if word in others]:
            return f"{rival.tool.id} has the same words: {', '.join(same)}"
    if worst in _NAMING:
        said = own.signals.get("name_cover", 0.0)
        return f"the request says {said:.0%} of its name"
    return f"{missing} of {heard + missing} words matched nothing" if missing else _FEW


def _losses(own: Ranked, calibration: Calibration) -> list[tuple[float, str]]:
    """Return the cost of each changeable signal in log-odds, against its mean in the fit."""
    return [
        (weight * (calibration.spread[name][0] - own.signals[name]), name)
        for name, weight in calibration.coefficients.items()
        if name not in _GIVEN and name in calibration.spread and name in own.signals
    ]
