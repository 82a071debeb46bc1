"""Run a plan, or resume one that was started before (docs/plans.md; ADR 42).

The loop over the steps, with what a failed step means for the others, is `plan_run.py`, the order
`schedule.py`, the record `execution/journal/`, retries `retry.py`. How long a run waits for an
approval (`plans.approval_hours` in `config/settings.py`) before it expires is decided in
`_person_needed`; `_settle_doubts` verifies the writes in doubt of a resumed run. A composition that
only reads is run by `execution/composition_runner.py`.

Effects: those of the steps, the journal, results in `.pulsus/runs/`, signal handlers meanwhile.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pulsus.core.compose.plans.dsl.step_references import list_dependencies
from pulsus.core.telemetry.ids import Clock, RandomBytes
from pulsus.core.types import Plan, Verification
from pulsus.errors import Aborted, ApprovalNeeded, HungUp, PulsusError, Terminated, UsageError
from pulsus.execution.cancellation import Cancellation
from pulsus.execution.engine.call_pool import CallPool
from pulsus.execution.engine.plan_run import PlanRun, PlanRunEnd, RunPosition
from pulsus.execution.engine.progress import Progress
from pulsus.execution.engine.resume_decision import Settlement
from pulsus.execution.engine.resumed_run import ResumedRun
from pulsus.execution.engine.run_log import RunLog
from pulsus.execution.engine.schedule import Schedule, ScheduledStep
from pulsus.execution.engine.step_host import StepHost
from pulsus.execution.engine.step_outputs import StepOutputs, outputs_of_record
from pulsus.execution.journal.journal import Journal
from pulsus.execution.journal.run_records import (
    NewRun,
    PersonNeeded,
    StepRecord,
)

OPERATOR = "operator"
"""The person who may decide, unless the refusal names another."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Limits of one run, from the settings under `[plans]`."""

    max_parallel: int = 4
    approval_hours: float = 24.0


