"""Events of a run as it goes on, for people who watch it and for its trace (spec §11).

`run_log.py` sends them; the trace file is written by `core/telemetry/logging.py`.
`cli/plan/plan_progress.py` prints them at a terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import Verification
from pulsus.execution.journal.run_records import RunState, SkipReason, StepState


@dataclass(frozen=True, slots=True)
class StepProgress:
    """A step, or one item of it, has a new state. It is told once the journal has it.

    The start of a read is told before. `items` is the number of items of a `for_each` step.
    `reason` says why a step was skipped, is tried again or is in doubt. `error` is a code.
    """

    run_id: str
    step: str
    tool: str
    item: int | None
    state: StepState
    attempt: int = 0
    items: int | None = None
    duration_ms: int | None = None
    verification: Verification | None = None
    reason: SkipReason | str = ""
    error: str = ""
    artifact: str | None = None


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The run started, goes on, or has ended in this state."""

    run_id: str
    state: RunState
    error: str = ""


Progress = Callable[[StepProgress | RunProgress], None]
"""Takes each event. It is called in the engine's own thread, and holds the run up meanwhile."""


def write_to_trace(trace: Trace) -> Progress:
    """Return a Progress that appends each event to `logs/runs/RUN_ID/steps.log`."""

    def write(event: StepProgress | RunProgress) -> None:
        if isinstance(event, RunProgress):
            trace.event("plan_run", decision=event.state, error=event.error or None)
            return
        found = event.verification
        trace.event(
            "plan_step",
            decision=event.state,
            artifacts=[event.artifact] if event.artifact else [],
            step=event.step,
            tool=event.tool,
            item=event.item,
            items=event.items,
            attempt=event.attempt,
            duration_ms=event.duration_ms,
            verified=found.ok if found else None,
            reason=event.reason or None,
            error=event.error or None,
        )

    return write
