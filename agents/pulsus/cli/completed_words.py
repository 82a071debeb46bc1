"""Words for shell completion that only a project knows: its tools, runs, programs and settings.

The names of subcommands are in `cli/command_group.py`.

Effect: reads the project. A project that cannot be read completes nothing, because a message would
land in the line that is typed. Click offers subcommands and options (`cli/shell_completion.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pulsus.cli.command_session import CommandSession, current_project, resolve_project
from pulsus.errors import PulsusError

if TYPE_CHECKING:
    import click

_MOST_RUNS: Final = 50

Complete = Callable[["click.Context", "click.Parameter", str], list[str]]


def _complete_with(words: Callable[[CommandSession], Iterable[str]]) -> Complete:
    """Return a completion that offers the words that begin with what is typed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        try:
            found = sorted(words(_session(ctx)))
        except (PulsusError, OSError):
            return []
        return [w for w in found if w.startswith(incomplete)] or [
            # A tool is also known by its name, the last part of its id.
            w
            for w in found
            if "/" not in incomplete and w.rpartition("/")[2].startswith(incomplete)
        ]

    return complete


def _session(ctx: click.Context) -> CommandSession:
    given = ctx.params.get("project")
    elsewhere = isinstance(given, Path) and given != Path()
    project = resolve_project(given) if elsewhere and given else current_project()
    return CommandSession(project, "text", verbosity=-1, inspects=True)


def _tools(session: CommandSession) -> Iterable[str]:
    return (tool.id for tool in session.app.catalogue.tools)


def _runs(session: CommandSession) -> Iterable[str]:
    """Return "last" and the newest runs of plans."""
    from pulsus.routing.plans.apply_plan import open_journal

    with closing(open_journal(session.app)) as journal:
        return ["last", *(run.run_id for run in journal.list_runs(_MOST_RUNS))]


def _routes(session: CommandSession) -> Iterable[str]:
    """Yield "last" and the newest routes: a run id begins with its time."""
    folders = sorted((session.app.log_dir / "runs").glob("run-*"), reverse=True)
    return ("last", *(folder.name for folder in folders[:_MOST_RUNS]))


def _programs(session: CommandSession) -> Iterable[str]:
    return session.app.commands.context.tables.names()


def _settings(session: CommandSession) -> Iterable[str]:
    from pulsus.config.layers import flatten
    from pulsus.config.setting_types import plain_values

    return (key for key, _ in flatten(plain_values(session.app.settings)))


complete_tools: Final = _complete_with(_tools)
complete_runs: Final = _complete_with(_runs)
complete_routes: Final = _complete_with(_routes)
complete_programs: Final = _complete_with(_programs)
complete_settings: Final = _complete_with(_settings)
