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
@common()
def command(session: Session, tool_id: str, inputs: tuple[str, ...]) -> None:
    """Run the promoted tool ID on this machine, in a child process, with your rights.

    Only promoted, hash-verified tools run; a candidate never does, nor one that the settings under
    [access] leave out. The result goes to stdout as JSON, what the tool prints to stderr.

    \b
    Examples:
      pulsus run disk_usage
      pulsus run storage/usage/biggest_files --input folder=/var/log --input limit=5
    """
    from pulsus.execution.inputs import parse_inputs
    from pulsus.routing.modules import read_bytes
    from pulsus.routing.running import run_promoted

    app = session.app
    for line in app.access_warnings if session.verbosity >= 0 else ():
        output.warn(line)
    tool = app.tool(tool_id)
    values = parse_inputs(inputs, tool.args)
    source = read_bytes(tool.path)
    done = run_promoted(app, tool, source, values, None if session.verbosity < 0 else _relay)
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
