"""Write what happens to the steps of a run into the journal, then tell those who watch.

An event is told once the journal has it, so nothing that was told is lost by a crash. The start of
a read is told at once. Effect: writes the journal.

The rows themselves are written by `execution/journal/journal.py`.
"""

from __future__ import annotations

from typing import Any

from pulsus.core.types import PlanStep, Verification
from pulsus.errors import PulsusError
from pulsus.execution.engine.active_step import ActiveStep, Call
from pulsus.execution.engine.progress import Progress, RunProgress, StepProgress
from pulsus.execution.journal.journal import Journal
from pulsus.execution.journal.run_records import (
    PersonNeeded,
    RunState,
    SkipReason,
    StepState,
)


class RunLog:
    """The journal of one run together with its progress."""

    def __init__(self, run_id: str, journal: Journal, progress: Progress) -> None:
        self._run_id, self._journal, self._progress = run_id, journal, progress
        self._untold: list[StepProgress] = []

    def flush(self) -> None:
        """Commit what was collected, and tell of it."""
        self._journal.flush()
        untold, self._untold = self._untold, []
        for event in untold:
            self._progress(event)

    def run_started(self) -> None:
        """Tell that the run starts or goes on."""
        self._progress(RunProgress(self._run_id, "running"))

    def run_ended(self, state: RunState, error: PulsusError | None) -> None:
        """Record the end of the run. One that waits has been recorded."""
        if state != "waiting":
            self._journal.end_run(state, error)
        self._progress(RunProgress(self._run_id, state, error.code if error else ""))

    def expanded(self, active: ActiveStep, file: str, sha256: str) -> None:
        """Record the items of a step."""
        count = len(active.items or ())
        self._journal.step_expanded(active.step.id, count, file, sha256)
        self._tell(active.step, None, "started", items=count)

    def started(self, call: Call) -> None:
        """Record that a call starts; for a write this is committed before it returns."""
        step = call.active.step
        self._journal.step_started(step.id, call.item, call.attempt, call.inputs)
        self._progress(self._event(step, call.item, "started", attempt=call.attempt))

    def ran(self, call: Call) -> None:
        """Record the result of a write that is yet to be verified."""
        assert call.result is not None
        self._journal.step_ran(call.active.step.id, call.item, call.result)

    def retried(self, call: Call, error: PulsusError) -> None:
        """Tell that a failed call is tried again."""
        reason = f"attempt {call.attempt} failed: {error.message}"
        self._tell(call.active.step, call.item, "started", attempt=call.attempt, reason=reason)

    def done(self, call: Call, found: Verification | None) -> None:
        """Record that a call passed."""
        step, outcome = call.active.step, call.outcome
        saved = call.result
        took = outcome.duration_ms if outcome else None
        self._journal.step_done(
            step.id, call.item, saved, duration_ms=took, verification=found,
            confinement=outcome.confinement if outcome else None,
        )  # fmt: skip
        self._tell(
            step, call.item, "done", attempt=call.attempt, duration_ms=took, verification=found,
            artifact=str(self._journal.folder.path / saved.name) if saved else None,
        )  # fmt: skip

    def failed(self, active: ActiveStep, item: int | None, error: PulsusError) -> None:
        """Record that a step failed."""
        self._journal.step_failed(active.step.id, item, error)
        self._tell(active.step, item, "failed", error=error.code, reason=error.message)

    def unverified(self, call: Call, found: Verification) -> None:
        """Record that a write ran, and its verification failed."""
        self._journal.step_unverified(call.active.step.id, call.item, found)
        self._tell(
            call.active.step, call.item, "unverified", verification=found, reason=found.reason
        )

    def in_doubt(self, call: Call, why: str) -> None:
        """Record that it is unknown whether a write took effect."""
        self._journal.mark_in_doubt(call.active.step.id, call.item, why)
        self._tell(call.active.step, call.item, "in_doubt", reason=why)

    def pending(self, call: Call, why: str) -> None:
        """Record that a read was ended, and is to be run again by a resume."""
        self._journal.step_pending(call.active.step.id, call.item)
        self._tell(call.active.step, call.item, "pending", reason=why)

    def waiting(self, step: PlanStep, needs: PersonNeeded) -> None:
        """Record that the run waits for a person."""
        self._journal.wait_for_person(needs)
        self._tell(step, needs.item, "waiting", reason=needs.why)

    def skipped(self, step: PlanStep, reason: SkipReason) -> None:
        """Record that a step does not run."""
        self._journal.step_skipped(step.id, reason)
        self._tell(step, None, "skipped", reason=reason)

    def items_ended(self, active: ActiveStep) -> None:
        """Record that all items of a step have ended."""
        self._journal.items_ended(active.step.id, active.state)
        self._tell(active.step, None, active.state, items=len(active.items or ()))

    def _tell(self, step: PlanStep, item: int | None, state: StepState, **more: Any) -> None:
        self._untold.append(self._event(step, item, state, **more))

    def _event(
        self, step: PlanStep, item: int | None, state: StepState, **more: Any
    ) -> StepProgress:
        return StepProgress(self._run_id, step.id, step.tool, item, state, **more)
