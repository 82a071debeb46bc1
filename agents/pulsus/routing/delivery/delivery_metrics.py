"""Count validations and promotions, and time the validation steps (spec §11). Effect: appends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsus.routing.delivery.delivery_outcome import keep_promotion_in_error

if TYPE_CHECKING:
    from pulsus.core.telemetry.metrics import Metrics
    from pulsus.routing.delivery.deliver import DeliveryResult


def count_delivery(metrics: Metrics, delivery: DeliveryResult) -> None:
    """Write the metrics of one module that was proven, and promoted or not.

    Raises DiskFull, StorageUnwritable; the message says so if a promotion stands all the same.
    """
    report, made = delivery.report, delivery.promotion
    with keep_promotion_in_error(made):
        for step in report.steps:
            metrics.observe_ms("validation_step", step.duration_ms, step=step.step, ok=step.ok)
        metrics.count("validations", verdict=report.verdict, proof=report.proof)
        if made is not None and made.created:
            kind = "rollback" if made.restores else "promote"
            metrics.count("promotions", kind=kind, bump=made.bump, first=made.previous is None)
