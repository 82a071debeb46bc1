"""End the waiting runs of a plan whose place a later run takes, so that no change waits twice.

Runs that are old are removed by `execution/journal/old_runs.py`.

A person who answered nothing, and then calls `pulsus apply plan.yaml --yes`, wants one change. The
earlier run would make it again. Effect: writes the journal.
"""

from __future__ import annotations

from contextlib import closing
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.errors import Aborted, Busy
from pulsus.execution.journal.run_records import RunRecord
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import AppliedRun, open_journal

_MOST_RUNS: Final = 200
"""The latest runs that are looked at: a wait ends after a day."""

_CHANGING: Final = frozenset({"started", "done", "failed", "in_doubt", "unverified"})
"""States of a write that may have changed something."""


@dataclass(frozen=True, slots=True)
class SupersededRuns:
    """The runs that were ended, and those that still wait because they have changed something."""

    ended: tuple[str, ...]
    waiting: tuple[str, ...]


def end_superseded_runs(project: Project, applied: AppliedRun) -> SupersededRuns:
    """End each earlier run that waits with the same plan and inputs as the run that was applied.

    Only a run that is done, or waits itself, takes the place of others. A run that has already
    changed something is not ended. Raises what the journal raises.
    """
    ended: list[str] = []
    waiting: list[str] = []
    if applied.end.state not in ("done", "waiting"):
        return SupersededRuns((), ())
    with closing(open_journal(project)) as journal:
        found = [each.run_id for each in journal.list_runs(_MOST_RUNS) if each.state == "waiting"]
        earlier = [journal.read_run(name) for name in found if name != applied.end.run_id]
    for record in earlier:
        if _intent_of(record) != _intent_of(applied.record):
            continue
        untouched = not any(s.is_write and s.state in _CHANGING for s in record.steps)
        done = untouched and _end(project, record, applied.end.run_id)
        (ended if done else waiting).append(record.run_id)
    return SupersededRuns(tuple(ended), tuple(waiting))


def _intent_of(record: RunRecord) -> tuple[JsonValue, JsonValue]:
    return record.facts.get("plan_hash"), dict(record.inputs)


def _end(project: Project, record: RunRecord, successor: str) -> bool:
    """End the run as cancelled. Return False if another process has it, or went on with it."""
    with closing(open_journal(project)) as journal:
        try:
            now = journal.take_run(record.run_id)
        except Busy:
            return False
        if now.state != "waiting":
            return False
        for step in now.steps:
            if step.state == "waiting":
                journal.step_pending(step.step, step.item)
        journal.flush()
        journal.end_run("cancelled", Aborted(f"{successor} runs the same plan in its place"))
    return True
