"""`pulsus commands classify|list|show|check` (docs/commands.md).

If a command is allowed is decided in `commands/classify.py` and `gates/command_policy.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.commands import project_scope, table_check
from pulsus.cli.completed_words import complete_programs
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import Aborted, CommandRefused, ConfigError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.commands.row_stream import RowClassifier

GROUP = page_end(
    'pulsus commands classify "journalctl -u nginx --since today | tail -n 20"',
    "pulsus commands show journalctl",
    "pulsus commands check",
)
CLASSIFY = page_end(
    'pulsus commands classify "journalctl -u nginx --since today | tail -n 20"',
    'pulsus commands classify "find / -name core -delete" --explain',
    'pulsus commands classify --target web-1 -- "$command"',
    "pulsus commands classify --known db1 \"psql -h db1 -c 'SELECT 1'\"",
    "pulsus commands classify --jsonl commands.jsonl > answers.jsonl",
    "tail -f calls.jsonl | pulsus commands classify --jsonl -",
    exits={
        0: "allowed, or the rows of --jsonl were answered",
        2: "usage or settings",
        6: "not allowed, or a row with --fail-on-refused",
        130: "interrupted",
    },
)
LIST = page_end(
    "pulsus commands list",
    "pulsus commands list git",
    exits={0: "listed", 2: "usage or settings", 130: "interrupted"},
)
SHOW = page_end(
    "pulsus commands show journalctl",
    "pulsus commands show journalctl --output json",
    exits={0: "shown", 2: "usage, settings, or no such table", 130: "interrupted"},
)


class _ReadOnlyGroup(click.Group):
    """A group of commands that change nothing, and say so when they are interrupted."""

    def invoke(self, ctx: click.Context) -> Any:
        """Return the result of the subcommand. Raises Aborted for Ctrl-C."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Aborted("aborted; nothing was changed") from None


class _ClassifyCommand(click.Command):
    """Takes no option of an unquoted command for a question about itself.

    `classify df -h` would show the help and exit 0, which means allowed.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the line. Raises UsageError for -h or --help behind a COMMAND."""
        if (
            not ctx.resilient_parsing
            and self._asks_help(ctx, args, interspersed=True)
            and not self._asks_help(ctx, args, interspersed=False)
        ):
            raise click.UsageError("-h or --help stands behind COMMAND: nothing was judged", ctx)
        return super().parse_args(ctx, args)

    def _asks_help(self, ctx: click.Context, args: list[str], *, interspersed: bool) -> bool:
        """Return True for a help option; if not `interspersed`, for one before any COMMAND."""
        parser, asking = self.make_parser(ctx), self.get_help_option(ctx)
        parser.allow_interspersed_args = interspersed
        return asking is not None and asking.name in parser.parse_args(list(args))[0]


@click.group(cls=_ReadOnlyGroup, epilog=GROUP)
def command() -> None:
    """Say which shell commands are provably reads. Nothing is run, and no model is asked."""


def _require_named_target(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("it names no target: leave it out", ctx, param)
    return value


@command.command(cls=_ClassifyCommand, epilog=CLASSIFY)
@click.argument("text", metavar="[COMMAND]", required=False)
@click.option(
    "--jsonl",
    "rows",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Read rows {id?, command, target?, known?} from FILE (-: standard input), and answer each "
    "with a line of JSON, in order, whatever --output says.",
)
@click.option(
    "--target",
    metavar="NAME",
    callback=_require_named_target,
    help="The machine on which COMMAND is to run: its policy may differ. A row of --jsonl may name "
    "its own target.",
)
@click.option(
    "--known",
    multiple=True,
    metavar="HOST",
    help="A host that the request named: a read may connect to it. Repeatable. A row of --jsonl "
    "may have its own list, known.",
)
@click.option("--explain", is_flag=True, help="Show phases, words, tables and what is allowed.")
@click.option(
    "--fail-on-refused", is_flag=True, help="With --jsonl: exit 6 if a row is not allowed."
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

    A table of each program lists the options and operands with which it only reads. Anything that
    no table lists is not allowed. Only an allowed command may run through the read tool. Put a
    COMMAND that may begin with a dash last, after --.
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
        refused = _answer_rows(session, rows, answering)
        if refused and fail_on_refused and session.verbosity >= 0:
            console.warn(f"{console.counted(refused, 'row')} not allowed")
        raise SystemExit(CommandRefused.exit_status if refused and fail_on_refused else 0)
    from pulsus.cli.commands import classify_answer

    status = classify_answer.answer(
        session, text or "", target, known, explain=explain, warnings=warnings
    )
    raise SystemExit(status)


def _answer_rows(session: CommandSession, rows: Path, answering: RowClassifier) -> int:
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


@command.command("list", epilog=LIST)
@click.argument("prefix", default="", shell_complete=complete_programs)
@common()
def list_(session: CommandSession, prefix: str) -> None:
    """List the programs that have a table.

    PREFIX limits the list to names that start with it. The column `from` says who wrote the table:
    Pulsus, a plugin or this project.
    """
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
        from pulsus.core.text.similar_names import did_you_mean  # only on this error path

        otherwise = "`pulsus commands list` shows every name"
        meant = did_you_mean(prefix, verdict_json.names(session), otherwise)
        console.warn(f"no program's name starts with {prefix!r}; {meant}")
    if session.json:
        console.document({"programs": found})
        return
    rows = [(each["program"], verdict_json.origin_text(each), each["summary"]) for each in found]
    if rows:
        console.table(("program", "from", "summary"), rows)


@command.command(epilog=SHOW)
@click.argument("program", shell_complete=complete_programs)
@common()
def show(session: CommandSession, program: str) -> None:
    """Show the table of PROGRAM: its reading options and subcommands."""
    from pulsus.cli.commands import verdict_json

    project_scope.warn(session)
    body: dict[str, Any] = verdict_json.table(session, program)
    if session.json:
        console.document(body)
        return
    console.echo(f"{body['program']}  ({verdict_json.origin_text(body)}: {body['path']})")
    if body["same_as"]:
        console.echo(f"as {body['same_as']}, {body['same_as_path']}")
    click.echo()
    click.echo(strip_controls(str(body.pop("text")).rstrip()))


command.add_command(table_check.check)
