"""Apply a saved plan, check it without changes, or go on with its run (contracts, "Plans").

Steps run in `execution/engine/plan_run.py`, and retries are decided in `execution/engine/retry.py`.
A stale plan is refused in `routing/plans/changes_since_review.py`, and a write is confirmed in
`approvals/run_consent.py`. An undo is refused here if a file was edited since its review. Undo
plans are made in `routing/plans/undo_plan.py`. Limits are `plans.max_parallel` and
`plans.approval_hours`.

Effects: those of the steps; the journal in `.pulsus/state.db`, results in `.pulsus/runs/`, the
trace in `logs/runs/`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pulsus.approvals.run_consent import Consent, RunApproval
from pulsus.core.compose.plans.build_plan import list_parameters
from pulsus.core.compose.plans.dsl.step_references import list_dependencies
from pulsus.core.compose.plans.type_check import require_types
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.compose.saved_plans.saved_plan_mapping import (
    plan_hash,
    saved_plan_from_dict,
    saved_plan_to_dict,
)
from pulsus.core.compose.selection.accepted_plan import has_own_terms
from pulsus.core.memory.past_routes import PastRoute
from pulsus.core.storage.state_db.state_db import has_state_db
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.logging import open_trace
from pulsus.core.types import JsonValue, Plan
from pulsus.errors import PlanInvalid, PlanMoved, RunNotFound, StateCorrupt
from pulsus.execution.engine.engine import EngineLimits, PlanEngine
from pulsus.execution.engine.plan_run import PlanRunEnd
from pulsus.execution.engine.progress import Progress, RunProgress, StepProgress, write_to_trace
from pulsus.execution.engine.resume_decision import Settlement
from pulsus.execution.journal.journal import Journal, run_not_found
from pulsus.execution.journal.run_records import NewRun, RunRecord, RunSummary
from pulsus.execution.parse_inputs import parse_inputs
from pulsus.execution.workers.warm_process import WarmProcess
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.changes_since_review import require_unmoved
from pulsus.routing.plans.later_edits import UNDO, list_later_edits, undone_run
from pulsus.routing.plans.plan_host import PlanHost
from pulsus.routing.plans.refuse_secrets import refuse_secrets
from pulsus.routing.plans.run_results import read_outputs, read_results
from pulsus.routing.plans.save_plan import find_missing, find_tools
from pulsus.routing.runs.working_folder import FOLDER, list_calls, require_folder

_MOST_RUNS = 200
"""Latest runs among which an undo is looked for."""


@dataclass(frozen=True, slots=True)
class AppliedRun:
    """A run that ended, or waits: its end, its record, and the values that the plan returns."""

    end: PlanRunEnd
    record: RunRecord
    outputs: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """The findings of a check: the run of reads and dry runs, and steps that it cannot judge.

    `uncalled` are writes without `dry_run`. `dependent` are steps that read what a write would have
    changed, by a result or by their place behind it. `results` has what each step gave, by its id;
    with `for_each` a list. `inputs` has what each write would get.
    """

    applied: AppliedRun
    uncalled: tuple[str, ...]
    dependent: tuple[str, ...]
    results: Mapping[str, JsonValue]
    inputs: Mapping[str, Mapping[str, JsonValue]]


AskInputs = Callable[[SavedPlan], Mapping[str, JsonValue]]
"""Return values for the parameters that have none yet. Raises InputMissing."""


def apply_plan(
    project: Project,
    saved: SavedPlan,
    pairs: Sequence[str],
    approval: Consent,
    ask: AskInputs,
    progress: Progress,
) -> AppliedRun:
    """Run the plan. `pairs` are `--input` texts for parameters without a value.

    Raises PlanMoved before anything runs, InputMissing, PlanInvalid, and what preparing a tool
    raises. A failed step raises nothing: `AppliedRun.end` says how the run ended.
    """
    require_unmoved(project, saved, pairs)
    _require_reviewed_edits(project, saved)
    inputs = plan_inputs(project, saved, pairs, ask)
    run_id = project.new_run_id()
    with _engine(project, saved.plan, approval, progress, run_id) as (engine, journal):
        end = engine.run(saved.plan, _new_run(saved, run_id, inputs))
        journal.flush()
        found = _read_applied(project.state_dir, journal, saved, end)
    if end.state == "done":
        _remember(project, saved, run_id)
    return found


def check_plan_run(
    project: Project, saved: SavedPlan, pairs: Sequence[str], ask: AskInputs, progress: Progress
) -> CheckedPlan:
    """Run the reads, and the writes with `dry_run: true`. Nothing is changed or recorded.

    Raises what `apply_plan` raises.
    """
    require_unmoved(project, saved, pairs)
    _require_reviewed_edits(project, saved)
    inputs = plan_inputs(project, saved, pairs, ask)
    run_id = project.new_run_id()
    steps = tuple(replace(step, on_failure="continue") for step in saved.plan.steps)
    plan = replace(saved.plan, steps=steps)
    with (
        tempfile.TemporaryDirectory(prefix="pulsus-check-") as folder,
        WarmProcess(_python(project)) as warm,
        closing(Journal(Path(folder), project.project, ids.utc_now)) as journal,
    ):
        host = PlanHost(project, plan.steps, RunApproval(), warm, check=True)
        engine = PlanEngine(journal, host, progress, ids.utc_now, _limits(project))
        end = engine.run(plan, _new_run(saved, run_id, inputs))
        journal.flush()
        applied = _read_applied(Path(folder), journal, saved, end)
        results = read_results(Path(folder), applied.record)
    uncalled = tuple(step.id for step in plan.steps if not host.can_try(step))
    return CheckedPlan(applied, uncalled, find_dependent(saved), results, host.tried)


def resume_run(
    project: Project,
    run_id: str,
    approval: Consent,
    settled: Mapping[str, Settlement],
    progress: Progress,
) -> AppliedRun:
    """Go on with a run from its journal.

    Raises PlanMoved, RunNotFound, Busy, and UsageError, also in a folder where its relative paths
    are other files.
    """
    with closing(open_journal_of(project, run_id)) as journal:
        record = journal.read_run(run_id)
    saved = saved_plan_of(record)
    require_unmoved(project, saved, ())
    require_folder(record, list_calls(project.catalogue, saved.plan.steps, record.inputs))
    with _engine(project, saved.plan, approval, progress, run_id) as (engine, journal):
        end = engine.resume(saved.plan, run_id, settled)
        journal.flush()
        found = _read_applied(project.state_dir, journal, saved, end)
    if end.state == "done":
        _remember(project, saved, run_id)
    return found


def open_journal(project: Project) -> Journal:
    """Return the journal of the project, made if it is missing. Close it."""
    return Journal(project.state_dir, project.project, ids.utc_now)


def open_journal_of(project: Project, run_id: str) -> Journal:
    """Return the journal that has the run. Close it. Raises RunNotFound."""
    # Looking for a run makes no state in a folder that has none.
    if has_state_db(project.state_dir):
        journal = open_journal(project)
        try:
            if journal.has_run(run_id):
                return journal
        except BaseException:
            journal.close()
            raise
        journal.close()
    trace = project.log_dir / "runs" / run_id
    # An id is a name, and no path to another folder.
    if run_id.startswith("run-") and trace.name == run_id and trace.is_dir():
        raise RunNotFound(
            f"{run_id} is a route or a run of one tool, not of a plan; its trace is in {trace}",
            hint="`pulsus runs` knows runs of plans only. To take back what one tool changed, run "
            "the tool under its `Undo:`: `pulsus tools show ID`",
            run_id=run_id,
        )
    raise run_not_found(run_id)


def newest_run(project: Project) -> RunSummary:
    """Return the run of a plan that was started last. Raises RunNotFound if no plan was run."""
    found: tuple[RunSummary, ...] = ()
    if has_state_db(project.state_dir):
        with closing(open_journal(project)) as journal:
            found = journal.list_runs(1)
    if not found:
        raise RunNotFound(
            "no plan was run in this project yet, so `last` names no run",
            hint="apply a plan first: pulsus apply plan.yaml",
        )
    return found[0]


def saved_plan_of(record: RunRecord) -> SavedPlan:
    """Return the saved plan that the run was started with. Raises StateCorrupt."""
    try:
        saved, named = saved_plan_from_dict(json.loads(record.plan))
    except (ValueError, PlanInvalid) as failure:
        raise StateCorrupt(
            f"state.db is damaged: the plan of {record.run_id} cannot be read",
            hint="make the plan again and apply it",
            run_id=record.run_id,
        ) from failure
    if named != plan_hash(saved):
        raise StateCorrupt(
            f"the plan of {record.run_id} in state.db is not the one that was started",
            hint="make the plan again and apply it",
            run_id=record.run_id,
        )
    recorded = [each.step for each in record.steps if each.item is None]
    if recorded != [step.id for step in saved.plan.steps]:
        raise StateCorrupt(
            f"state.db is damaged: the steps of {record.run_id} are not those of its plan",
            hint="make the plan again and apply it",
            run_id=record.run_id,
        )
    return saved


def find_dependent(saved: SavedPlan) -> tuple[str, ...]:
    """Return the steps that may see what an earlier write of the plan changes."""
    found: list[str] = []
    wrote = False
    for step, review in zip(saved.plan.steps, saved.review, strict=True):
        if wrote or any(each in found for each in list_dependencies(step)):
            found.append(step.id)
        wrote = wrote or review.kind == "write"
    return tuple(found)


def later_edits(project: Project, run_id: str) -> tuple[str, ...]:
    """Return a note for each file of a run that was changed since. Raises RunNotFound."""
    with closing(open_journal_of(project, run_id)) as journal:
        record = journal.read_run(run_id)
    saved = saved_plan_of(record)
    return tuple(list_later_edits(project, record, saved))


def _require_reviewed_edits(project: Project, saved: SavedPlan) -> None:
    """Raise PlanMoved if an undo would take back an edit that its reviewer was not told about."""
    run_id = undone_run(saved)
    if run_id is None:
        return
    try:
        found = later_edits(project, run_id)
    except RunNotFound:
        # The plan of another project, or a copy by hand: there is nothing to compare with.
        return
    untold = [note for note in found if note not in saved.notes]
    if untold:
        before = _find_undo(project, run_id)
        done = f"{before} undid {run_id}: if that was this plan, nothing is left to do; else "
        raise PlanMoved(
            "the undo is not applied, because a file was changed since it was made: "
            + "; ".join(untold),
            hint=f"{done if before else ''}look at the change, then make and review the undo "
            f"again: pulsus runs undo {run_id} -o NEW_FILE",
            moved=untold,
        )


def _find_undo(project: Project, run_id: str) -> str | None:
    """Return the latest finished run that undid this one, of the last 200 runs."""
    with closing(open_journal_of(project, run_id)) as journal:
        for each in journal.list_runs(_MOST_RUNS):
            named = UNDO.fullmatch(each.request)
            if named and named[1] == run_id and each.state == "done":
                return each.run_id
    return None


@contextmanager
def _engine(
    project: Project, plan: Plan, approval: Consent, progress: Progress, run_id: str
) -> Iterator[tuple[PlanEngine, Journal]]:
    with (
        WarmProcess(_python(project)) as warm,
        closing(open_journal(project)) as journal,
    ):
        host = PlanHost(project, plan.steps, approval, warm)
        trace = open_trace(project.log_dir, run_id, clock=ids.utc_now, redactor=project.redactor)
        write = write_to_trace(trace)

        def tell(event: StepProgress | RunProgress) -> None:
            write(event)
            progress(event)

        yield PlanEngine(journal, host, tell, ids.utc_now, _limits(project)), journal


def _python(project: Project) -> Path | None:
    return project.interpreter.python if project.interpreter else None


def _limits(project: Project) -> EngineLimits:
    config = project.settings.plans
    return EngineLimits(config.max_parallel, config.approval_hours)


def plan_inputs(
    project: Project, saved: SavedPlan, pairs: Sequence[str], ask: AskInputs
) -> dict[str, JsonValue]:
    """Return the values of all parameters, checked against the contracts."""
    tools = find_tools(project, saved.plan.steps)
    params = list_parameters(saved.plan, tools.values())
    given = {name: each.value for name, each in saved.inputs.items()}
    given |= parse_inputs(pairs, params)
    if any(arg.name not in given for arg in find_missing(saved, project)):
        given |= dict(ask(saved)) | given
    refuse_secrets(project, saved.plan, given)
    require_types(saved.plan, tools, given)
    return given


def _new_run(saved: SavedPlan, run_id: str, inputs: Mapping[str, JsonValue]) -> NewRun:
    return NewRun(
        run_id=run_id,
        plan=json.dumps(saved_plan_to_dict(saved), ensure_ascii=True),
        inputs=inputs,
        request=saved.request or saved.plan.description,
        facts={
            "plan_hash": plan_hash(saved),
            "catalogue": saved.catalogue,
            FOLDER: str(Path.cwd()),
        },
    )


def _read_applied(
    state_dir: Path, journal: Journal, saved: SavedPlan, end: PlanRunEnd
) -> AppliedRun:
    record = journal.read_run(end.run_id, owned=True)
    return AppliedRun(end, record, read_outputs(state_dir, saved, record))


def _remember(project: Project, saved: SavedPlan, run_id: str) -> None:
    """Keep the plan as one that was accepted: a person reviewed and applied it."""
    if not saved.request:
        return
    tools = tuple(step.tool for step in saved.plan.steps)
    route_id = ids.route_id(saved.request, saved.catalogue)
    route = PastRoute(ids.utc_now(), run_id, route_id, saved.request, tools, "accepted")
    project.remember(replace(route, has_own_terms=has_own_terms(saved.plan)))
