"""Measure how far a predicted probability can be trusted. Pure.

Among them is the calibration error (ECE); `routing/evaluation/reliability_plot.py` draws the curve.

ECE alone proves nothing: a constant has a good one. So it always stands beside precision, coverage
and the share below τ.

The bins are those of scikit-learn's `calibration_curve`, which takes no weights. Copies of requests
have weights (ADR 17), so the bins are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pulsus.fast_dataclass import dataclass

BINS = 10

_SURE = 0.001


@dataclass(frozen=True, slots=True)
class Prediction:
    """A top candidate: its p and whether it was right. `fits` = some tool was.

    `weight` is how much it counts: less than 1 for a copy of a request with its tools removed.
    """

    p: float
    right: bool
    fits: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Bin:
    """One tenth of the range of p: the mean prediction and the share that was right, weighted."""

    low: float
    high: float
    weight: float
    p: float
    right: float


@dataclass(frozen=True, slots=True)
class CalibrationMetrics:
    """The figures of one calibration on one population; None if nothing bears on one.

    `ece` and `precision_mixed` are over everything by weight; `precision_at_tau` and
    `coverage_at_tau` over what some tool fits; `out_of_catalogue_below_tau` over the rest.
    """

    ece: float | None
    precision_at_tau: float | None
    precision_mixed: float | None
    coverage_at_tau: float | None
    out_of_catalogue_below_tau: float | None


def bins(stated: Sequence[Prediction]) -> tuple[Bin, ...]:
    """Return the ten bins of p in order; an empty one is left out."""
    inside: dict[int, list[Prediction]] = {}
    for one in stated:
        inside.setdefault(min(int(one.p * BINS), BINS - 1), []).append(one)
    return tuple(_bin(number, inside[number]) for number in sorted(inside))


def ece(stated: Sequence[Prediction]) -> float | None:
    """Mean distance of p and truth over ten equal bins of p, weighted by how full they are."""
    found = bins(stated)
    total = sum(b.weight for b in found)
    return sum(b.weight * abs(b.p - b.right) for b in found) / total if total else None


def log_loss(stated: Sequence[Prediction]) -> float:
    """Return the weighted mean log loss in nats, by scikit-learn: a fit makes it small.

    0.0 for no prediction. A p of 0 or 1 counts as 0.001 or 0.999, so that no single request
    decides.
    """
    from sklearn import metrics  # takes a second to import, and only a calibration needs it

    if not stated:
        return 0.0
    loss = metrics.log_loss(
        [s.right for s in stated],
        [min(1 - _SURE, max(_SURE, s.p)) for s in stated],
        sample_weight=[s.weight for s in stated],
        labels=[False, True],
    )
    return float(loss)


def calibration_metrics(stated: Sequence[Prediction], tau: float) -> CalibrationMetrics:
    """Return the figures of these probabilities at the threshold `tau`."""
    fitting = [s for s in stated if s.fits]
    sure = [s for s in stated if s.p >= tau]
    return CalibrationMetrics(
        ece=ece(stated),
        precision_at_tau=_share([s.right for s in sure if s.fits]),
        precision_mixed=_share([s.right for s in sure], [s.weight for s in sure]),
        coverage_at_tau=_share([s.p >= tau for s in fitting]),
        out_of_catalogue_below_tau=_share([s.p < tau for s in stated if not s.fits]),
    )


def to_json(found: Sequence[Bin]) -> list[dict[str, Any]]:
    """Return the bins as JSON values."""
    return [{k: round(v, 4) for k, v in asdict(one).items()} for one in found]


def _bin(number: int, inside: Sequence[Prediction]) -> Bin:
    weight = sum(s.weight for s in inside)
    return Bin(
        low=number / BINS,
        high=(number + 1) / BINS,
        weight=weight,
        p=sum(s.weight * s.p for s in inside) / weight,
        right=sum(s.weight * s.right for s in inside) / weight,
    )


def _share(found: Sequence[bool], weights: Sequence[float] | None = None) -> float | None:
    each = weights or [1.0] * len(found)
    return sum(w * f for w, f in zip(each, found, strict=True)) / sum(each) if found else None
