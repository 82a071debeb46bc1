"""`pulsus commands classify|list|show|check` (docs/commands.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import commands_check, output
from pulsus.cli.common import Session, common
from pulsus.core.telemetry.printable import strip_controls
from pulsus.errors import CommandRefused, UsageError

if TYPE_CHECKING:
    from pulsus.commands.verdict import CommandVerdict

CLASSIFY = """\b
Examples:
  pulsus commands classify "journalctl -u nginx --since today | tail -n 20"
  pulsus commands classify "find / -name core -delete" --explain
  pulsus commands classify --jsonl commands.jsonl > answers.jsonl
  tail -f calls.jsonl | pulsus commands classify --jsonl -
\b
Exit codes: 0 allowed, or the rows of --jsonl were answered · 6 not allowed
"""


@click.group()
def command() -> None:
    """Say which shell commands are provably reads. Nothing is run, and no model is asked."""


@command.command(epilog=CLASSIFY)
@click.argument("text", metavar="COMMAND", required=False)
@click.option(
    "--jsonl",
    "rows",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Answer rows {id?, command} in order, one line each; - reads standard input.",
)
@click.option("--target", metavar="NAME", help="Where it is to run: the policy may differ there.")
@click.option("--explain", is_flag=True, help="Show phases, words, tables and what is allowed.")
@common("ndjson")
def classify(
    session: Session, text: str | None, rows: Path | None, target: str | None, explain: bool
) -> None:
    """Say whether COMMAND only reads and ends by itself, and why.

    It is parsed, every program in it is looked up in a table of what it reads with, and what
    no table lists is not allowed. Only an allowed command may run through the read tool.
    """
    if (text is None) == (rows is None):
        raise UsageError(
            "give either one COMMAND in quotes, or --jsonl FILE",
            hint='pulsus commands classify "df -h"',
        )
    from pulsus.cli import commands_json

    _warn(session)
    if rows is not None:
        _answer(session, rows, target, explain=explain)
        return
    found = commands_json.explained(session, text or "")
    body = commands_json.verdict(session, found.verdict, target)
    if explain:
        body["explanation"] = commands_json.explanation(session, found)
    refusal = None if body["allow"] else _refused(found.verdict, body)
    if session.output == "ndjson":
        output.result(commands_json.line({"id": None, **body}))
    elif session.json:
        document = {"ok": refusal is None, "id": None, **body}
        output.document(document | (output.error_body(refusal) if refusal else {}))
    else:
        from pulsus.cli import commands_text

        shown = commands_text.explanation(found, session.project) if explain else ()
        for row in (*commands_text.verdict(found.verdict, body), *shown):
            click.echo(strip_controls(row))
    raise SystemExit(refusal.exit_status if refusal else 0)


def _refused(verdict: CommandVerdict, body: Mapping[str, Any]) -> CommandRefused:
    """The error of a command that may not run as a read."""
    from pulsus.cli import commands_text

    return CommandRefused(
        str(body["reason"]),
        hint=commands_text.way_out(verdict),
        phase=verdict.reason.phase,
        word=verdict.reason.word,
        rule=verdict.reason.rule,
    )


def _warn(session: Session) -> None:
    if session.verbosity >= 0:
        for failure in session.app.checked_plugins().failures:
            output.warn(failure)


def _answer(session: Session, rows: Path, target: str | None, *, explain: bool) -> None:
    import sys

    from pulsus.cli import commands_jsonl

    if str(rows) != "-":
        with rows.open("rb") as lines:
            commands_jsonl.answer(session, lines, target, explain=explain)
    elif session.app.settings.non_interactive:
        raise UsageError(
            "--jsonl - reads standard input, which --non-interactive never does",
            hint="name a file, or leave --non-interactive out",
        )
    else:
        commands_jsonl.answer(session, sys.stdin.buffer, target, explain=explain)


@command.command("list")
@click.argument("prefix", default="")
@common()
def list_(session: Session, prefix: str) -> None:
    """List programs whose name starts with PREFIX, and who says what they read with."""
    from pulsus.cli import commands_json

    _warn(session)
    tables = session.app.commands.context.tables
    found = [commands_json.program(session, name) for name in tables.names()]
    found = [each for each in found if str(each["program"]).startswith(prefix)]
    if prefix and not found:
        output.warn(f"no program's name starts with {prefix!r}")
    if session.json:
        output.document({"programs": found})
        return
    rows = [(each["program"], each["origin"], each["summary"]) for each in found]
    if rows:
        output.table(("program", "from", "summary"), rows)


@command.command()
@click.argument("program")
@common()
def show(session: Session, program: str) -> None:
    """Show the table of PROGRAM: options, operands and subcommands it reads with."""
    from pulsus.cli import commands_json

    _warn(session)
    body: dict[str, Any] = commands_json.table(session, program)
    if session.json:
        output.document(body)
        return
    click.echo(f"{body['program']}  ({body['origin']}: {body['path']})")
    if body["same_as"]:
        click.echo(f"as {body['same_as']}, {body['same_as_path']}")
    click.echo()
    click.echo(strip_controls(str(body.pop("text")).rstrip()))


command.add_command(commands_check.check)
