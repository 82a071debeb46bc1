"""Go through a recorded run again without running anything (contracts, `runs replay`).

Effect: reads the journal and the results.
"""

from __future__ import annotations

from contextlib import closing

from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import JsonValue
from pulsus.execution.journal.run_records import RunRecord, StepRecord
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import open_journal, saved_plan_of
from pulsus.routing.plans.changes_since_review import find_moved_parts
from pulsus.routing.plans.run_results import load_result


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """One call of a run, with its result."""

    record: StepRecord
    tool: str
    result: JsonValue


@dataclass(frozen=True, slots=True)
class Replay:
    """A run in the order in which its calls ended. `moved` says what is no longer as it was."""

    record: RunRecord
    saved: SavedPlan
    calls: tuple[ReplayedCall, ...]
    moved: tuple[str, ...]


def replay_run(project: Project, run_id: str) -> Replay:
    """Return the recorded run. Raises RunNotFound, StateCorrupt."""
    with closing(open_journal(project)) as journal:
        record = journal.read_run(run_id)
    saved = saved_plan_of(record)
    tools = {step.id: step.tool for step in saved.plan.steps}
    ended = [each for each in record.steps if each.items is None and each.state != "pending"]
    calls = tuple(
        ReplayedCall(each, tools[each.step], load_result(project.state_dir, run_id, each))
        for each in sorted(ended, key=lambda each: each.seq)
    )
    return Replay(record, saved, calls, find_moved_parts(project, saved))
