"""Dispatch of the `pulsus` command: lazy subcommands, errors to exit codes.

A first argument that is no subcommand is a request; one bare word that resembles a subcommand is
a mistake and gets a suggestion. This is the one place where an error becomes an exit status.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from pulsus import __version__
from pulsus.cli import leading, output
from pulsus.errors import Aborted, PulsusError, UsageError, storage_error

COMMANDS = {
    "route": ("pulsus.cli.route", "Find, compose or generate what a request asks for."),
    "explain": (
        "pulsus.cli.explain",
        "Show how a request is decided, and why a tool was not chosen.",
    ),
    "tools": ("pulsus.cli.tools", "List, show and check the catalogue."),
    "run": ("pulsus.cli.run", "Run a promoted tool on this machine."),
    "feedback": ("pulsus.cli.feedback", "Tell which tool was right for a past request."),
    "generate": ("pulsus.cli.generate", "Let a model write a tool, through the same gate."),
    "validate": ("pulsus.cli.validate", "Prove modules: lint, types, import, sandboxed dry run."),
    "promote": ("pulsus.cli.promote", "Validate a module and add it to the catalogue."),
    "rollback": ("pulsus.cli.rollback", "Put an older version of a tool back."),
    "deprecate": ("pulsus.cli.deprecate", "Let another tool be used instead of one."),
    "eval": ("pulsus.cli.evaluate", "Measure routing on requests whose right tools are known."),
    "init": ("pulsus.cli.init", "Set up a catalogue with the starter tools."),
    "doctor": ("pulsus.cli.doctor", "Show what works on this machine and what to install."),
    "config": ("pulsus.cli.config", "Show every setting and where it came from."),
    "plugins": ("pulsus.cli.plugins", "List plugins and what they add."),
    "audit": ("pulsus.cli.audit", "Show whether tools and decision log are as recorded."),
    "gc": ("pulsus.cli.gc", "Remove old candidates and logs."),
}


class Pulsus(click.Group):
    """A group whose commands are imported only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every subcommand, in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of subcommands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A subcommand, or `route` with the whole line as its request."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            suggestion = _resembled(args[0])
            if suggestion:
                raise click.UsageError(
                    f"no such command {args[0]!r}: did you mean `pulsus {suggestion}`? "
                    f'A request of one word: pulsus route "{args[0]}"'
                )
            return "route", self.get_command(ctx, "route"), args
        return super().resolve_command(ctx, args)


def _resembled(word: str) -> str | None:
    """The subcommand a bare word was probably meant to be."""
    if not word.isidentifier():
        return None
    from rapidfuzz import fuzz, process  # only where a first word is no subcommand

    found = process.extractOne(word.lower(), list(COMMANDS), scorer=fuzz.ratio, score_cutoff=75)
    return found[0] if found else None


EPILOG = """\b
Examples:
  pulsus "which file systems are nearly full" --explain
  pulsus route "five biggest files in /var as a table" --plan
  pulsus run storage/usage/disk_usage
  pulsus validate workflows/
"""


@click.group(
    cls=Pulsus,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="pulsus %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Route a request in plain words to a proven infrastructure tool.

    pulsus "REQUEST" ranks the tools under workflows/, selects or composes what fits, validates it
    in a sandbox and, once approved, promotes it. Every decision can be explained.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        return
    from pulsus.cli.listener import listen  # neither --version nor the shell has anything to hear

    listen()


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status (docs/exit-codes.md)."""
    args = list(sys.argv[1:] if argv is None else argv)
    output.unbreakable()
    try:
        status = _status(args)
    except BrokenPipeError:
        # The reader (`| head`) has gone: not an error, and nothing more can be printed.
        status = _silenced(0)
    except OSError as failure:
        if failure.filename is not None:
            raise  # a file nobody expected to fail: a bug, with its traceback
        status = _unprinted(failure)
    raise SystemExit(status)


def _status(args: list[str]) -> int:
    """Do what the arguments say; the exit status, once the failure was told."""
    failure: PulsusError
    try:
        _complete()
        with cli.make_context("pulsus", leading.moved(args)) as context:
            cli.invoke(context)
        return 0
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except PulsusError as error:
        failure = error
    except (click.Abort, KeyboardInterrupt, EOFError):
        failure = Aborted("aborted; nothing is half-promoted")
    except click.ClickException as error:
        failure = _usage(error)
    try:
        output.fail(failure, as_json=output.wants_json(args))
    except OSError:
        return _silenced(failure.exit_status)  # it failed all the same, though nobody can read why
    return failure.exit_status


def _complete() -> None:
    """Answer the shell where it asks for completions, and leave."""
    asked = os.environ.get("_PULSUS_COMPLETE")
    if asked:
        from click.shell_completion import shell_complete

        raise SystemExit(shell_complete(cli, {}, "pulsus", "_PULSUS_COMPLETE", asked))


def _unprinted(failure: OSError) -> int:
    """The status where the result itself could not be written (a full disk behind `> FILE`)."""
    error = storage_error(failure, Path("standard output"))
    with suppress(OSError):
        output.fail(error, as_json=False)
    return _silenced(error.exit_status)


def _silenced(status: int) -> int:
    """`status`, with nothing left in a buffer for the interpreter to fail on as it ends."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status


def _usage(error: click.ClickException) -> UsageError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "pulsus"
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return UsageError(f"`{path}` needs a subcommand", hint=f"`{path} --help` lists them")
    hint = f"`{path} --help` shows how"
    if isinstance(error, click.NoSuchOption) and path == "pulsus":
        hint = f'options come last: pulsus "REQUEST" {error.option_name}; {hint}'
    return UsageError(error.format_message(), hint=hint)
