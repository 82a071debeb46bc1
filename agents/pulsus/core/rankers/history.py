"""History feature: how well a tool has served before (spec §4 `history_success`, §10)."""

from __future__ import annotations

from datetime import datetime

from pulsus.core.types import ToolHistory

_PRIOR = 2.0
"""Trials at 0 that every tool starts with: one success is a hint, ten are a record."""


def history_success(history: ToolHistory | None, now: datetime, half_life_days: float) -> float:
    """Success rate in [0, 1], halved every `half_life_days` since the last success.

    0.0 without a success: no history is neutral, and so is bad history. `now` is aware UTC; a
    last success in the future counts as now.
    """
    if history is None or history.last_success is None:
        return 0.0
    good = history.promotions + history.accepted
    rate = good / (good + history.failed + _PRIOR)
    age_days = max(0.0, (now - history.last_success).total_seconds() / 86_400)
    return float(rate * 0.5 ** (age_days / half_life_days))
