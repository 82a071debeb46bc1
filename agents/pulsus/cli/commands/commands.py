"""`pulsus commands classify|list|show|check` (docs/commands.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.commands import project_scope, table_check
from pulsus.cli.options import common
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import Aborted, CommandRefused, ConfigError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.commands.row_stream import RowClassifier

CLASSIFY = """\b
Examples:
  pulsus commands classify "journalctl -u nginx --since today | tail -n 20"
  pulsus commands classify "find / -name core -delete" --explain
  pulsus commands classify --target web-1 -- "$command"
  pulsus commands classify --known db1 "psql -h db1 -c 'SELECT 1'"
  pulsus commands classify --jsonl commands.jsonl > answers.jsonl
  tail -f calls.jsonl | pulsus commands classify --jsonl -
\b
Exit codes: 0 allowed, or the rows of --jsonl were answered · 2 the call or a setting is wrong ·
  6 not allowed, or a row with --fail-on-refused · 130 interrupted
"""


class _ReadOnlyGroup(click.Group):
    """A group of commands that change nothing, and say so when they are interrupted."""

    def invoke(self, ctx: click.Context) -> Any:
        """Return the result of the subcommand. Raises Aborted for Ctrl-C."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Aborted("aborted; nothing was changed") from None


@click.group(cls=_ReadOnlyGroup)
def command() -> None:
    """Say which shell commands are provably reads. Nothing is run, and no model is asked."""


def _named(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("it names no target: leave it out", ctx, param)
    return value


@command.command(epilog=CLASSIFY)
@click.argument("text", metavar="[COMMAND]", required=False)
@click.option(
    "--jsonl",
    "rows",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Answer rows {id?, command, target?, known?} in order, a line of JSON each, whatever "
    "--output says; - reads standard input.",
)
@click.option(
    "--target",
    metavar="NAME",
    callback=_named,
    help="Where it is to run, if its row names no other: the policy may differ there.",
)
@click.option(
    "--known",
    multiple=True,
    metavar="HOST",
    help="A host that the request named: a read may connect to it. May be given several times; "
    "rows of --jsonl may have their own, known [HOST].",
)
@click.option("--explain", is_flag=True, help="Show phases, words, tables and what is allowed.")
@click.option(
    "--fail-on-refused", is_flag=True, help="With --jsonl: exit 6 where a row is not allowed."
)
@common("ndjson")
def classify(
    session: CommandSession,
    text: str | None,
    rows: Path | None,
    target: str | None,
    known: tuple[str, ...],
    explain: bool,
    fail_on_refused: bool,
) -> None:
    """Say whether COMMAND only reads and ends by itself, and why.

    It is parsed, every program in it is looked up in a table of what it reads with, and what
    no table lists is not allowed. Only an allowed command may run through the read tool. What
    may begin with a dash stands behind --, and last.
    """
    if (text is None) == (rows is None):
        raise UsageError(
            "give either one COMMAND in quotes, or --jsonl FILE",
            hint='pulsus commands classify "df -h"',
        )
    warnings = project_scope.warn(session)
    if rows is not None:
        from pulsus.cli.commands.row_stream import RowClassifier

        answering = RowClassifier(session, target, explain, warnings, known)
        refused = _answer(session, rows, answering)
        if refused and fail_on_refused and session.verbosity >= 0:
            console.warn(f"{console.counted(refused, 'row')} not allowed")
        raise SystemExit(CommandRefused.exit_status if refused and fail_on_refused else 0)
    from pulsus.cli.commands import classify_answer

    status = classify_answer.answer(
        session, text or "", target, known, explain=explain, warnings=warnings
    )
    raise SystemExit(status)


def _answer(session: CommandSession, rows: Path, answering: RowClassifier) -> int:
    """Print the answer to each row, and return how many are not allowed."""
    import sys

    if str(rows) != "-":
        with rows.open("rb") as lines:
            return answering.run(lines)
    if session.app.settings.non_interactive:
        raise UsageError(
            "--jsonl - reads standard input, which --non-interactive never does",
            hint="name a file, or leave --non-interactive out",
        )
    return answering.run(sys.stdin.buffer)


@command.command("list")
@click.argument("prefix", default="")
@common()
def list_(session: CommandSession, prefix: str) -> None:
    """List programs whose name starts with PREFIX, and who says what they read with."""
    from pulsus.cli.commands import verdict_json

    project_scope.warn(session)
    names = [name for name in verdict_json.names(session) if name.startswith(prefix)]
    found = []
    for name in names:
        try:
            found.append(verdict_json.program(session, name))
        except ConfigError as error:  # the others are known all the same
            console.warn(
                f"the table of {name} cannot be read, so each call of it is refused: {error}"
            )
    if prefix and not found:
        console.warn(f"no program's name starts with {prefix!r}")
    if session.json:
        console.document({"programs": found})
        return
    rows = [(each["program"], each["origin"], each["summary"]) for each in found]
    if rows:
        console.table(("program", "from", "summary"), rows)


@command.command()
@click.argument("program")
@common()
def show(session: CommandSession, program: str) -> None:
    """Show the table of PROGRAM: options, operands and subcommands it reads with."""
    from pulsus.cli.commands import verdict_json

    project_scope.warn(session)
    body: dict[str, Any] = verdict_json.table(session, program)
    if session.json:
        console.document(body)
        return
    click.echo(f"{body['program']}  ({body['origin']}: {body['path']})")
    if body["same_as"]:
        click.echo(f"as {body['same_as']}, {body['same_as_path']}")
    click.echo()
    click.echo(strip_controls(str(body.pop("text")).rstrip()))


command.add_command(table_check.check)
