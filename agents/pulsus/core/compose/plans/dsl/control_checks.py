"""Check the keys that control a step: needs, for_each, retry, timeout_s (docs/plans.md). Pure.

The largest number of attempts, items and seconds stands here, and a retry of a write is refused.
Retries of a run are decided in `execution/engine/retry.py`, items in
`execution/engine/for_each_items.py`, and the order of steps in `execution/engine/schedule.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.types import PlanStep, ToolSpec
from pulsus.errors import PlanInvalid

MAX_ITEMS = 10_000
"""Highest limit of `for_each`."""
MAX_ATTEMPTS = 10
MAX_DELAY_S = 3_600.0
MAX_TIMEOUT_S = 86_400.0


def check_control(step: PlanStep, place: str, earlier: Mapping[str, PlanStep]) -> None:
    """Raise PlanInvalid for a number out of range, or for a step in `needs` that is not earlier."""
    for number, name in enumerate(step.needs):
        if name not in earlier:
            fix = f"name an earlier step ({', '.join(earlier) or 'none'})"
            refuse(f"{place}.needs[{number}]", name, "no such step before this one", fix)
    if step.for_each is not None:
        _check_range(f"{place}.for_each.limit", step.for_each.limit, 1, MAX_ITEMS)
    if step.retry is not None:
        _check_range(f"{place}.retry.attempts", step.retry.attempts, 1, MAX_ATTEMPTS)
        _check_range(f"{place}.retry.delay_s", step.retry.delay_s, 0, MAX_DELAY_S)
    if step.timeout_s is not None:
        _check_range(f"{place}.timeout_s", step.timeout_s, 0.001, MAX_TIMEOUT_S)


def refuse_retried_write(step: PlanStep, number: int, used: Iterable[ToolSpec]) -> None:
    """Raise PlanInvalid for `retry` on a step that may write.

    `number` is its place in the plan. `used` are its tool and the tools that it calls, with the
    kinds on record.
    """
    if step.retry is not None and any(tool.kind == "write" for tool in used):
        raise PlanInvalid(
            f"step {step.id}: retry is for reads, and {step.tool} may change things",
            hint="remove retry; a person decides whether a failed write is run again",
            step=step.id,
            place=f"plan.steps[{number}].retry",
        )


def _check_range(place: str, value: float, least: float, most: float) -> None:
    if not math.isfinite(value) or not least <= value <= most:
        refuse(place, value, "the number is out of range", f"write {least:g} to {most:g}")
