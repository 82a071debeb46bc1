"""History feature: how a tool has served, and for requests like this one (spec §4, §10; ADR 16).

Past successes fade (decay) by `ranker.history_half_life_days` (`config/settings.py`) here. The
counts come from `core/memory/past_routes.py`, votes of similar requests from
`core/memory/recall.py`.
"""

from __future__ import annotations

from datetime import datetime

from pulsus.core.types import ToolHistory

_SERVED = 0.5
"""Weight of any past success beside a success with a similar request."""
_PRIOR = 2.0
"""Trials at 0 that every tool starts with: one success is a hint, ten are a record."""
_RAN = 0.1
_MOST_RAN = 1.0
"""An answer counts as a tenth of a success, and all answers together as one at most. A wrong tool
answers too, and a job that repeats a wrong request does not make it right.
"""


def history_success(history: ToolHistory | None, now: datetime, half_life_days: float) -> float:
    """Success rate in [0, 1], halved every `half_life_days` since the last success.

    0.0 without a success: no history is neutral, and so is bad history. `now` is aware UTC; a
    last success in the future counts as now.
    """
    if history is None or history.last_success is None:
        return 0.0
    good = history.promotions + history.accepted + min(_MOST_RAN, _RAN * history.ran)
    rate = good / (good + history.failed + _PRIOR)
    age_days = max(0.0, (now - history.last_success).total_seconds() / 86_400)
    return float(rate * 0.5 ** (age_days / half_life_days))


def history_value(served: float, votes: float) -> float:
    """Return the history feature in [0, 1]: how the tool has served and what past requests say of
    it.

    `served` is `history_success`, `votes` lies in [-1, 1] (recall.py). Either is enough, and each
    adds to the other without reaching 1; votes against it take from how it has served.
    """
    if votes <= 0:
        return _SERVED * served * (1 + votes)
    return 1 - (1 - _SERVED * served) * (1 - votes)
