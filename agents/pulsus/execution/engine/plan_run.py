"""The loop of the engine: run the steps of one plan in order (docs/plans.md, order of a run).

A failed step stops the run here unless it says `on_failure`; a failed verification, a cancelled run
and a wait for approval are decided here too. Retries are decided in `retry.py`, skipped dependents
in `schedule.py`, doubtful writes in `resume_decision.py`; `routing/plans/plan_host.py` asks for
consent and runs the tool. `_begin` skips a step whose condition (`when`) is false.

One thread schedules, writes the journal and asks for consent; the calls run in others. Effects:
those of the steps, the journal, result files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pulsus.core.compose.plans.dsl.plan_values import evaluate
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue, Plan, PlanStep, PlanValue, Verification
from pulsus.errors import (
    Aborted,
    ApprovalNeeded,
    HungUp,
    PlanValueFailed,
    PulsusError,
    Terminated,
    WriteUnverified,
)
from pulsus.execution.engine.active_step import ActiveStep, Answer, Call
from pulsus.execution.engine.call_pool import CallPool
from pulsus.execution.engine.for_each_items import find_items
from pulsus.execution.engine.resume_decision import is_outcome_unknown
from pulsus.execution.engine.retry import RetryQueue, may_retry
from pulsus.execution.engine.run_log import RunLog
from pulsus.execution.engine.schedule import Schedule
from pulsus.execution.engine.step_host import StepHost, StepOutcome
from pulsus.execution.engine.step_outputs import StepOutputs
from pulsus.execution.journal.run_folder import RunFolder, items_name, result_name
from pulsus.execution.journal.run_records import (
    PersonNeeded,
    RunState,
    StepRecord,
)

AskPerson = Callable[[str, int | None, str, PulsusError | None], PersonNeeded]
"""Return the decision that a run waits for, about a step or an item of it, and why."""

_SHOWN_AFTER_S = 0.2
"""Time after which the start of a read is committed, so that others see it."""
_SIGNALS = {"SIGINT": Aborted, "SIGTERM": Terminated, "SIGHUP": HungUp}


@dataclass(frozen=True, slots=True)
class PlanRunEnd:
    """The end of a run, or the reason why it waits. `error` is that of the first failed step."""

    run_id: str
    state: RunState
    error: PulsusError | None = None
    needs: PersonNeeded | None = None


@dataclass(frozen=True, slots=True)
class RunPosition:
    """The position of a run that starts or goes on.

    `started` and `done_items` have, by step id, the record of each `for_each` step that was
    started, and the hashes of its items that are done.
    """

    run_id: str
    inputs: Mapping[str, JsonValue]
    schedule: Schedule
    outputs: StepOutputs
    started: Mapping[str, StepRecord] = field(default_factory=dict)
    done_items: Mapping[str, dict[int, str | None]] = field(default_factory=dict)


class PlanRun:
    """One run, from its position to its end. Call `drive` once."""

    def __init__(
        self,
        plan: Plan,
        position: RunPosition,
        host: StepHost,
        log: RunLog,
        folder: RunFolder,
        calls: CallPool,
        ask_person: AskPerson,
    ) -> None:
        self._steps = {step.id: step for step in plan.steps}
        self._at, self._host, self._log = position, host, log
        self._folder, self._calls, self._ask_person = folder, calls, ask_person
        self._expanded: list[ActiveStep] = []
        self._retries = RetryQueue()
        self._error: PulsusError | None = None
        self._needs: PersonNeeded | None = None
        self._is_stopped = False
        self._unanswered = ""

    def drive(self) -> PlanRunEnd:
        """Run until every step has ended, a failure stops it, or a person has to decide.

        Raises what the journal raises: the run is then `interrupted`, and can be resumed.
        """
        self._log.run_started()
        with self._calls.opened():
            while True:
                # What has ended is in the journal before anything else starts.
                self._log.flush()
                self._start_steps()
                if not self._calls.running and (self._is_over or not self._retries):
                    break
                for answer in self._wait_for_answers():
                    self._take(answer)
            self._log.flush()
            state = self._find_end()
        self._log.run_ended(state, self._error)
        return PlanRunEnd(self._at.run_id, state, self._error, self._needs)

    @property
    def _is_over(self) -> bool:
        return self._is_stopped or self._calls.cancellation.is_cancelled

    def _find_end(self) -> RunState:
        if self._needs is not None:
            return "waiting"
        if self._calls.cancellation.is_cancelled and self._at.schedule.unended:
            name = self._calls.cancellation.why
            self._error = _SIGNALS.get(name, Aborted)(
                f"{name} ended the run{self._unanswered}; {self._unended_steps}",
                hint=f"go on with it: pulsus runs resume {self._at.run_id}",
            )
            return "cancelled"
        return "failed" if self._error else "done"

    @property
    def _unended_steps(self) -> str:
        unended, steps = self._at.schedule.unended, len(self._steps)
        if unended == steps:
            return "no step ended"
        return f"{unended} of {counted(steps, 'step')} did not end"

    # Starting -----------------------------------------------------------------------------------

    def _start_steps(self) -> None:
        """Start what may start, until all threads are busy."""
        while not self._is_over and self._calls.running < self._calls.size:
            if self._start_retry() or self._start_item():
                continue
            step_id = self._at.schedule.take()
            if step_id is None:
                return
            self._begin(self._steps[step_id])

    def _start_retry(self) -> bool:
        call = self._retries.take_due()
        if call is None:
            return False
        self._start(call)
        return True

    def _seconds_to_retry(self) -> float | None:
        return None if self._is_over else self._retries.seconds_to_next()

    def _wait_for_answers(self) -> list[Answer]:
        """Return the next answers. While none comes, other processes see which steps run."""
        timeout_s = self._seconds_to_retry()
        if timeout_s is None or timeout_s > _SHOWN_AFTER_S:
            if answers := self._calls.wait(_SHOWN_AFTER_S):
                return answers
            self._log.flush()
            timeout_s = self._seconds_to_retry()
        return self._calls.wait(timeout_s) if self._calls.running or timeout_s is not None else []

    def _start_item(self) -> bool:
        """Start the next item of a step with `for_each`. Items of a write run one by one."""
        for active in self._expanded:
            if active.waiting and not (active.is_write and (self._calls.running or self._retries)):
                self._prepare(active, active.waiting.pop())
                return True
        return False

    def _begin(self, step: PlanStep) -> None:
        """Start a step whose turn it is: look at its condition, and at its items."""
        active = ActiveStep(step, self._host.is_write(step))
        try:
            active.outputs = self._at.outputs.referred(step)
            is_wanted = step.when is None or self._evaluate(step.when, active, None)
            if is_wanted and step.for_each is not None:
                self._find_items(active)
        except PulsusError as error:
            self._fail(active, None, error)
            return
        if not is_wanted:
            self._log.skipped(step, "condition")
            self._at.outputs.set_result(step.id, None)
            self._end_step(active, passed=True)
        elif active.items is None:
            self._prepare(active, None)
        else:
            self._expand(active)

    def _find_items(self, active: ActiveStep) -> None:
        """Find the items of a step with `for_each`, or take those that it was started with."""
        step_id = active.step.id
        found = find_items(
            active,
            self._at.started.get(step_id),
            self._folder,
            lambda value: self._evaluate(value, active, None),
        )
        done = self._at.done_items.get(step_id, {}) if found.are_resumed else {}
        active.set_items(found.items, done)

    def _expand(self, active: ActiveStep) -> None:
        """Record the items of a step, so that a resume runs the same ones."""
        assert isinstance(active.items, list)
        name = items_name(active.step.id)
        sha256 = self._folder.save(name, active.items, durable=active.is_write)
        self._log.expanded(active, name, sha256)
        self._expanded.append(active)
        if not active.unfinished:
            self._finish(active)

    def _prepare(self, active: ActiveStep, item: int | None) -> None:
        """Compute the inputs of a call, obtain consent for a write, and start it."""
        inputs = active.step.inputs
        try:
            given = {name: self._evaluate(value, active, item) for name, value in inputs.items()}
            if active.is_write and not self._is_allowed(active.step, given):
                return
        except ApprovalNeeded as error:
            self._wait(active.step, item, error.message, error)
        except PulsusError as error:
            self._fail(active, item, error)
        else:
            self._start(Call(active, item, 1, given))

    def _is_allowed(self, step: PlanStep, inputs: Mapping[str, JsonValue]) -> bool:
        """Obtain consent. Return False if a signal came meanwhile: the run is then over."""
        self._log.flush()  # the person who is asked sees what was done before
        self._calls.is_asking = True
        try:
            self._host.consent(step, inputs)
        except (KeyboardInterrupt, Aborted):
            self._calls.cancellation.cancel("SIGINT")
            self._unanswered = f" at the question about {step.id}, which did not run"
        finally:
            self._calls.is_asking = False
        return not self._is_over

    def _start(self, call: Call) -> None:
        self._log.started(call)
        self._calls.start(call)

    # Ending -------------------------------------------------------------------------------------

    def _take(self, answer: Answer) -> None:
        call, given = answer.call, answer.given
        if isinstance(given, StepOutcome):
            self._save(call, given)
        elif isinstance(given, Verification):
            self._finish_call(call, given)
        elif not isinstance(given, PulsusError):
            raise given  # a bug
        elif not call.is_verification:
            self._take_failure(call, given)
        elif isinstance(given, Aborted):
            self._log.in_doubt(call, "it was cancelled before it was verified")
            self._is_stopped = True
        else:
            self._finish_call(call, Verification(call.active.step.tool, False, given.message))

    def _save(self, call: Call, outcome: StepOutcome) -> None:
        """Write the result of a call; then it has passed, or is verified."""
        active = call.active
        name = result_name(active.step.id, call.item)
        saved = self._folder.save_result(name, outcome.result, is_write=active.is_write)
        call = replace(call, outcome=outcome, result=saved)
        if active.is_write and outcome.verification is None:
            self._log.ran(call)
            self._calls.start(call)
        else:
            self._finish_call(call, outcome.verification)

    def _finish_call(self, call: Call, found: Verification | None) -> None:
        """Record a call that ran. `found` is None for a read.

        A write for which no verification could run passes as well, and is not verified.
        """
        active = call.active
        if call.doubt is not None and found is not None and not found.ok:
            why = f"{call.doubt.message}; not verified: {found.reason}"
            self._log.in_doubt(call, why)
            self._wait(active.step, call.item, why, None)
        elif found is not None and found.tool is not None and not found.ok:
            self._log.unverified(call, found)
            error = WriteUnverified(
                f"{active.step.tool} ran, and its verification by {found.tool} failed: "
                f"{found.reason}",
                hint="look at what it changed before anything else runs",
                step=active.step.id,
            )
            active.state = "unverified"
            self._end_failed(active, error)
        else:
            self._log.done(call, found)
            active.hashes[call.item or 0] = call.result.sha256 if call.result else None
            self._end_call(active)

    def _take_failure(self, call: Call, error: PulsusError) -> None:
        active, is_cancelled = call.active, self._calls.cancellation.is_cancelled
        if active.is_write and is_outcome_unknown(error):
            self._log.in_doubt(call, error.message)
            if is_cancelled:
                self._is_stopped = True
            else:
                self._calls.start(replace(call, doubt=error))
        elif is_cancelled and not active.is_write:
            self._log.pending(call, error.message)
        elif not self._is_over and may_retry(call, error, self._host):
            self._log.retried(call, error)
            self._retries.add(call)
        elif type(error) is ApprovalNeeded:
            self._wait(active.step, call.item, error.message, error)
        else:
            self._fail(active, call.item, error)

    def _wait(self, step: PlanStep, item: int | None, why: str, error: PulsusError | None) -> None:
        """Let the run wait for a person."""
        self._needs = self._ask_person(step.id, item, why, error)
        self._log.waiting(step, self._needs)
        self._error = (
            self._error
            or error
            or ApprovalNeeded(
                f"step {step.id} is in doubt: {why}",
                hint="find out whether it took effect, and say so when you resume the run",
                step=step.id,
            )
        )
        self._is_stopped = True

    def _fail(self, active: ActiveStep, item: int | None, error: PulsusError) -> None:
        self._log.failed(active, item, error)
        active.state = "failed"
        self._end_failed(active, error)

    def _end_failed(self, active: ActiveStep, error: PulsusError) -> None:
        """End a call that did not pass, and stop the run unless the step says to go on."""
        self._error = self._error or error
        if active.step.on_failure == "stop":
            self._is_stopped = True
            active.drop_waiting()
        self._end_call(active)

    def _end_call(self, active: ActiveStep) -> None:
        active.unfinished -= 1
        if not active.unfinished:
            self._finish(active)

    def _finish(self, active: ActiveStep) -> None:
        """End a step whose calls have all ended."""
        if active.items is None:
            self._at.outputs.set_result(active.step.id, active.hashes[0])
        else:
            self._expanded = [each for each in self._expanded if each is not active]
            self._at.outputs.set_items(active.step.id, active.hashes)
            self._log.items_ended(active)
        self._end_step(active, passed=active.state == "done")

    def _end_step(self, active: ActiveStep, *, passed: bool) -> None:
        for step_id in self._at.schedule.end(active.step.id, passed=passed):
            self._log.skipped(self._steps[step_id], "dependency")

    def _evaluate(self, value: PlanValue, active: ActiveStep, item: int | None) -> JsonValue:
        current = active.items[item] if active.items is not None and item is not None else None
        try:
            return evaluate(value, self._at.inputs, active.outputs, current)
        except KeyError as missing:
            raise PlanValueFailed(
                f"step {active.step.id} needs the input {missing}, which has no value",
                hint="give it with --input",
                step=active.step.id,
            ) from None
