"""`pulsus runs`: list, show, resume, undo and replay runs of plans (contracts, "Plans").

`execution/engine/resume_decision.py` decides what a resume does with each step; an undo is made in
`routing/plans/undo_plan.py`, a replay in `routing/plans/replay_run.py`. The lines of a run are made
in `cli/plan/run_lines.py`, its end and exit status in `cli/plan/run_end.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_runs
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common, full_option
from pulsus.errors import RunNotFound, UsageError

if TYPE_CHECKING:
    from pulsus.execution.engine.resume_decision import Settlement
    from pulsus.execution.journal.run_records import RunSummary
    from pulsus.routing.plans.undo_plan import TakenBack

EPILOG = page_end(
    "pulsus runs list",
    "pulsus runs show last",
    "pulsus runs resume RUN --yes",
    "pulsus runs undo RUN -o undo.yaml",
)
_run_argument = click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
_EXITS = {0: "done", 2: "usage, settings, or no such run", 75: "try again"}


@click.group(epilog=EPILOG)
def command() -> None:
    """List and show runs of plans, go on with one, replay or undo it."""


@command.command(
    "list",
    epilog=page_end("pulsus runs list --output json", exits=_EXITS | {2: "usage or settings"}),
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=20,
    help="Most runs shown. [default: 20]",
)
@common()
def list_command(session: CommandSession, limit: int) -> None:
    """List the latest runs of plans, newest first.

    A waiting run has a line about what it waits for. A run that was undone has `undone` behind its
    state, or `partly undone` if some of its writes stay. The other commands take `last` for the
    first run of this list.
    """
    from pulsus.cli.plan.run_lines import needs_lines, needs_to_dict
    from pulsus.core.storage.state_db.state_db import has_state_db
    from pulsus.routing.plans.apply_plan import open_journal
    from pulsus.routing.plans.undo_plan import find_undone

    found: tuple[RunSummary, ...] = ()
    undone: dict[str, TakenBack] = {}
    if has_state_db(session.app.state_dir):
        with closing(open_journal(session.app)) as journal:
            found = journal.list_runs(limit)
            # An undo is newer than its run, so this list has both.
            undone = find_undone(session.app, journal, found)
    if session.json:
        rows = [
            {
                **console.json_fields(each, "run_id state request started_at ended_at counts"),
                "undone_by": _undone_by(undone.get(each.run_id), is_whole=True),
                "partly_undone_by": _undone_by(undone.get(each.run_id), is_whole=False),
                "waiting": needs_to_dict(each.needs),
            }
            for each in found
        ]
        console.document({"runs": rows})
        return
    if not found:
        root = session.app.workflows_root
        if not root.is_dir():
            console.note(f"there is no {root}: run this in the project whose runs you look for")
            return
        console.note("no plan was applied here yet: pulsus apply plan.yaml")
        return
    wide = max(len(each.run_id) for each in found)
    states = {each.run_id: _state_text(each.state, undone.get(each.run_id)) for each in found}
    broad = max(11, *map(len, states.values()))
    console.echo(f"{'run':<{wide}}  {'state':<{broad}}  request")
    for each in found:
        console.echo(
            f"{each.run_id}  {states[each.run_id]:<{broad}}  {each.request}", console.width()
        )
        if each.needs:
            doubt = bool(each.counts.get("in_doubt"))
            for line in needs_lines(each.run_id, each.needs, in_doubt=doubt):
                console.echo(f"  {line}", console.width())


def _undone_by(taken_back: TakenBack | None, *, is_whole: bool) -> str | None:
    """Return the id of the undo if it is of this sort."""
    return taken_back.by if taken_back and taken_back.is_whole == is_whole else None


def _state_text(state: str, taken_back: TakenBack | None) -> str:
    if taken_back is None:
        return state
    return f"{state}, undone" if taken_back.is_whole else f"{state}, partly undone"


@command.command("show", epilog=page_end("pulsus runs show RUN", exits=_EXITS))
@_run_argument
@full_option
@common()
def show_command(session: CommandSession, run_id: str, full: bool) -> None:
    """Show each step of RUN with its state, and what the plan returned.

    `last` is the newest run of a plan.
    """
    from pulsus.cli.plan.run_end import print_outputs
    from pulsus.cli.plan.run_lines import run_lines, run_to_dict
    from pulsus.routing.plans.apply_plan import open_journal_of, saved_plan_of
    from pulsus.routing.plans.run_results import read_outputs

    run_id = _named_run(session, run_id)
    with closing(open_journal_of(session.app, run_id)) as journal:
        record = journal.read_run(run_id)
        saved = saved_plan_of(record)
        outputs = read_outputs(session.app.state_dir, saved, record)
    if session.json:
        console.document({**run_to_dict(record, saved.plan), "outputs": outputs})
        return
    for line in run_lines(record, saved):
        console.echo(line, console.width())
    if outputs:
        if console.width():
            console.echo("", None)
        print_outputs(session, saved, record, outputs, full=full)


@command.command(
    "resume",
    epilog=page_end(
        "pulsus runs resume RUN",
        "pulsus runs resume RUN --settle s2=done",
        "pulsus runs resume RUN --settle s2=again --yes",
        exits={
            0: "done",
            1: "a step failed, or a change is not verified",
            2: "usage, settings, or no such run",
            4: "the run waits for a person",
            6: "the plan moved since it was made, or denied",
            75: "try again",
        },
    ),
)
@_run_argument
@click.option("--yes", is_flag=True, help="Confirm the writes; your user name is recorded.")
@click.option(
    "--settle",
    "settled",
    multiple=True,
    metavar="STEP=done|again",
    help="Settle a write in doubt: done if it took effect, again to run it again; repeatable.",
)
@full_option
@common()
def resume_command(
    session: CommandSession, run_id: str, yes: bool, settled: tuple[str, ...], full: bool
) -> None:
    """Go on with RUN where it stopped. Steps that are done are not run again.

    `last` is the newest run of a plan. --yes and --settle need the id of the run, because the
    newest run may be one that another person or a server started.

    A write that was started and did not report is in doubt. The `Verify:` of its tool may settle
    that. If it does not, the run waits until you say with --settle what you found. A write that is
    to run again needs its confirmation again: --yes, or an answer at a terminal.
    """
    from pulsus.cli.plan.apply_command import plan_approval
    from pulsus.cli.plan.plan_progress import PlanProgress
    from pulsus.cli.plan.run_end import print_applied
    from pulsus.routing.plans import apply_plan

    app = session.app
    answers = _parse_settled(settled)
    if run_id == "last" and (yes or settled):
        raise _needs_an_id(session, yes=yes, settled=settled)
    run_id = _named_run(session, run_id)
    with closing(apply_plan.open_journal_of(app, run_id)) as journal:
        record = journal.read_run(run_id)
        saved = apply_plan.saved_plan_of(record)
    quiet = session.verbosity < 0 or session.json
    progress = PlanProgress(saved.plan, quiet=quiet, steps=record.steps)
    approval = plan_approval(session, progress, yes=yes)
    with progress.shown():
        applied = apply_plan.resume_run(app, run_id, approval, answers, progress)
    print_applied(session, saved, applied, full=full)


@command.command(
    "replay",
    epilog=page_end(
        "pulsus runs replay RUN",
        exits={0: "done", 1: "a verdict differs today", 2: _EXITS[2], 75: "try again"},
    ),
)
@_run_argument
@full_option
@common()
def replay_command(session: CommandSession, run_id: str, full: bool) -> None:
    """Go through RUN again from its journal, without running anything.

    `last` is the newest run of a plan.

    Each step is shown in the order in which it ended, with the inputs that it had and its result.
    It also says if `pulsus apply` would still run this plan, or what of it was changed since. For a
    run of the agent, it decides again which calls may run, by the rules of now. The exit status is
    1 if one of them is decided differently.
    """
    from pulsus.cli.plan.replay_lines import replay_lines, replay_to_dict
    from pulsus.routing.plans.replay_run import replay_run

    run_id = _named_run(session, run_id)
    try:
        found = replay_run(session.app, run_id)
    except RunNotFound:
        from pulsus.bootstrap.agent_replay import replay_agent_run
        from pulsus.cli.plan.replay_lines import has_changed, verdict_lines, verdicts_to_dict

        verdicts = replay_agent_run(session.app, run_id)
        if verdicts is None:
            raise
        if session.json:
            console.document(verdicts_to_dict(run_id, verdicts))
        else:
            for line in verdict_lines(run_id, verdicts):
                console.echo(line, console.width())
        raise SystemExit(int(has_changed(verdicts))) from None
    if session.json:
        console.document(replay_to_dict(found))
        return
    for line in replay_lines(found, columns=console.layout_width(), full=full):
        console.echo(line, console.width())


@command.command(
    "undo",
    epilog=page_end(
        "pulsus runs undo RUN -o undo.yaml",
        exits={0: "done", 2: _EXITS[2], 5: "nothing can be undone", 75: "try again"},
    ),
)
@_run_argument
@click.option(
    "-o",
    "target",
    type=click.Path(path_type=Path),
    help="Write the plan to this file; without it, to stdout.",
)
@common()
def undo_command(session: CommandSession, run_id: str, target: Path | None) -> None:
    """Make the plan that reverses the writes of RUN, newest first. Nothing runs.

    `last` is the newest run of a plan.

    Review it, then run it with `pulsus apply`. Its notes name writes whose tool declares no
    `Undo:`, and files that were changed after RUN: the undo takes those changes back too.
    """
    from dataclasses import replace

    from pulsus.cli.plan.plan_command import check_target, print_plan
    from pulsus.routing.plans.apply_plan import later_edits
    from pulsus.routing.plans.undo_plan import make_undo_plan

    check_target(target)
    run_id = _named_run(session, run_id)
    undo = make_undo_plan(session.app, run_id)
    undo = replace(undo, notes=(*later_edits(session.app, run_id), *undo.notes))
    print_plan(session, undo, target)


def _named_run(session: CommandSession, said: str) -> str:
    """Return the id of the run. For `last`, also tell the person which run that is."""
    from pulsus.core.telemetry.sanitize import one_line
    from pulsus.routing.plans.apply_plan import newest_run

    if said != "last":
        return said
    run = newest_run(session.app)
    request = f": {one_line(run.request, 200)}" if run.request else ""
    console.note(f"last is {run.run_id}, {run.state}{request}")
    return run.run_id


def _needs_an_id(session: CommandSession, *, yes: bool, settled: Sequence[str]) -> UsageError:
    """Return the error for a decision about `last`, with the command for that run."""
    from pulsus.core.telemetry.sanitize import one_line
    from pulsus.routing.plans.apply_plan import newest_run

    run = newest_run(session.app)
    options = [*(["--yes"] if yes else []), *(f"--settle={each}" for each in settled)]
    given = " and ".join(["--yes"] * yes + ["--settle"] * bool(settled))
    request = f", {one_line(run.request, 200)!r}" if run.request else ""
    error = UsageError(
        f"{given} decides about one run, and `last` may be a run of another person: now it is "
        f"{run.run_id}{request}"
    )
    error.offer(
        f"look at it first: pulsus runs show {run.run_id}",
        f"if you mean it: {shlex.join(['pulsus', 'runs', 'resume', run.run_id, *options])}",
    )
    return error


def _parse_settled(settled: tuple[str, ...]) -> dict[str, Settlement]:
    """Return the answers by step. Raises UsageError."""
    found: dict[str, Settlement] = {}
    for text in settled:
        step, mark, answer = text.partition("=")
        if not (step and mark) or answer not in ("done", "again"):
            raise UsageError(
                f"--settle {text!r} is no answer", hint="write STEP=done or STEP=again"
            )
        found[step] = "done" if answer == "done" else "again"
    return found
