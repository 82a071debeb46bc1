"""The commands of `pulsus`: declare the subcommands, each imported when it is called.

A first argument that is no subcommand begins a request, unless `cli/suggested_commands.py` takes it
for a mistake. Shell completion is in `cli/shell_completion.py`. A mistyped option is explained in
`cli/usage_errors.py`, and an error becomes an exit code (exit status) in `cli/main.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import takewhile

import click

from pulsus import __version__
from pulsus.cli.help_text import WIDTH, page_end
from pulsus.cli.shell_completion import answer_completion
from pulsus.cli.suggested_commands import command_mistake
from pulsus.errors import Aborted, UsageError

SECTIONS = {
    "Ask": {
        "route": ("route.route_command", "Find, compose or generate what a request asks for."),
        "explain": (
            "route.explain_command",
            "Show how a request is decided, and why a tool was not chosen.",
        ),
        "run": ("route.run_command", "Run a promoted tool on this machine."),
        "fill": ("route.fill_command", "Show which inputs of a tool a request fills."),
        "feedback": ("route.feedback_command", "Say which tool was right for a past request."),
    },
    "Plan": {
        "plan": ("plan.plan_command", "Make a plan that others can review."),
        "show": (
            "plan.show_command",
            "Show a saved plan: steps, inputs, and what they may change.",
        ),
        "diff": ("plan.diff_command", "Compare two saved plans, writes first."),
        "apply": ("plan.apply_command", "Run a plan that was reviewed."),
        "runs": ("plan.runs_command", "List runs of plans; go on with one, replay or undo it."),
        "compose-eval": (
            "evaluate.compose_eval_command",
            "Measure composition on requests with known plans.",
        ),
    },
    "Catalogue": {
        "tools": ("catalogue.tools_command", "List, show and check the catalogue."),
        "validate": (
            "validate.validate_command",
            "Prove modules: lint, types, import, sandboxed dry run.",
        ),
        "promote": ("catalogue.promote_command", "Validate a module and add it to the catalogue."),
        "generate": (
            "route.generate_command",
            "Let a model write a tool, which is proven like any other.",
        ),
        "rollback": ("catalogue.rollback_command", "Bring back an older version of a tool."),
        "deprecate": (
            "catalogue.deprecate_command",
            "Replace a tool by another one, after a day.",
        ),
        "audit": ("catalogue.audit_command", "Check that tools and decision log are as recorded."),
        "eval": (
            "evaluate.evaluate_command",
            "Measure routing on requests with known right tools.",
        ),
        "gc": ("catalogue.gc_command", "Remove old candidates and logs."),
    },
    "Agent and approvals": {
        "agent": (
            "agent.agent_command",
            "Let a model answer a request with tools that code controls.",
        ),
        "chat": ("agent.chat_command", "Talk with the agent; it remembers what was found."),
        "serve": ("serve.serve_command", "Serve the pages where people approve what waits."),
        "approvals": ("serve.approvals_command", "See and decide what waits at a running server."),
        "users": ("serve.users_command", "Say who may sign in at the server."),
        "commands": ("commands.commands_command", "Check which shell commands only read."),
    },
    "Cluster": {
        "kb": (
            "kb.kb_command",
            "Ask what is known of the cluster; each fact has a source and an age.",
        ),
        "place": ("place.place_command", "Plan which VM runs on which host, step by step."),
    },
    "Set up": {
        "init": ("catalogue.init_command", "Set up a catalogue with the starter tools."),
        "doctor": ("setup.doctor_command", "Show what works on this machine and what to install."),
        "config": (
            "setup.config_command",
            "Show every setting and its origin; approve project settings.",
        ),
        "plugins": ("setup.plugins_command", "List plugins and what they add."),
    },
}
"""The subcommands in the order a newcomer needs them: module below `pulsus.cli`, help."""

COMMANDS = {name: entry for each in SECTIONS.values() for name, entry in each.items()}


BARE = "pulsus.bare"
"""Key in click's context for a request without a subcommand."""


