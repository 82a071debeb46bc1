"""Print how a run of a plan ended: its steps, its results, and the error of one that failed.

A run that failed ends with `PLAN_FAILED`. A run that waits ends with `APPROVAL_REQUIRED`, and with
status 7 after `--detailed-exitcode`; other statuses are in `errors.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.errors import CHANGES_FOUND, ApprovalNeeded, PlanFailed, PulsusError

if TYPE_CHECKING:
    from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
    from pulsus.core.types import JsonValue
    from pulsus.execution.journal.run_records import RunRecord
    from pulsus.routing.plans.apply_plan import AppliedRun

_UNKNOWN_FILE = Path("FILE")
_OF_VALUES = frozenset({"USAGE", "PLAN_VALUE_FAILED", "INPUT_MISSING"})
"""Codes of steps that failed because of a value."""


def print_applied(
    session: CommandSession,
    saved: SavedPlan,
    applied: AppliedRun,
    *,
    full: bool,
    detailed: bool = False,
    plan: Path = _UNKNOWN_FILE,
    inputs: Sequence[str] = (),
) -> NoReturn:
    """Print how a run ended, with what the plan returns, and leave with its exit status.

    With `detailed` a run that waits for the confirmation of a write ends with 7. `plan` and
    `inputs` are the file and the `--input` texts of the run, for the hints.
    """
    from pulsus.cli.plan.given_inputs import (
        missing_alternatives,
        other_value_hint,
        unplanned_input_hint,
    )
    from pulsus.cli.plan.run_lines import run_lines, run_to_dict

    missing = missing_alternatives(applied, saved, session.app.catalogue, plan)
    if missing:
        missing.details["run_id"] = applied.end.run_id
    other_value = unplanned_input_hint(
        applied, saved, session.app.catalogue, inputs
    ) or other_value_hint(plan, inputs)
    failure = missing or end_failure(applied, saved, other_value)
    waits = applied.end.state == "waiting" and not _is_in_doubt(applied)
    status = CHANGES_FOUND if detailed and waits else None
    if session.json:
        body = {**run_to_dict(applied.record, saved.plan), "outputs": dict(applied.outputs)}
        console.end_document({"ok": failure is None, **body}, failure, status)
    if session.verbosity >= 0:
        # The error below says why it waits.
        for line in run_lines(applied.record, saved, why=False):
            console.note(line)
    if applied.outputs and applied.end.state == "done":
        if console.is_terminal(sys.stdout) and session.verbosity >= 0:
            console.note("")
        print_outputs(session, saved, applied.record, applied.outputs, full=full)
    if failure:
        console.fail(failure, as_json=False)
    console.leave(failure, status)


def _is_in_doubt(applied: AppliedRun) -> bool:
    return any(each.state == "in_doubt" for each in applied.record.steps)


def end_failure(applied: AppliedRun, saved: SavedPlan, other_value: str) -> PulsusError | None:
    """Return the error of a run that did not end well; None for one that did.

    `other_value` is the hint on how to run the plan with another value.
    """
    from pulsus.cli.plan.run_lines import settle_ways
    from pulsus.routing.inputs.rejected_inputs import is_rejection

    end = applied.end
    if end.state == "done":
        return None
    resume = f"pulsus runs resume {end.run_id}"
    if end.state == "waiting":
        needs = end.needs
        assert needs is not None
        way = f"decide, and go on: {console.in_given_places(f'{resume} --yes')}"
        if needs.who == "approver":
            command = console.in_given_places(resume)
            way = f"an approver runs this at a terminal, and types the target: {command}"
        waits = ApprovalNeeded(
            f"{end.run_id} waits: {needs.why}",
            hint=way,
            run_id=end.run_id,
            approval_id=needs.approval_id,
        )
        if _is_in_doubt(applied):
            waits.offer(*settle_ways(end.run_id, needs.step, saved))
        return waits
    if end.state == "cancelled" and end.error is not None:
        return end.error
    reason = end.error.message if end.error else "a step did not pass"
    code = end.error.code if end.error else None
    failure = PlanFailed(f"{end.run_id} failed: {reason}", run_id=end.run_id, cause=code)
    go_on = f"mend the cause, then go on with it: {console.in_given_places(resume)}"
    # The run keeps its values, so going on with it cannot mend a wrong one.
    if is_rejection(end.error):
        failure.offer(other_value)
    else:
        failure.offer(*((other_value, go_on) if code in _OF_VALUES else (go_on, other_value)))
    return failure


def print_outputs(
    session: CommandSession,
    saved: SavedPlan,
    record: RunRecord,
    outputs: Mapping[str, JsonValue],
    *,
    full: bool,
) -> None:
    """Print what a plan returned: the result of each step under the name of its tool.

    A write that was settled after a fault has no result, and is left out.
    """
    from pulsus.cli.results.print_result import print_result
    from pulsus.cli.results.result_parts import result_parts
    from pulsus.cli.results.row_limit import step_limit_notes
    from pulsus.routing.plans.run_results import read_results

    unknown = {
        each.step
        for each in record.steps
        if each.item is None and each.state == "done" and each.result_file is None
    }
    names = {n for step in saved.plan.steps if step.id in unknown for n in step.outputs}
    result = {name: value for name, value in outputs.items() if name not in names}
    if not result:
        return
    known = (session.app.catalogue.get(step.tool) for step in saved.plan.steps)
    tools = [tool for tool in known if tool is not None]
    if session.verbosity >= 0:
        results = read_results(session.app.state_dir, record)
        chosen = [name for name, each in saved.inputs.items() if each.source != "default"]
        for line in step_limit_notes(results, saved.plan, tools, chosen):
            console.note(f"note: {line}")
    print_result(result, full=full, parts=list(result_parts(result, saved.plan, tools)))
