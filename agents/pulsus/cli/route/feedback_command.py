"""`pulsus feedback`: tell which tool was right.

The run is found, and the row made, in `routing/record_feedback.py`;
`core/memory/feedback_weights.py` decides how much it counts.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_routes, complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.core.telemetry.sanitize import one_line, strip_controls
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.routing.feedback_effect import FeedbackEffect


EPILOG = page_end(
    "pulsus feedback last --right storage/usage/disk_usage",
    "pulsus feedback run-20260301-120000-1a2b3c --none",
    "pulsus feedback last --undo",
    exits={0: "noted", 2: "usage, settings, or no such run or tool"},
)


@click.command(epilog=EPILOG)
@click.argument("run_id", metavar="RUN", shell_complete=complete_routes)
@click.option(
    "--right",
    "right",
    multiple=True,
    metavar="TOOL",
    shell_complete=complete_tools,
    help="The tool that was right for the request; repeatable.",
)
@click.option("--none", "nothing", is_flag=True, help="No tool here fits the request.")
@click.option("--undo", is_flag=True, help="Take back the feedback on RUN.")
@common()
def command(
    session: CommandSession, run_id: str, right: tuple[str, ...], nothing: bool, undo: bool
) -> None:
    """Say which tool was right for the request of RUN. A tool chosen instead was wrong.

    RUN is the run_id that a route prints last, which is also a folder in logs/runs. A route_id
    means its newest run, and `last` the newest request of all; `pulsus run` does not count. Similar
    requests follow the feedback from now on, unless an anti-intent or the threshold prevents it.
    The output says what the next route will do. Later feedback on a request replaces earlier
    feedback, and --undo takes back that of RUN.
    """
    from pulsus.cli import command_warnings
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing import record_feedback
    from pulsus.routing.feedback_effect import feedback_effect

    if (bool(right), nothing, undo).count(True) != 1:
        raise UsageError(
            "give one of --right TOOL, --none and --undo",
            hint=f"pulsus feedback {run_id} --right TOOL",
        )
    app = session.app
    _ = app.catalogue  # first: outside a project there is no run either, but that is not the reason
    tools = tuple(dict.fromkeys(app.tool(ref).id for ref in right))
    run = record_feedback.find_run(run_id, app.past.routes, app.log_dir)
    row = (
        record_feedback.undo_row(run, app.past.routes, utc_now())
        if undo
        else record_feedback.feedback_row(run, tools, app.past.routes, utc_now())
    )
    if row:
        app.remember(row)
    wrong = () if row is None else row.tools if nothing else row.wrong
    now = replace(app)  # opened anew: it knows what was just said
    coming = feedback_effect(now, run.request, tools)
    if undo:  # there is no feedback that the next route could fail to follow
        coming = replace(coming, still_selected=())
    command_warnings.show_warnings(session)
    request = app.redactor.redact(run.request)
    if session.json:
        console.document(
            {
                "ok": True,
                "run_id": run.run_id,
                "request": request,
                "right": list(tools),
                "wrong": list(wrong),
                "undone": undo and row is not None,
                "recorded": row is not None,
                "next": _next(coming),
            }
        )
        return
    said = one_line(request, 80)
    if undo:
        console.echo(f"{'taken back' if row else 'no feedback to take back'}: {said!r}")
        other = None if row else record_feedback.run_with_feedback(run, app.past.routes)
        if other:
            console.echo(
                f"this run has no feedback; {other} of this request has: "
                f"pulsus feedback {other} --undo"
            )
    else:
        right_tools = ", ".join(tools) or "nothing fits"
        console.echo(f"{'noted' if row else 'known'}: {said!r} → {right_tools}")
    if wrong:
        console.echo(f"marked as wrong for it: {', '.join(wrong)}")
    for line in _effect_lines(coming, request):
        console.echo(strip_controls(line))


def _next(coming: FeedbackEffect) -> dict[str, object]:
    return {
        **console.json_fields(coming, "policy selected p:6 tau reason as_told"),
        "missed": [console.json_fields(m, "tool code reason fix?") for m in coming.missed],
    }


def _effect_lines(coming: FeedbackEffect, request: str) -> Iterator[str]:
    """Yield what the next route of the request does, and why it does not follow the feedback."""
    p = "" if coming.p is None else f", p {coming.p:.2f}"
    if coming.selected:
        yield f"the next route selects: {', then '.join(coming.selected)}{p}"
    else:
        yield "the next route selects: nothing" + ("" if coming.missed else f" ({coming.reason})")
    for missed in coming.missed:
        fix = f"; {missed.fix}" if missed.fix else ""
        yield f"the feedback is not enough for {missed.tool}: {missed.reason}{fix}"
        yield f"  see pulsus explain {shlex.quote(request)} --why-not {missed.tool}"
    for tool in coming.still_selected:
        yield (
            f"the feedback is not enough to rule out {tool}, because its own words fit the "
            "request; add words of the request as anti_intents to its manifest"
        )