@dataclass(frozen=True, slots=True)
class PlanEngine:
    """Runs plans of one project. The caller closes the journal, which gives up the run."""

    journal: Journal
    host: StepHost
    progress: Progress
    clock: Clock
    limits: EngineLimits = EngineLimits()
    random: RandomBytes = secrets.token_bytes

    def run(self, plan: Plan, run: NewRun) -> PlanRunEnd:
        """Run every step of the plan. `run.steps` are taken from the plan.

        Raises what the journal raises, and nothing for a failed step: `PlanRunEnd` says how it
        ended.
        """
        schedule = Schedule(self._scheduled(plan))
        steps = tuple((step.id, self.host.is_write(step)) for step in plan.steps)
        self.journal.start_run(replace(run, steps=steps))
        outputs = StepOutputs(plan.steps, self.journal.folder.load)
        position = RunPosition(run.run_id, run.inputs, schedule, outputs)
        return self._drive(plan, position, None, {})

    def resume(
        self, plan: Plan, run_id: str, settled: Mapping[str, Settlement] | None = None
    ) -> PlanRunEnd:
        """Go on with a run. `plan` is the one in its record; finished steps are not run again.

        `settled` says of writes in doubt, by step id, what a person found: `done` or `again`.
        Other writes in doubt are verified first; one that this does not settle lets the run wait. A
        write that is to run `again` needs its consent again.
        Raises Busy while another process runs it, RunNotFound, UsageError if it is done, or if
        `settled` names a step that is not in doubt.
        """
        record = self.journal.take_run(run_id)
        if record.state == "done":
            raise UsageError(
                f"{run_id} is done: there is nothing to resume",
                hint=f"`pulsus runs show {run_id}` shows its results",
            )
        resumed = ResumedRun(record, self.journal, settled or {})
        needs = self._settle_doubts(plan, resumed, record.needs)
        if needs is not None:
            return self._wait(run_id, needs)
        records = self.journal.read_run(run_id, owned=True).steps
        whole = [each for each in records if each.item is None]
        passed = {each.step: True for each in whole if _has_passed(each)}
        done_items: dict[str, dict[int, str | None]] = {}
        for each in records:
            if each.item is not None and each.state == "done":
                done_items.setdefault(each.step, {})[each.item] = each.sha256
        position = RunPosition(
            run_id,
            record.inputs,
            Schedule(self._scheduled(plan), passed),
            outputs_of_record(plan.steps, records, self.journal.folder.load),
            {each.step: each for each in whole if each.items is not None},
            done_items,
        )
        return self._drive(plan, position, record.needs, settled or {})

    def _drive(
        self,
        plan: Plan,
        position: RunPosition,
        waited: PersonNeeded | None,
        settled: Mapping[str, Settlement],
    ) -> PlanRunEnd:
        def ask_person(
            step: str, item: int | None, why: str, error: PulsusError | None
        ) -> PersonNeeded:
            if error is not None and settled.get(step) == "again":
                why = f"{step} is settled as `again`, and needs a confirmation again: {why}"
            return self._person_needed(step, item, why, waited, error)

        log = RunLog(position.run_id, self.journal, self.progress)
        calls = CallPool(self.host, self.limits.max_parallel)
        run = PlanRun(plan, position, self.host, log, self.journal.folder, calls, ask_person)
        return run.drive()

    def _scheduled(self, plan: Plan) -> list[ScheduledStep]:
        return [
            ScheduledStep(step.id, self.host.is_write(step), list_dependencies(step))
            for step in plan.steps
        ]

    def _settle_doubts(
        self, plan: Plan, resumed: ResumedRun, waited: PersonNeeded | None
    ) -> PersonNeeded | None:
        """Verify each write that may have taken effect. Return why a person is needed, or None."""
        tools = {step.id: step.tool for step in plan.steps}
        needs = None
        for each in resumed.doubtful:
            found = self._verify(plan, each, resumed)
            if found.ok:
                resumed.accept(each, found)
                continue
            why = f"{tools[each.step]} was started, and it is unknown whether it took effect: "
            why += found.reason
            self.journal.mark_in_doubt(each.step, each.item, why)
            needs = needs or self._person_needed(each.step, each.item, why, waited, None)
        return needs

    def _verify(self, plan: Plan, found: StepRecord, resumed: ResumedRun) -> Verification:
        step = next(step for step in plan.steps if step.id == found.step)
        cancellation = Cancellation()
        try:
            result = resumed.load_result(found)
            return self.host.verify(step, found.inputs or {}, result, cancellation)
        except (Terminated, HungUp, Aborted):
            raise
        except PulsusError as error:
            return Verification(step.tool, False, error.message)
        finally:
            cancellation.close()

    def _wait(self, run_id: str, needs: PersonNeeded) -> PlanRunEnd:
        self.journal.wait_for_person(needs)
        error = ApprovalNeeded(
            f"step {needs.step} is in doubt: {needs.why}",
            hint="find out whether it took effect, and say so when you resume the run",
            step=needs.step,
        )
        return PlanRunEnd(run_id, "waiting", error, needs)

    def _person_needed(
        self,
        step: str,
        item: int | None,
        why: str,
        waited: PersonNeeded | None,
        error: PulsusError | None,
    ) -> PersonNeeded:
        """Return the decision to wait for. A wait that has not expired keeps its id and times."""
        now = self.clock().astimezone(UTC)
        details = error.details if error else {}
        who = str(details.get("who") or OPERATOR)
        is_same = waited is not None and (waited.step, waited.item) == (step, item)
        if waited is not None and is_same and now < datetime.fromisoformat(waited.until):
            # A write that was in doubt may wait for its consent now.
            return replace(waited, why=why, who=who)
        until = now + timedelta(hours=self.limits.approval_hours)
        return PersonNeeded(
            str(details.get("approval_id") or f"apr-{now:%Y%m%d-%H%M%S}-{self.random(3).hex()}"),
            step,
            why,
            now.isoformat(timespec="seconds"),
            str(details.get("until") or until.isoformat(timespec="seconds")),
            who,
            item,
        )


def _has_passed(found: StepRecord) -> bool:
    return found.state == "done" or (found.state == "skipped" and found.reason == "condition")
