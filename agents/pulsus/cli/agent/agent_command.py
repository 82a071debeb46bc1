"""`pulsus agent`: one request to the agent.

`agent/loop/turn_budget.py` limits the turns of a run, and `agent/control/call_verdict.py` decides
if a call runs. Without a terminal no person is asked (`cli/command_session.py`). Without a model
the router's tools are offered here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import LlmNotConfigured, NothingFits, PulsusError, UsageError

if TYPE_CHECKING:
    from pulsus.agent.agent_session import AgentSession, AskEnd
    from pulsus.agent.control.call_verdict import ControlLevel
    from pulsus.cli.agent.event_view import AgentRunSummary
    from pulsus.core.types import RouteOutcome

LEVELS = ("read_only", "controlled", "autonomous")
_OFFERED = 3
_LEAST_P = 0.05

EXITS: Final[Mapping[int, str]] = {
    0: "answered",
    1: "out of turns or time",
    2: "usage or settings",
    4: "no person can give an approval or your token",
    5: "no model is configured",
    6: "blocked by policy or budget, or refused by the server",
    75: "the model or the server is away, try again",
}
"""The meaning of each exit code of a request. `/why` of `pulsus chat` names them too."""

EPILOG = page_end(
    'pulsus agent "which file systems are nearly full, and what fills them"',
    'pulsus agent "is @cron running, and since when" --output ndjson',
    'pulsus agent "restart @cron" --control-level controlled',
    'pulsus agent "restart @cron" --server https://ops.example.org:8765',
    'pulsus agent "rotate the log /var/log/app.log" --save-plan plan.yaml',
    notes=(
        "\n".join(
            (
                "Control levels:",
                "  read_only   searches and reads; a wanted change is suggested, not made",
                "  controlled  a change needs your approval, for exactly that call",
                "  autonomous  a change runs where the policy does not ask for approval",
            )
        ),
    ),
    exits=EXITS,
)

level_option = click.option(
    "--control-level",
    "level",
    type=click.Choice(LEVELS),
    help="What the agent may do. [default: agent.control_level, read_only]",
)
turns_option = click.option(
    "--max-turns",
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Most questions to the model. [default: agent.json_max_turns, 5; if the model calls tools "
    "itself, agent.max_turns, 20]",
)


@click.command(epilog=EPILOG)
@click.argument("request", nargs=-1, required=True, metavar="REQUEST")
@level_option
@turns_option
@click.option(
    "--save-plan",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write suggested changes as a plan, for `pulsus show` and `pulsus apply`.",
)
@click.option(
    "--server",
    metavar="URL",
    help="Let this running `pulsus serve` do it: changes are approved on its page. "
    "The variable PULSUS_SERVER_TOKEN has your token.",
)
@common("ndjson")
def command(
    session: CommandSession,
    request: tuple[str, ...],
    level: ControlLevel | None,
    max_turns: int | None,
    target: Path | None,
    server: str | None,
) -> None:
    """Let a language model answer REQUEST with the tools of this machine and of the catalogue.

    The model proposes tool calls, and code decides which of them run. By default nothing is
    changed. Name what you mean with @: "why does @nginx restart". A name with blanks goes in
    quotes. The answer goes to stdout, what the agent does to stderr; --output ndjson prints every
    event as it happens. Each run has a trace, logs/runs/RUN/steps.log.
    """
    from pulsus.bootstrap.build_agent_session import make_agent_session
    from pulsus.cli.agent.event_view import AgentRunSummary, LiveView, print_event
    from pulsus.cli.agent.run_request import fan_out, leave_now, run_request
    from pulsus.cli.agent.terminal_approver import TerminalApprover

    text = " ".join(request)
    if not text.strip():
        raise UsageError("the request is empty", hint='say what to do: pulsus agent "REQUEST"')
    if server is not None:
        if level or max_turns or target:
            raise UsageError(
                "--server goes without --control-level, --max-turns and --save-plan",
                hint="the settings of the server decide",
            )
        _run_on_server(session, server, text)
    if target is not None:
        from pulsus.core.compose.saved_plans.saved_plan_file import require_plan_or_new

        # Before a run whose suggestions could not be written.
        require_plan_or_new(target, option="--save-plan")
    approver = TerminalApprover() if session.interactive else None
    rows = 8 if session.verbosity > 0 or console.is_terminal(sys.stderr) else 0
    summary, live = AgentRunSummary(), LiveView(quiet=session.verbosity < 0, rows=rows)
    show = print_event if session.output == "ndjson" else live
    try:
        # First, because without a model the extra `agent` would be installed for nothing.
        session.app.model()
        agent = make_agent_session(session.app, approver, level)
        done = run_request(
            agent, text, fan_out(summary, show), max_turns=max_turns, approver=approver
        )
    except LlmNotConfigured as missing:
        raise _offer_route(session, text, missing) from None
    except PulsusError as error:
        _print_error_event(session, error)
        raise
    saved = _save_plan(session, agent, text, summary, target)
    _print_end(session, done, summary, saved)
    if done.end.exit_status == 130:
        leave_now(130)
    raise SystemExit(done.end.exit_status)


def _run_on_server(session: CommandSession, address: str, text: str) -> NoReturn:
    """Show the run of a server, and end with its status."""
    from pulsus.cli.agent.event_view import AgentRunSummary, LiveView, print_event
    from pulsus.cli.agent.run_request import fan_out
    from pulsus.cli.agent.server_run import run_on_server
    from pulsus.cli.server_client import connect_server

    summary, live = AgentRunSummary(), LiveView(quiet=session.verbosity < 0, rows=0)
    show = print_event if session.output == "ndjson" else live
    status = run_on_server(connect_server(address), text, fan_out(summary, show))
    if session.json:
        body: dict[str, Any] = {"ok": status == 0, **_summary_fields(summary)}
        if status:
            message = summary.errors[-1] if summary.errors else "the run was stopped"
            body["error"] = {"code": "AGENT_ENDED", "message": message, "hint": "", "details": {}}
        console.document(body)
    elif session.output == "text" and summary.summary is not None:
        from pulsus.cli.agent.event_view import answer_text

        console.result(answer_text(summary.summary, summary.note))
    raise SystemExit(status)


def _summary_fields(summary: AgentRunSummary) -> dict[str, Any]:
    return {
        "run_id": summary.run_id,
        "summary": summary.summary,
        "confidence": summary.confidence,
        "suggested": summary.suggested,
        "changed": summary.changed,
        "note": summary.note,
        "unresolved": [],
        "turns": summary.turns,
        "calls": summary.calls,
        "plan_file": None,
    }


def _print_end(
    session: CommandSession, done: AskEnd, summary: AgentRunSummary, saved: str | None
) -> None:
    """Print the answer, and on stderr how the run went."""
    end = done.end
    if session.json:
        console.document(_end_document(done, summary, saved))
        return
    if session.output == "text" and summary.summary is not None:
        from pulsus.cli.agent.event_view import answer_text

        console.result(answer_text(summary.summary, summary.note))
    if session.output == "text" and end.error is not None:
        console.fail(end.error, as_json=False)
    if session.verbosity < 0:
        return
    for name in done.prefetched.unresolved:
        console.warn(f"{name} was not found on this machine")
    if end.exit_status == 4:
        console.note("it waits for an approval: run it at a terminal, or without the change")
    for each in summary.suggested if session.output == "text" else ():
        console.note(_suggestion_line(each))
    if session.output == "text":
        parts = [
            console.counted(summary.turns, "turn"),
            console.counted(len(summary.calls), "call"),
        ]
        if summary.confidence:
            parts[:0] = filter(None, [f"confidence {summary.confidence}", summary.deeds])
        console.note(f"{', '.join(parts)}, {done.run_id}")


def _end_document(done: AskEnd, summary: AgentRunSummary, saved: str | None) -> dict[str, Any]:
    end = done.end
    body: dict[str, Any] = {
        "ok": end.exit_status == 0,
        "run_id": done.run_id,
        "summary": summary.summary,
        "confidence": summary.confidence,
        "suggested": summary.suggested,
        "changed": summary.changed,
        "note": summary.note,
        "unresolved": [*done.prefetched.unresolved],
        "turns": summary.turns,
        "calls": summary.calls,
        "plan_file": saved,
    }
    if end.exit_status:
        text = summary.errors[-1] if summary.errors else end.summary
        code = {1: "AGENT_ENDED", 4: "APPROVAL_REQUIRED", 130: "ABORTED"}.get(end.exit_status)
        details = summary.waiting if end.exit_status == 4 and summary.waiting else {}
        found = end.error
        body["error"] = {
            "code": found.code if found else code or "AGENT_ENDED",
            "message": found.message if found else text,
            "hint": found.hint if found else "",
            "details": details,
        }
    return body


def _suggestion_line(each: Any) -> str:
    args = " ".join(f"{name}={value}" for name, value in each["args"].items())
    return f"suggested, risk {each['risk']}: {each['tool']} {strip_controls(args)}"


def _save_plan(
    session: CommandSession,
    agent: AgentSession,
    request: str,
    summary: AgentRunSummary,
    target: Path | None,
) -> str | None:
    """Write the suggestions to the file that --save-plan names. Returns its name, or None."""
    if target is None:
        return None
    if not summary.suggested:
        console.warn(f"nothing was suggested, so {target} is not written")
        return None
    from pulsus.cli.agent.suggested_plan import save_suggestions

    calls = [each for each in summary.suggested if isinstance(each, dict)]
    try:
        steps, left_out = save_suggestions(
            session.app, agent.parts.tools.by_name, request, calls, target
        )
    except NothingFits as none_left:
        console.warn(f"{none_left.message}; {none_left.hint}")
        return None
    console.note(f"wrote {target}: {console.counted(steps, 'step')}; pulsus show {target}")
    for name in left_out:
        console.warn(f"the suggestion of {name} is not in {target}: it is built into the agent")
    return str(target)


def _print_error_event(session: CommandSession, error: PulsusError) -> None:
    """Print a failure before the first event, for a reader of ndjson."""
    if session.output == "ndjson":
        from pulsus.agent.agent_events import agent_event
        from pulsus.cli.agent.event_view import print_event

        print_event(agent_event("agent_error", error=f"{error.code}: {error.message}"))


def _offer_route(session: CommandSession, text: str, missing: LlmNotConfigured) -> PulsusError:
    """Return the error for a missing model, with what the router alone finds."""
    from pulsus.routing.delivery.route_run import RouteOptions

    _print_error_event(session, missing)
    outcome = session.app.router(None).route(text, RouteOptions(plan=True))
    found = [each for each in _chosen_first(outcome) if each[1] >= _LEAST_P][:_OFFERED]
    error = LlmNotConfigured(
        "the agent needs a language model, and none is configured: model.base_url is empty; "
        "nothing was changed",
        candidates=[{"tool": name, "p": round(p, 3)} for name, p in found],
    )
    ways = [missing.hint]
    if found:
        named = ", ".join(f"{name} (p {p:.2f})" for name, p in found)
        ways.append(f"without a model the router finds {named}: pulsus {_quoted(text)}")
    else:
        ways.append("without a model the router finds no tool for this request")
    error.offer(*ways)
    return error


def _chosen_first(outcome: RouteOutcome) -> list[tuple[str, float]]:
    chosen = [tool.id for tool in outcome.decision.selected]
    rest = {one.tool.id: one.p for one in outcome.candidates}
    first = [(name, rest.get(name, 1.0)) for name in chosen]
    return [*first, *((name, p) for name, p in rest.items() if name not in chosen)]


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
