"""`pulsus apply`: check, run or resume a saved plan (contracts, "Plans").

A stale plan is refused in `routing/plans/changes_since_review.py`, the run is made by
`routing/plans/apply_plan.py`, and a write needs the consent of `approvals/run_consent.py`. The exit
status is chosen in `cli/plan/run_end.py`, and an earlier run that waits is ended in
`routing/plans/superseded_runs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common, full_option, input_option
from pulsus.cli.requester import RequestOptions, find_requester, keep_request, request_options
from pulsus.errors import CHANGES_FOUND, PlanFailed, PulsusError, UsageError

if TYPE_CHECKING:
    from pulsus.approvals.approver_protocol import Approver
    from pulsus.approvals.run_consent import RunApproval
    from pulsus.cli.plan.plan_progress import PlanProgress
    from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
    from pulsus.core.types import JsonValue
    from pulsus.routing.plans.apply_plan import AppliedRun, CheckedPlan

EPILOG = page_end(
    "pulsus apply plan.yaml --check",
    "pulsus apply plan.yaml",
    "pulsus apply plan.yaml --input path=report.md --yes --output json",
    "pulsus apply plan.yaml --request",
    exits={
        0: "done, or asked for",
        1: "a step failed, or a change is not verified",
        2: "usage, settings, or an invalid plan",
        4: "the run waits for an input or a confirmation",
        6: "the plan moved since it was made, or denied",
        7: "with --detailed-exitcode: a write is still to be done",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--check", is_flag=True, help="Run the reads, and writes with dry_run: nothing is changed."
)
@click.option("--yes", is_flag=True, help="Confirm the writes; your user name is recorded.")
@request_options
@click.option(
    "--detailed-exitcode",
    "detailed",
    is_flag=True,
    help="End with 7 if a write is still to be done: after --check, or if the run waits.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    help="Where the steps run: on this machine. dask is refused in this version. [default: local]",
)
@input_option
@full_option
@common()
def command(
    session: CommandSession,
    plan: Path,
    check: bool,
    yes: bool,
    request: RequestOptions,
    detailed: bool,
    engine: str,
    inputs: tuple[str, ...],
    full: bool,
) -> None:
    """Run the saved plan in the file PLAN, step by step.

    Reads run side by side. A write runs alone, after your confirmation, and is verified before
    anything else starts. The plan is refused if a tool, a setting or an input is not what was
    reviewed. Without a person to confirm a write the run waits, and `pulsus runs resume` goes on.
    --input gives a value that the plan leaves open. Another value for an input that was reviewed
    needs another plan: pulsus plan --file PLAN -o NEW_FILE --input NAME=VALUE.

    With --request nothing runs yet: the plan waits for another person. Approving it runs exactly
    this plan with these inputs, at the server.
    """
    from pulsus.cli.plan.given_inputs import name_file_of_plan, notes_to_show
    from pulsus.cli.plan.named_plan import load_named_plan
    from pulsus.cli.plan.plan_progress import PlanProgress
    from pulsus.cli.plan.run_end import print_applied
    from pulsus.routing.plans import apply_plan
    from pulsus.routing.plans.changes_since_review import catalogue_note, find_moved_parts

    if engine != "local":
        raise UsageError(
            f"the engine {engine!r} is not part of this version",
            hint="leave --engine out, or give --engine local",
        )
    request.check(yes=yes, check=check)
    app = session.app
    saved = load_named_plan(session, plan, for_tool="run")
    if request.given:
        with name_file_of_plan(plan):
            _ask_another(session, saved, plan, inputs, request)
        return
    notes = notes_to_show(saved, inputs)
    note = catalogue_note(app.catalogue, saved)
    # The note says that the tools of the plan are the same.
    if note and session.verbosity >= 0 and not find_moved_parts(app, saved):
        console.note(f"note: {note}")
    progress = PlanProgress(saved.plan, quiet=session.verbosity < 0 or session.json)
    words = ["--check"] * check + ["--yes"] * yes + ["--full"] * full
    words += ["--detailed-exitcode"] * detailed

    def ask(saved: SavedPlan) -> Mapping[str, JsonValue]:
        with progress.paused():
            return _ask_for_missing(session, saved, plan, inputs, words, session.person)

    if check:
        with progress.shown(), name_file_of_plan(plan):
            checked = apply_plan.check_plan_run(app, saved, inputs, ask, progress)
        _print_check(session, saved, plan, checked, notes, detailed=detailed, full=full)
    if session.verbosity >= 0:
        for note in notes:
            console.note(f"note: {note}")
    approval = plan_approval(session, progress, yes=yes)
    with progress.shown(), name_file_of_plan(plan):
        applied = apply_plan.apply_plan(app, saved, inputs, approval, ask, progress)
    _end_superseded_runs(session, applied)
    print_applied(session, saved, applied, full=full, detailed=detailed, plan=plan, inputs=inputs)


def _ask_another(
    session: CommandSession,
    saved: SavedPlan,
    plan: Path,
    inputs: tuple[str, ...],
    request: RequestOptions,
) -> None:
    """Keep the request to run the plan."""
    from pulsus.routing.requests.plan_request import plan_request

    app = session.app
    requester, reason = find_requester(app, request.token_file), request.reason.strip()

    def ask(saved: SavedPlan) -> Mapping[str, JsonValue]:
        return _ask_for_missing(session, saved, plan, inputs, request.words(), None)

    keep_request(session, plan_request(app, saved, plan.name, inputs, requester, reason, ask))


def _end_superseded_runs(session: CommandSession, applied: AppliedRun) -> None:
    """End earlier runs that wait with the same plan and inputs, and say so."""
    from pulsus.routing.plans.superseded_runs import end_superseded_runs

    found = end_superseded_runs(session.app, applied)
    if session.verbosity < 0:
        return
    for run_id in found.ended:
        console.note(f"note: {run_id} waited with the same plan and inputs, and is cancelled")
    for run_id in found.waiting:
        resume = console.in_given_places(f"pulsus runs resume {run_id} --yes")
        console.note(
            f"note: {run_id} waits with the same plan and inputs after some of its changes; "
            f"to go on with it: {resume}"
        )


def plan_approval(session: CommandSession, progress: PlanProgress, *, yes: bool) -> RunApproval:
    """Return how the writes of a plan are confirmed."""
    from pulsus.approvals.run_consent import RunApproval
    from pulsus.cli.plan.plan_progress import PausingPerson

    person = session.person
    asked = cast("Approver", PausingPerson(person, progress)) if person else None
    return RunApproval(asked, yes=yes)


def _ask_for_missing(
    session: CommandSession,
    saved: SavedPlan,
    plan: Path,
    inputs: tuple[str, ...],
    options: Sequence[str],
    person: Approver | None,
) -> Mapping[str, JsonValue]:
    """Return a value for each parameter without one. Raises InputMissing with the whole command.

    `options` are those of the call beside `inputs`: without them the command would do something
    else, such as a write instead of a check.
    """
    from pulsus.routing.inputs.missing_inputs import ask_for_inputs
    from pulsus.routing.inputs.missing_words import (
        IncompleteCall,
        read_proposals,
        steps_of_inputs,
    )
    from pulsus.routing.plans.save_plan import find_missing

    missing = find_missing(saved, session.app)
    given = {pair.partition("=")[0].rstrip(":") for pair in inputs}
    left = [arg for arg in missing if arg.name not in given]
    users = {arg.name: str(plan) for arg in left}
    words = ("pulsus", "apply", str(plan), *options, *console.given_places())
    call = IncompleteCall(words, inputs, steps_of_inputs(saved.plan), whole=True)
    return ask_for_inputs(left, read_proposals(saved.notes), person, users, call)


def _print_check(
    session: CommandSession,
    saved: SavedPlan,
    plan: Path,
    checked: CheckedPlan,
    notes: Sequence[str],
    *,
    detailed: bool,
    full: bool,
) -> NoReturn:
    """Print what a check found, under a banner, and leave."""
    from pulsus.cli.plan.check_lines import check_lines, check_to_dict, pending_writes
    from pulsus.cli.plan.given_inputs import missing_alternatives

    failure = None if checked.applied.end.state == "done" else _check_failure(checked)
    if failure:
        missing = missing_alternatives(checked.applied, saved, session.app.catalogue, plan)
        failure = missing or failure
    pending = pending_writes(saved, checked)
    status = CHANGES_FOUND if detailed and pending and failure is None else None
    if session.json:
        body = check_to_dict(saved, checked)
        console.end_document({"ok": failure is None, **body}, failure, status)
    for line in check_lines(saved, checked, notes, columns=console.layout_width(), full=full):
        console.echo(line, console.width())
    if failure:
        console.fail(failure, as_json=False)
    console.leave(failure, status)


def _check_failure(checked: CheckedPlan) -> PulsusError | None:
    """Return the error of a check; None if only steps failed that depend on changes not made."""
    failed = [
        each
        for each in checked.applied.record.steps
        if each.state == "failed" and each.step not in checked.dependent
    ]
    if not failed:
        return None
    error = failed[0].error or {}
    return PlanFailed(
        f"the check failed at {failed[0].step}: {error.get('message')}",
        hint="mend the cause, and check again",
        step=failed[0].step,
        cause=error.get("code"),
    )
