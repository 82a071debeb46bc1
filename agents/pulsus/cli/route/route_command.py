"""`pulsus route`: decide a request, and carry the decision out (spec §12).

The stages of a route are in `routing/router.py`; here options that exclude each other are refused.
A result that a default limit may have cut is found in `cli/results/row_limit.py`. The status lines
are printed by `cli/route/route_status.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import (
    cache_option,
    common,
    embeddings_option,
    exit_status_option,
    fill_option,
    full_option,
    input_option,
    kind_option,
    model_option,
    rag_option,
)
from pulsus.cli.route.route_status import RouteStatus
from pulsus.errors import InputPathUnusable, InputPathWrongSort, UsageError

if TYPE_CHECKING:
    from pulsus.core.types import Promotion, RouteOutcome, ToolSpec
    from pulsus.routing.delivery.route_run import RouteOptions

EPILOG = page_end(
    'pulsus route "which file systems are nearly full" --explain --dry-run',
    'pulsus route "summarise the matrix in m.csv then plot it" --plan',
    'pulsus route "how much memory is free" --run',
    'pulsus route "biggest files" --run --input folder=/var/log',
    exits={
        0: "done",
        1: "the tool, or its script, failed",
        2: "usage or settings",
        3: "validation",
        4: "needs an answer or approval",
        5: "nothing fits, or no model",
        6: "denied",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("request", nargs=-1, required=True)
@click.option("--plan", is_flag=True, help="Print the plan and stop.")
@click.option(
    "--explain",
    is_flag=True,
    help="Print scores, features, weights and tie-breakers. Alone, it stops there.",
)
@click.option(
    "--dry-run", is_flag=True, help="Validate, print report and plan, and stop before promotion."
)
@click.option("--run", is_flag=True, help="Run the selected tool, also in a pipe.")
@input_option
@fill_option
@model_option
@cache_option(help="Use the discovery index of earlier runs. [default: on]")
@rag_option
@embeddings_option
@kind_option
@full_option
@exit_status_option
@common()
def command(
    session: CommandSession,
    request: tuple[str, ...],
    plan: bool,
    explain: bool,
    dry_run: bool,
    run: bool,
    inputs: tuple[str, ...],
    fill: bool,
    full: bool,
    pass_status: bool,
) -> None:
    """Find, compose or generate what REQUEST asks for, in plain words.

    Pulsus ranks the tools under workflows/. It selects one tool, or composes several into a plan.
    A new tool is validated in a sandbox and, once you approve it, promoted. On a terminal a
    promoted tool that only reads then runs; elsewhere --run is needed.
    """
    from pulsus.cli import console
    from pulsus.routing.delivery.route_run import GenerationRequest, RouteOptions

    looks = plan or explain or dry_run
    run = run or (not looks and _is_conversation(session))
    status = RouteStatus(session)
    options = RouteOptions(
        plan=plan,
        explain=explain,
        dry_run=dry_run,
        run=run,
        inputs=inputs,
        fill=fill,
        wanted=GenerationRequest(
            report_progress=console.line_progress(quiet=session.verbosity < 0)
        ),
        announce=status.announce,
    )
    _check(options, pass_status=pass_status)
    router = session.app.router(session.person)
    try:
        outcome = router.route(" ".join(request), options)
    except InputPathWrongSort as error:
        other = "if another tool is meant: pulsus feedback last --right TOOL, then ask again"
        error.offer(f"{error.hint}; {other}")
        raise
    print_outcome(status, outcome, options, full=full, pass_status=pass_status)


def _is_conversation(session: CommandSession) -> bool:
    """Return True for `pulsus "REQUEST"` at a terminal: it ends with the answer."""
    bare = click.get_current_context().meta.get("pulsus.bare", False)
    person = session.person is not None and not session.json
    return (
        bool(bare) and person and console.is_terminal(sys.stdin) and console.is_terminal(sys.stdout)
    )


def print_outcome(
    status: RouteStatus,
    outcome: RouteOutcome,
    options: RouteOptions,
    *,
    full: bool = False,
    pass_status: bool = False,
) -> NoReturn:
    """Print the outcome of a request, and leave with its exit status.

    With `--run` the tool's result is alone on stdout; `full` shows all of it. With `pass_status`
    the exit status of the script that ran replaces that of the outcome.
    """
    ended = _script_status(outcome) if pass_status else None
    from pulsus.cli import command_warnings
    from pulsus.cli.render import outcome_json

    session = status.session
    command_warnings.show_warnings(session)
    if options.plan and (network := session.app.proving.network):
        notes = network.notes(outcome.decision.selected)
        outcome = replace(outcome, notes=(*outcome.notes, *notes))
    if outcome.ran:
        outcome = replace(outcome, notes=(*outcome.notes, *_limit_notes(outcome)))
    if session.json:
        told = session.app.ranking.index.calibration if options.explain else None
        body = outcome_json.outcome(outcome, session.project, told)
        console.end_document(body, outcome.failure, ended)
    status.finish(outcome, options)
    if options.plan:
        _note_what_a_plan_lacks(outcome)
    if outcome.ran:
        from pulsus.cli.results.print_result import print_result
        from pulsus.cli.results.result_parts import result_parts

        status.part_from_result()
        decision = outcome.decision
        parts = list(result_parts(outcome.result, decision.plan, decision.selected))
        print_result(outcome.result, full=full, parts=parts, request=outcome.intent.intent)
    if outcome.failure:
        _tell_mistyped_paths(session, outcome)
        console.fail(outcome.failure, as_json=False)
    elif outcome.promotion and not outcome.ran and console.is_terminal(sys.stderr):
        _tell_how_to_run(outcome, outcome.promotion)
    elif options.explain and not options.plan and outcome.decision.selected:
        _tell_that_it_stops(options)
    elif outcome.decision.selected:
        _tell_that_a_pipe_runs_nothing(session, options, outcome)
    console.leave(outcome.failure, ended)


def _tell_mistyped_paths(session: CommandSession, outcome: RouteOutcome) -> None:
    """Tell of each path of a failed request that does not exist, if a similar one does."""
    from pulsus.core.arguments.spans.find_spans import find_spans
    from pulsus.core.telemetry.sanitize import one_line
    from pulsus.core.text.similar_names import similar_path

    found = find_spans(outcome.intent.intent)
    if session.verbosity < 0 or isinstance(outcome.failure, InputPathUnusable):
        return
    for text in dict.fromkeys(each.text for each in found.values if each.kind in ("path", "file")):
        if near := similar_path(text):
            console.note(f"note: {text} does not exist, but {one_line(near, 200)} does")


def _limit_notes(outcome: RouteOutcome) -> Iterator[str]:
    """Yield a note for each tool whose rows a default limit may have cut."""
    from pulsus.cli.results.row_limit import limit_notes

    decision = outcome.decision
    given = {name for name, value in outcome.inputs.items() if value.source != "default"}
    return limit_notes(outcome.result, decision.plan, decision.selected, given)


def _tell_how_to_run(outcome: RouteOutcome, promotion: Promotion) -> None:
    """Name the command that runs what was promoted, with the inputs that are known or proposed."""
    from pulsus.approvals.run_consent import input_options, run_command
    from pulsus.routing.inputs.route_inputs import call_values

    given = list(input_options(call_values(outcome)))
    command = f"{run_command(promotion.tool_id, given)} {_missing_options(outcome)}".rstrip()
    console.note(f"run it: {console.in_given_places(command)}")


def _missing_options(outcome: RouteOutcome) -> str:
    """Return `--input` options for the missing inputs, with the values the request proposes."""
    from pulsus.routing.inputs.missing_words import proposed_options, types_of

    proposed = {name: one.value for name, one in outcome.proposed.items()}
    return proposed_options(types_of(outcome.missing), proposed)


def _tell_that_it_stops(options: RouteOptions) -> None:
    """Say on a terminal that `--explain` alone runs nothing, and what does."""
    if options.run or options.dry_run or not console.is_terminal(sys.stderr):
        return
    console.note("nothing ran; add --run to run it too")


def _tell_that_a_pipe_runs_nothing(
    session: CommandSession, options: RouteOptions, outcome: RouteOutcome
) -> None:
    """Say in a pipe or a script, where a request is only decided, how to run it.

    `pulsus route` asks for a decision, so it is told this only if an input is missing.
    """
    stops = options.run or options.plan or options.dry_run
    bare = click.get_current_context().meta.get("pulsus.bare", False)
    asks_inputs = bool(outcome.missing) and not console.is_terminal(sys.stdout)
    if stops or session.verbosity < 0 or not (bare or asks_inputs):
        return
    needed = f" {_missing_options(outcome)}".rstrip()
    console.note(
        "nothing ran: in a pipe or a script a request is only decided; "
        + (_confirming_command(session, outcome, needed) or f"add --run{needed} to run it")
    )


def _confirming_command(session: CommandSession, outcome: RouteOutcome, needed: str) -> str:
    """Return how to confirm and run a decision that may write; an empty text for reads.

    `--run` alone would not run it in a pipe. `needed` are the options of missing inputs.
    """
    from pulsus.approvals.run_consent import input_options, run_command
    from pulsus.routing.delivery.candidate_module import pinned_steps, read_module
    from pulsus.routing.inputs.route_inputs import call_values
    from pulsus.routing.plans.save_plan import promoted_version

    used: list[ToolSpec] = []
    for tool in outcome.decision.selected:
        steps = pinned_steps(session.app, read_module(tool.path))
        each = (tool, *(step for step, _ in steps.values()))
        used += [promoted_version(session.app, one)[1] for one in each]
    if outcome.promotion is None or all(tool.kind != "write" for tool in used):
        return ""
    given = list(input_options(call_values(outcome)))
    command = f"{run_command(outcome.promotion.tool_id, given)}{needed}"
    if any(tool.approval == "approver" for tool in used):  # `--yes` does not stand for one
        return f"run it at a terminal and type its target: {console.in_given_places(command)}"
    return f"confirm and run it: {console.in_given_places(f'{command} --yes')}"


def _script_status(outcome: RouteOutcome) -> int | None:
    """Return the status of the script that ran. Tell the user if the tool has none."""
    from pulsus.execution.script_exit_status import to_process_status

    if outcome.script_exit_status is not None:
        return to_process_status(outcome.script_exit_status)
    if outcome.ran:
        ran = ", ".join(tool.id for tool in outcome.decision.selected)
        console.note(f"note: --exit-status has no effect: {ran} returned no exit_status")
    return None


def _note_what_a_plan_lacks(outcome: RouteOutcome) -> None:
    """Say on stderr what the plan on stdout cannot: inputs, notes, the nearest tools of a miss."""
    from pulsus.cli.render import outcome_text
    from pulsus.cli.render.inputs_text import input_lines
    from pulsus.cli.render.validation_text import TAG

    for line in input_lines(outcome, given=console.width() is None):
        console.note(line.removeprefix(f"{TAG} "))
    if outcome.decision.policy == "generate":
        for line in outcome_text.nearest_tools(outcome):
            console.note(line)
    for note in outcome.notes:
        console.note(f"note: {note}")


def _check(options: RouteOptions, *, pass_status: bool) -> None:
    """Refuse flags that rule each other out; say which one has no effect."""
    if options.run and (options.plan or options.dry_run):
        raise UsageError(
            f"--run needs a promotion; {'--plan' if options.plan else '--dry-run'} stops before it",
            hint="leave out one of the two",
        )
    if pass_status and not options.run:
        raise UsageError("--exit-status needs a tool that runs", hint="add --run")
