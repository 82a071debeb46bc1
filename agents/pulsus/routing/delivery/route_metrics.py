"""Count and time routes, runs, validations and promotions (spec §11, docs/metrics.md).

The store is `core/telemetry/metrics.py`. The agent counts in `agent/agent_metrics.py`, and
`web/prometheus_metrics.py` shows the counters at `/metrics`. Effect: appends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsus.routing.delivery.delivery_outcome import keep_promotion_in_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulsus.core.telemetry.metrics import Metrics
    from pulsus.core.telemetry.stage_times import StageTimes
    from pulsus.core.types import ToolSpec
    from pulsus.routing.delivery.deliver import DeliveryResult


def count_route(
    metrics: Metrics, milliseconds: float, times: StageTimes, labels: Mapping[str, object]
) -> None:
    """Write the time of one route and of its stages. Raises DiskFull, StorageUnwritable."""
    metrics.observe_ms("route", milliseconds, **labels)
    for stage, took in times.milliseconds.items():
        metrics.observe_ms("stage", took, stage=stage)


def count_run(metrics: Metrics, milliseconds: float, tool: ToolSpec, ended: str) -> None:
    """Write the time of one run of a tool. Raises DiskFull, StorageUnwritable."""
    metrics.observe_ms("run", milliseconds, tool=tool.id, kind=tool.kind, decision=ended)


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
