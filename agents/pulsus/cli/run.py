"""`pulsus run`."""

from __future__ import annotations

import sys

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.core.telemetry.printable import strip_controls


@click.command()
@click.argument("tool_id", metavar="ID")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="K=V",
    help="An argument: k=v typed by its hint, k=@FILE, k:=JSON.",
)
@click.option(
    "--yes", is_flag=True, help="You confirm a tool that may write; recorded with your user name."
)
@common()
def command(session: Session, tool_id: str, inputs: tuple[str, ...], yes: bool) -> None:
    """Run the promoted tool ID on this machine, in a child process, with your rights.

    Only promoted, hash-verified tools run; a candidate never does, nor one that the settings under
    [access] leave out. One that may write is confirmed on the terminal or with --yes, unless its
    dry_run is true; where nobody can be asked it ends with 4. The result goes to stdout as JSON,
    what the tool prints to stderr.

    \b
    Examples:
      pulsus run disk_usage
      pulsus run storage/usage/biggest_files --input folder=/var/log --input limit=5
      pulsus run save_report --input markdown=@r.md --input path=out.md --input dry_run=false --yes
    """
    from pulsus.cli.approve import Terminal
    from pulsus.execution.inputs import parse_inputs
    from pulsus.routing.consent import Consent
    from pulsus.routing.modules import read_bytes
    from pulsus.routing.running import run_promoted

    app = session.app
    for line in app.ranking.access_warnings if session.verbosity >= 0 else ():
        output.warn(line)
    tool = app.tool(tool_id)
    values = parse_inputs(inputs, tool.args)
    source = read_bytes(tool.path)
    consent = Consent(Terminal() if session.interactive else None, yes=yes)
    relay = None if session.verbosity < 0 else _relay
    done = run_promoted(app, tool, source, values, consent, relay)
    if session.json:
        output.document(
            {"ok": True, "tool": tool.id, "result": done.result, "duration_ms": done.duration_ms}
        )
    else:
        click.echo(output.pretty(done.result))


def _relay(chunk: bytes) -> None:
    """What the tool prints, for the person; control characters do not pass."""
    sys.stderr.write(strip_controls(chunk.decode("utf-8", "replace")))
    sys.stderr.flush()
