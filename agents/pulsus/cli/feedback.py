"""`pulsus feedback`: tell which tool was right."""

from __future__ import annotations

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.core.telemetry.printable import one_line
from pulsus.errors import UsageError


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--right",
    "right",
    multiple=True,
    metavar="TOOL",
    help="The tool that was right for the request; again for each further one.",
)
@click.option("--none", "nothing", is_flag=True, help="No tool here fits the request.")
@common()
def command(session: Session, run_id: str, right: tuple[str, ...], nothing: bool) -> None:
    """Remember which tool was right for the request of RUN; one that was chosen instead was wrong.

    RUN is a run's id: the run_id of `route --output json`, or its folder's name in logs/runs.
    Requests like it are routed accordingly from now on. The last word on a run counts.

    \b
    Examples:
      pulsus feedback run-20260301-120000-1a2b3c --right storage/usage/disk_usage
      pulsus feedback run-20260301-120000-1a2b3c --none
    """
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing import feedback

    if bool(right) == nothing:
        raise UsageError(
            "say either which tool was right, or that none was",
            hint=f"pulsus feedback {run_id} --right TOOL",
        )
    app = session.app
    tools = tuple(dict.fromkeys(app.tool(ref).id for ref in right))
    run = feedback.find(run_id, app.routes, app.log_dir)
    row = feedback.row(run, tools, app.routes, utc_now())
    if row:
        app.remember(row)
    wrong = () if row is None else row.tools if nothing else row.wrong
    if session.json:
        output.document(
            {
                "ok": True,
                "run_id": run.run_id,
                "request": app.redactor.redact(run.request),
                "right": list(tools),
                "wrong": list(wrong),
                "recorded": row is not None,
            }
        )
        return
    said = one_line(app.redactor.redact(run.request), 80)
    click.echo(f"{'noted' if row else 'known'}: {said!r} → {', '.join(tools) or 'nothing fits'}")
    if wrong:
        click.echo(f"not {', '.join(wrong)}")
