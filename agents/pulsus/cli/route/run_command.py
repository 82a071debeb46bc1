"""`pulsus run`: run one promoted tool with given inputs.

If the tool may run is decided in `routing/runs/run_checks.py`, and a write asks for consent in
`approvals/run_consent.py`. `--unconfined` needs a person at a terminal, which is decided here.
`--exit-status` ends with the status of the wrapped script (`execution/script_exit_status.py`). A
tool's output is shown without control characters.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common, exit_status_option, full_option, input_option
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import ApprovalNeeded, UsageError

if TYPE_CHECKING:
    from pulsus.cli.prompts.approval_prompt import Terminal
    from pulsus.core.types import JsonValue, ToolSpec
    from pulsus.execution.confinement.choose_confinement import Mode
    from pulsus.execution.tool_process import RunResult


EPILOG = page_end(
    "pulsus run disk_usage",
    "pulsus run biggest_files --input folder=/var/log --input limit=5",
    "pulsus run save_report --input markdown=@notes.md --input path=copy.md --yes",
    exits={
        0: "done",
        1: "the tool, or its script, failed, or the change is not confirmed",
        2: "usage or settings",
        4: "an input, a confirmation or a record is missing",
        6: "not promoted, or denied by [access]",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("tool_id", metavar="ID", shell_complete=complete_tools)
@input_option
@click.option(
    "--yes", is_flag=True, help="Confirm a tool that may write; your user name is recorded."
)
@click.option(
    "--unconfined",
    is_flag=True,
    help="Run a read with all your rights. The terminal asks each time.",
)
@full_option
@exit_status_option
@common()
def command(
    session: CommandSession,
    tool_id: str,
    inputs: tuple[str, ...],
    yes: bool,
    unconfined: bool,
    full: bool,
    pass_status: bool,
) -> None:
    """Run the promoted tool ID on this machine, in a child process.

    ID is as in `pulsus tools list`: storage/usage/disk_usage, or its last part.

    Only promoted tools with verified hashes run. Candidates do not run, and tools that the settings
    under [access] exclude do not run either. A tool that reads is confined: it changes no file, and
    reaches only the hosts it declares. A tool that may write needs your confirmation on the
    terminal or by --yes, unless you pass dry_run=true. After a change, the read under `Verify:` of
    its contract checks it.
    The result goes to stdout, the tool's own output to stderr.
    On a terminal the result is laid out to be read; a pipe gets exact values in plain columns.
    If a tool wraps a script, a status that its contract does not call a success ends this with 1.
    """
    from pulsus.approvals.run_consent import RunApproval
    from pulsus.cli.render.verification_json import verification_json
    from pulsus.execution.parse_inputs import parse_inputs
    from pulsus.execution.script_exit_status import to_process_status
    from pulsus.routing.delivery.candidate_module import pinned_steps, read_module
    from pulsus.routing.inputs.missing_inputs import ask_for_inputs, is_required
    from pulsus.routing.inputs.missing_words import IncompleteCall
    from pulsus.routing.plans.verified_run import run_verified
    from pulsus.routing.runs.run_checks import check_access, require_approved_records
    from pulsus.routing.runs.run_promoted import ToolRun

    app = session.app
    for line in app.ranking.access_warnings if session.verbosity >= 0 else ():
        console.warn(line)
    tool = app.tool(tool_id)
    source = read_module(tool.path)
    # Inputs that a person gives to a tool that may not run are work for nothing.
    check_access(app, tool, [step for step, _ in pinned_steps(app, source).values()])
    person = session.person
    if pass_status:
        _require_exit_status(tool)
    values = parse_inputs(inputs, tool.args)
    missing = [a for a in tool.args if is_required(a) and a.name not in values]
    if missing:
        users = {arg.name: tool.name for arg in missing}
        options = {
            "--yes": yes,
            "--unconfined": unconfined,
            "--full": full,
            "--exit-status": pass_status,
        }
        flags = (option for option, is_given in options.items() if is_given)
        call = IncompleteCall(("pulsus", "run", tool_id, *flags), inputs)
        values |= ask_for_inputs(missing, {}, person, users, call)
    consent = RunApproval(person, yes=yes, given=inputs)
    relay = None if session.verbosity < 0 else _relay
    if unconfined:
        # No person is asked about a tool that is refused whatever the answer.
        require_approved_records(app, (tool,), "off")
        _confirm_unconfined(tool.id, inputs, person)
    mode: Mode = "off" if unconfined else "wanted"
    done, _ = run_verified(app, ToolRun(tool, source, values, consent, relay, mode))
    status = None
    if pass_status and done.script_exit_status is not None:
        status = to_process_status(done.script_exit_status)
    if session.json:
        body = console.json_fields(
            done, "result duration_ms confinement exit_status=script_exit_status"
        )
        body |= verification_json(done.verification)
        console.end_document({"ok": True, "tool": tool.id, **body}, done.failure, status)
    if session.verbosity >= 0:
        _warn(done.confinement)
        _tell_verification(session, tool, values, done)
    _print_result(session, tool, source, done.result, values, full=full)
    if done.failure:
        console.fail(done.failure, as_json=False)
    console.leave(done.failure, status)


def _tell_verification(
    session: CommandSession, tool: ToolSpec, values: Mapping[str, JsonValue], done: RunResult
) -> None:
    """Say if the change is verified, and the command that takes it back if that can be shown."""
    from pulsus.routing.plans.verified_run import verification_note

    note = verification_note(done.verification, done.result)
    is_verified = done.verification is not None and done.verification.ok
    if note:
        (console.note if is_verified else console.warn)(note)
    if not (is_verified and tool.undo):
        return
    from pulsus.routing.plans.undo_plan import render_undo_command  # most runs need none

    if command := render_undo_command(session.app, tool, values, done.result):
        console.note(f"to take it back: {console.in_given_places(command)}")


def _print_result(
    session: CommandSession,
    tool: ToolSpec,
    source: bytes,
    result: JsonValue,
    given: Mapping[str, JsonValue],
    *,
    full: bool,
) -> None:
    """Print the result, and before it a note if a default limit may have cut its rows."""
    from pulsus.cli.results.print_result import print_result
    from pulsus.cli.results.result_parts import result_parts
    from pulsus.cli.results.row_limit import limit_notes
    from pulsus.core.compose.plans.module_source import read_plan

    plan = read_plan(source)
    steps = [session.app.tool(step.tool) for step in plan.steps] if plan else [tool]
    if session.verbosity >= 0:
        for line in limit_notes(result, plan, steps, given):
            console.note(f"note: {line}")
    print_result(result, full=full, parts=list(result_parts(result, plan, steps)))


def _require_exit_status(tool: ToolSpec) -> None:
    """Raise UsageError for a tool without an exit status of its own."""
    if not tool.success_statuses:
        raise UsageError(
            f"{tool.id} wraps no script: its contract has no output exit_status",
            hint="leave --exit-status out; a tool declares it under `Returns:`",
            tool=tool.id,
        )


def _confirm_unconfined(tool_id: str, inputs: Sequence[str], person: Terminal | None) -> None:
    """Raise ApprovalNeeded unless a person at the terminal says yes now; no flag stands for it."""
    from pulsus.approvals.run_consent import run_command

    confined = run_command(tool_id, inputs)
    if person is None or not sys.stdin.isatty():
        raise ApprovalNeeded(
            f"{tool_id} is run without confinement only by a person at a terminal",
            hint=f"run it at a terminal, or leave --unconfined out: {confined}",
            tool=tool_id,
        )
    if not person.confirm_unconfined(tool_id):
        raise ApprovalNeeded(
            "not run: you did not confirm it", hint=f"to run it confined: {confined}", tool=tool_id
        )


def _warn(confinement: Mapping[str, JsonValue]) -> None:
    """Say on stderr what could not be enforced."""
    if confinement.get("files") == "none":
        why = confinement.get("why")
        said = "; ".join(map(str, why)) if isinstance(why, list) else str(why)
        console.warn(f"the tool ran unconfined, with all your rights: {said}")


def _relay(chunk: bytes) -> None:
    """Pass the tool's output to the person, without control characters."""
    sys.stderr.write(strip_controls(chunk.decode("utf-8", "replace")))
    sys.stderr.flush()
