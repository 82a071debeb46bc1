"""Compare the figures of `pulsus eval` with floors and with an earlier report. Reads one file.

A figure below its threshold (`--floor`) makes `pulsus eval` fail (EVAL_BELOW_FLOOR), as a gate in
CI. A regression against an earlier report is shown only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from pulsus.errors import EvalBelowFloor, UsageError
from pulsus.routing.evaluation.eval_metrics import EvalReport

FLOORED = (
    "hit_at_1",
    "recall_at_5",
    "ndcg_at_10",
    "mrr",
    "policy_accuracy",
    "compose_exact",
    "inputs_right",
    "precision_at_tau",
    "coverage_at_tau",
    "out_of_catalogue_below_tau",
)
"""Figures a floor may be put under; of the others less is better."""

FIGURES = (*FLOORED, "ece")
"""Every figure that says how good the answers are."""


def parse_floors(texts: Sequence[str], known: Sequence[str] = FLOORED) -> dict[str, float]:
    """Return floors from `figure=value` texts. Raises UsageError for an unknown figure or value."""
    floors: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            floor = float(value)
        except ValueError:
            floor = math.nan
        if name not in known or not 0 <= floor <= 1:
            raise UsageError(
                f"--floor {text!r} is no figure with a value from 0 to 1",
                hint=f"write FIGURE=VALUE with one of {', '.join(known)}",
            )
        floors[name] = floor
    return floors


def figures_below_floor(report: EvalReport, floors: Mapping[str, float]) -> dict[str, float | None]:
    """Return every figure below its floor; one not measured is below."""
    return values_below_floor({name: getattr(report, name) for name in floors}, floors)


def values_below_floor(
    figures: Mapping[str, float | None], floors: Mapping[str, float]
) -> dict[str, float | None]:
    """Return every value below its floor. A figure that was not measured is below."""
    values = {name: figures.get(name) for name in floors}
    return {n: value for n, value in values.items() if value is None or value < floors[n]}


def check_floors(report: EvalReport, floors: Mapping[str, float]) -> None:
    """Raises EvalBelowFloor naming every figure that `missed` its floor."""
    check_values(figures_below_floor(report, floors), floors)


def check_values(low: Mapping[str, float | None], floors: Mapping[str, float]) -> None:
    """Raise EvalBelowFloor naming the figures in `low`, if there are any."""
    if low:
        said = ", ".join(
            f"{name} is {'not measured' if value is None else f'{value:.3f}'}, floor {floors[name]}"
            for name, value in low.items()
        )
        raise EvalBelowFloor(said, hint="see the failures in the report", figures=dict(low))


_KEEP_ONE = "keep one with `pulsus eval QUERIES --keep FILE`"


def load_baseline(path: Path) -> dict[str, float | None]:
    """Return the figures of an earlier `pulsus eval --output json`; None if one was not measured.

    Raises UsageError if the file is no such report.
    """
    try:
        found = json.loads(path.read_bytes())
        figures = {name: found.get(name) for name in (*FIGURES, "queries", "tools")}
    except (OSError, ValueError, RecursionError, AttributeError) as failure:
        why = "it is not a mapping" if isinstance(failure, AttributeError) else failure
        raise UsageError(f"--baseline {path} is no report ({why})", hint=_KEEP_ONE) from None
    wrong = [n for n, v in figures.items() if not (v is None or _number(v))]
    if wrong or figures["queries"] is None:
        raise UsageError(
            f"--baseline {path} is no report: {(wrong or ['queries'])[0]} is no figure",
            hint=_KEEP_ONE,
        )
    return figures


def baseline_deltas(
    report: EvalReport, baseline: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Return the change of each figure since the baseline; None if one was not measured."""
    found: dict[str, float | None] = {}
    for name in FIGURES:
        now, then = getattr(report, name), baseline.get(name)
        found[name] = None if now is None or then is None else round(now - then, 4)
    return found


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
