"""Replay a recorded run of a plan without running anything (contracts, `runs replay`).

A run of the agent is replayed in `agent/trace_replay.py`.

Effect: reads the journal and the results.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pulsus.core.compose.plans.dsl.plan_values import evaluate
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import JsonValue, OutputRef
from pulsus.errors import PlanValueFailed
from pulsus.execution.engine.step_outputs import outputs_of_record
from pulsus.execution.journal.run_folder import load_result as load_file
from pulsus.execution.journal.run_records import RunRecord, StepRecord
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import open_journal_of, saved_plan_of
from pulsus.routing.plans.changes_since_review import find_moved_parts
from pulsus.routing.plans.run_results import load_result


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """One call of a run, with its result. `inputs` is None if they are unknown."""

    record: StepRecord
    tool: str
    inputs: Mapping[str, JsonValue] | None
    result: JsonValue


@dataclass(frozen=True, slots=True)
class RunReplay:
    """A run in the order in which its calls ended. `moved` says what is no longer as it was."""

    record: RunRecord
    saved: SavedPlan
    calls: tuple[ReplayedCall, ...]
    moved: tuple[str, ...]


def replay_run(project: Project, run_id: str) -> RunReplay:
    """Return the recorded run. Raises RunNotFound, StateCorrupt."""
    with closing(open_journal_of(project, run_id)) as journal:
        record = journal.read_run(run_id)
    saved = saved_plan_of(record)
    tools = {step.id: step.tool for step in saved.plan.steps}
    ended = [each for each in record.steps if each.items is None and each.state != "pending"]
    inputs = _RecordedInputs(project.state_dir, record, saved)
    calls = tuple(
        ReplayedCall(
            each,
            tools[each.step],
            inputs.find(each),
            load_result(project.state_dir, run_id, each),
        )
        for each in sorted(ended, key=lambda each: each.seq)
    )
    return RunReplay(record, saved, calls, find_moved_parts(project, saved))


class _RecordedInputs:
    """The inputs of the calls of one run.

    The journal has those of a started write. Those of any other call follow from the plan and the
    recorded results, because an expression gives the same value each time.
    """

    def __init__(self, state_dir: Path, record: RunRecord, saved: SavedPlan) -> None:
        self._state_dir, self._record = state_dir, record
        self._steps = {step.id: step for step in saved.plan.steps}
        self._outputs = outputs_of_record(saved.plan.steps, record.steps, self._load)
        self._items: dict[str, JsonValue] = {
            each.step: self._load(each.result_file, each.sha256 or "")
            for each in record.steps
            if each.items is not None and each.result_file is not None
        }
        self._referred: dict[str, Mapping[OutputRef, JsonValue]] = {}

    def find(self, call: StepRecord) -> Mapping[str, JsonValue] | None:
        """Return the inputs; None for a skipped step, and for one whose inputs failed.

        Raises StateCorrupt for a lost result.
        """
        if call.inputs is not None:
            return call.inputs
        if call.state == "skipped":
            return None
        step = self._steps[call.step]
        items = self._items.get(step.id)
        item = items[call.item] if isinstance(items, list) and call.item is not None else None
        try:
            if step.id not in self._referred:
                self._referred[step.id] = self._outputs.referred(step)
            given, outputs = self._record.inputs, self._referred[step.id]
            return {k: evaluate(v, given, outputs, item) for k, v in step.inputs.items()}
        except (PlanValueFailed, KeyError):  # the call failed before its tool was started
            return None

    def _load(self, name: str, sha256: str) -> JsonValue:
        return load_file(self._state_dir, self._record.run_id, name, sha256)