class Pulsus(click.Group):
    """A group whose commands are imported only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every subcommand, in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the subcommand of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pulsus.cli.{COMMANDS[cmd_name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of subcommands, without importing them."""
        width = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            rows = [(name.ljust(width), text) for name, (_, text) in section.items()]
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a subcommand, or `route` with the whole line as its request."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            words = list(takewhile(lambda word: not word.startswith("-"), args))
            if ctx.resilient_parsing:
                return self._resolve_completed(ctx, args)
            if words[0].lower() == "help" and (asked := self._help_of(ctx, words[1:])):
                return asked
            if mistake := command_mistake(
                words, COMMANDS, lambda name: self._inner_commands(ctx, name)
            ):
                raise mistake
            ctx.meta[BARE] = True
            return "route", self.get_command(ctx, "route"), args
        return super().resolve_command(ctx, args)

    def _resolve_completed(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that a line names while it is typed: no page, no error.

        The words behind `help` are those of a command. Without any, the group itself completes.
        """
        words = args[1:] if args[0].lower() == "help" else args
        if not words:
            return None, None, []
        if words[0] in COMMANDS:
            return super().resolve_command(ctx, words)
        return "route", self.get_command(ctx, "route"), args

    def _inner_commands(self, ctx: click.Context, name: str) -> Iterable[str]:
        """Return the commands below a subcommand; nothing if it has none."""
        command = self.get_command(ctx, name)
        return command.commands if isinstance(command, click.Group) else ()

    def _help_of(
        self, ctx: click.Context, words: list[str]
    ) -> tuple[str, click.Command, list[str]] | None:
        """Return the help page of the subcommand that these words name, or None for a request.

        No words name Pulsus itself.
        """
        if not words:
            click.echo(ctx.get_help())
            ctx.exit()
        command = self.get_command(ctx, words[0])
        is_inner = isinstance(command, click.Group) and words[-1] in command.commands
        if command is None or len(words) > 1 + is_inner:
            return None
        return words[0], command, [*words[1:], "--help"]


EPILOG = page_end(
    'pulsus "which file systems are nearly full" --explain',
    'pulsus route "five biggest files in /var as a table" --plan',
    "pulsus run storage/usage/disk_usage",
    "pulsus validate workflows/",
)


@click.group(
    cls=Pulsus,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
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
    from pulsus.cli.command_warnings import listen

    listen()


def run(args: Sequence[str]) -> int:
    """Do what the arguments say; the exit status. Raises PulsusError, SystemExit."""
    try:
        answer_completion(cli)
        args = _drop_flags_of_page(args)
        if args and _count_leading(args) == len(args):
            raise _lone_options(args)
        with cli.make_context("pulsus", move_leading_options(args)) as context:
            cli.invoke(context)
        return 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise Aborted("aborted; Pulsus left nothing half-written") from None
    except click.ClickException as error:
        from pulsus.cli.usage_errors import explain_usage  # only for a mistake

        raise explain_usage(error, move_leading_options(args), cli) from None


def _drop_flags_of_page(args: Sequence[str]) -> Sequence[str]:
    """Return `--version` or `--help` alone if nothing but flags of all commands is beside it."""
    rest = [word for word in args if word not in _COMMON_FLAGS and not _is_short_flag(word)]
    return rest if rest in (["--version"], ["--help"], ["-h"]) else args


def _lone_options(args: Sequence[str]) -> UsageError:
    """Return the error for common options with nothing that they are for."""
    import shlex  # only for this mistake

    said = shlex.join(args)
    return UsageError(
        f"`pulsus {said}` needs a command or a request",
        hint=f'for example: pulsus "REQUEST" {said}; `pulsus --help` lists the commands',
    )


_VALUED = ("--output", "--project", "--state-dir")
_COMMON_FLAGS = ("--non-interactive", "--verbose", "--quiet")


def move_leading_options(args: Sequence[str]) -> list[str]:
    """Return the same line with the common options behind the words they came before.

    They come before any option given there, so that the later one wins. A line that has nothing but
    options stays as it is: there is no command they could be for.
    """
    leading = _count_leading(args)
    if not leading or leading == len(args) or args[leading].startswith("-"):
        return list(args)
    rest = args[leading:]
    words = next((n for n, word in enumerate(rest) if word.startswith("-")), len(rest))
    return [*rest[:words], *args[:leading], *rest[words:]]


def _count_leading(args: Sequence[str]) -> int:
    """Count the leading words that are common options and their values."""
    at = 0
    while at < len(args):
        word = args[at]
        if word in _VALUED:
            at += 2
        elif (
            word in _COMMON_FLAGS
            or _is_short_flag(word)
            or word.startswith(tuple(f"{v}=" for v in _VALUED))
        ):
            at += 1
        else:
            break
    return min(at, len(args))


def _is_short_flag(word: str) -> bool:
    """`-v`, `-q` and several of them in one."""
    return word.startswith("-") and len(word) > 1 and set(word[1:]) <= {"v", "q"}
