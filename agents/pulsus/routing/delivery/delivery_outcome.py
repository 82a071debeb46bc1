"""Put the end of a delivery into the outcome of its route, and into the trace.

If a module is promoted is decided in `routing/delivery/deliver.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.types import Promotion, RouteOutcome
from pulsus.errors import DiskFull, StorageUnwritable

if TYPE_CHECKING:  # late: `route --plan` promotes nothing
    from pulsus.core.telemetry.logging import Trace
    from pulsus.routing.delivery.deliver import CandidateModule, DeliveryResult


def delivered(
    outcome: RouteOutcome, module: CandidateModule, delivery: DeliveryResult
) -> RouteOutcome:
    """Return the outcome once its module was proven, and promoted or not."""
    notes = outcome.notes
    if delivery.discarded:
        file = f"{module.path.parent.name}/{module.path.name}"
        kept = f" The file {file} is kept, and the same request asks about it again."
        notes = (
            *notes,
            "discarded; nothing was promoted" + (f".{kept}" if module.candidate else ""),
        )
    return replace(
        outcome,
        module=module.path,
        validation=delivery.report,
        promotion=delivery.promotion,
        failure=delivery.failure,
        notes=notes,
    )


def trace_delivery(trace: Trace, delivery: DeliveryResult, root: Path) -> None:
    """Note in the trace how proving and promoting ended; paths are relative to `root`."""
    report = delivery.report
    trace.event(
        "validate",
        decision=report.verdict,
        artifacts=[
            str(a.relative_to(root) if a.is_relative_to(root) else a) for a in report.artifacts
        ],
        sha256=report.sha256,
        proof=report.proof,
        **({"network": list(report.network)} if report.network else {}),
    )
    if delivery.promotion and delivery.promotion.created:
        made = delivery.promotion
        trace.event("promote", decision=made.tool_id, revision=made.revision, version=made.version)


@contextmanager
def keep_promotion_in_error(promotion: Promotion | None) -> Iterator[None]:
    """Add to a write error inside the block that this promotion stands all the same."""
    try:
        yield
    except (DiskFull, StorageUnwritable) as failure:
        if promotion is None or not promotion.created:
            raise
        done = f"{promotion.tool_id} is promoted all the same ({promotion.revision})"
        message = f"{failure.message}; {done}"
        raise type(failure)(message, hint=failure.hint, **failure.details) from failure
