"""Calibration: from signals to `p`, the probability that a tool is right (spec §5, τ).

`core/compose/selection/choose_policy.py` compares p with the threshold τ. The weighted sum of §5
says which tool is better, not whether it is good enough: its height depends on the catalogue and on
how many words the request has. A small logistic model says that. Its coefficients are data with
their provenance, fitted by scripts/fit_calibration.py; a project's own are fitted and checked in
`routing/evaluation/calibration_fit.py`. The signals come from `calibration_signals.py`;
`routing/search/ranking/value_evidence.py` may raise p afterwards.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from pulsus.fast_dataclass import dataclass

NAMED = 0.97
"""p of a tool the request says by id or name. By definition, not fitted."""

CAUTION = 4.5
"""Subtracted from the log-odds if request and tool disagree (effect_mismatch.py): .97 → .26."""

AT_ODDS = 0.5
"""Most that p can then be: however many words they share, the tool is more likely wrong."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model. `coefficients` name the signals; one not given counts as 0.

    `provenance` says whose it is: `source` (shipped or project), `version`, what it was fitted on.
    `spread` holds each signal's mean and standard deviation where it was fitted: a refit measures
    its distance from this one in them.
    """

    intercept: float
    coefficients: Mapping[str, float]
    provenance: Mapping[str, Any]
    spread: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_score(self) -> bool:
        """True if p is the score itself, as with the engine `spec`."""
        return bool(self.provenance.get("source") == "score")

    def p(self, signals: Mapping[str, float]) -> float:
        """Return the probability in [0, 1] that these signals belong to the right tool."""
        value_of = signals.get
        odds = self.intercept + sum(
            [weight * value_of(name, 0.0) for name, weight in self.coefficients.items()]
        )
        odds -= CAUTION * signals.get("caution", 0.0)
        p = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
        if signals.get("caution"):
            return min(p, AT_ODDS)
        return max(p, NAMED * signals.get("named", 0.0))


def load_calibration(text: str) -> Calibration:
    """Return the calibration of a JSON text, as scripts/fit_calibration.py writes it."""
    data = json.loads(text)
    spread = {name: (mean, scale) for name, (mean, scale) in data.get("spread", {}).items()}
    return Calibration(data["intercept"], data["coefficients"], data["provenance"], spread)


@cache
def shipped_calibration() -> Calibration:
    """Return the calibration shipped with Pulsus."""
    return load_calibration(Path(__file__).with_name("calibration.json").read_text("utf-8"))
