"""Options every command has, and the session they make.

An option that sets a setting becomes a flag here, and `config/layers.py` merges the flags over
files and variables. A file argument that is a named pipe or a device is refused here. `--input`
pairs are read in `execution/parse_inputs.py`; verbosity (`-v`, `-q`) and output form are read here.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pulsus.cli.command_session import (
    CommandSession,
    current_project,
    resolve_project,
    tell_project,
)
from pulsus.cli.console import name_given_places, warn
from pulsus.core.system.regular_files import endless_kind
from pulsus.errors import Denied, PulsusError, UsageError


class GivenFile(click.Path):
    """An existing file to read. Refuses named pipes and devices: a read may never begin or end."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Fails as `click.Path` does."""
        path = super().convert(value, param, ctx)
        if kind := endless_kind(Path(os.fsdecode(path))):
            self.fail(f"File {os.fsdecode(path)!r} is {kind}, not a file.", param, ctx)
        return path


class GivenFolder(click.Path):
    """A folder. Says plainly if the path is that of a file."""

    def __init__(self, *, exists: bool = False) -> None:
        super().__init__(exists=exists, file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Fails as `click.Path` does."""
        if os.path.isfile(value):  # noqa: PTH113 - a text that is no path is for click to refuse
            self.fail(f"{os.fsdecode(value)!r} is a file, and a folder is expected.", param, ctx)
        return super().convert(value, param, ctx)


def require_module_name(path: Path, *, hint: str) -> None:
    """Raise UsageError for a file that is not named `*.py`, before its text is validated."""
    if path.is_file() and path.suffix != ".py":
        raise UsageError(f"{path} is no .py file", hint=hint)


_SWITCHES = ("cache_enabled", "embeddings_enabled", "rag_enabled")
"""Settings that an option of the same name turns on or off; without it the setting counts."""

cache_option = functools.partial(click.option, "--cache/--no-cache", "cache_enabled", default=None)

fill_option = click.option(
    "--fill/--no-fill",
    default=True,
    help="Take values for inputs from the words of the request. [default: on]",
)
model_option = click.option(
    "--model/--no-model",
    "input_model",
    default=None,
    help="Ask the configured model about inputs that the words leave open. [default: on]",
)
rag_option = click.option(
    "--rag/--no-rag",
    "rag_enabled",
    default=None,
    help="Take hints from the project's docs. [default: off]",
)

embeddings_option = click.option(
    "--embeddings/--no-embeddings",
    "embeddings_enabled",
    default=None,
    help="Rank by meaning too; needs the extra `embeddings`. [default: off]",
)

kind_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(("resolve", "read", "write")),
    help="Only tools of this kind; repeatable. [default: every kind]",
)


def _require_pairs(
    ctx: click.Context, _option: click.Parameter, pairs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the inputs. One of another form is refused before anything else is compared.

    Raises UsageError.
    """
    if pairs and not ctx.resilient_parsing:
        from pulsus.execution.parse_inputs import check_pairs  # only if inputs are given

        check_pairs(pairs)
    return pairs


input_option = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="K=V",
    callback=_require_pairs,
    help="Set the input K: K=text (a number for a number), K=@FILE for the text of a file, K:=JSON "
    "for a list or a mapping. Repeatable.",
)

full_option = click.option(
    "--full",
    is_flag=True,
    help="Show the result with all rows, columns and nested values.",
)

exit_status_option = click.option(
    "--exit-status",
    "pass_status",
    is_flag=True,
    help="End with the exit status of the script that the tool wraps.",
)


def _require_hosts(
    ctx: click.Context, _option: click.Parameter, hosts: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the hosts. A wrong one is named with its option, not with the setting it stands for.

    Raises UsageError of click.
    """
    if hosts:
        from pulsus.config.host_names import canonical_host  # only where hosts are named

        try:
            for host in hosts:
                canonical_host(host)
        except ValueError as error:
            raise click.UsageError(f"--allow-network {error}", ctx) from None
    return hosts


network_option = click.option(
    "--allow-network",
    "network",
    multiple=True,
    metavar="HOST:PORT",
    callback=_require_hosts,
    help="Let dry runs reach this host, instead of those in sandbox.network; repeatable.",
)


def common(
    *formats: str, default: str = "text", inspects: bool = False, searches: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the common options to a command, which receives a `CommandSession` first.

    `formats` are output formats beyond text and json; `default` is the one without `--output`. A
    command that `inspects` works with project settings that are not approved, and uses none of
    them. One that `searches` works on the project above the current folder if that is no project
    itself. Options of this module that set a setting go into the session's flags, and not to the
    command.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(
            *args: Any, project: Path, output: str, verbose: int, quiet: int, **options: Any
        ) -> Any:
            flags = _take_flags(options)
            if quiet > verbose:
                import logging

                logging.getLogger("pulsus").setLevel(logging.ERROR)
            given = not searches or not _is_default("project")
            name_given_places(_list_given_places(project, flags))
            folder = resolve_project(project) if given else current_project()
            if not given and quiet <= verbose:
                tell_project(folder)
            session = CommandSession(folder, output, verbose - quiet, flags, inspects)
            try:
                return command(session, *args, **options)
            except Denied as refusal:
                _log_refusal(session, refusal)
                raise

        for option in reversed(_options(("text", "json", *formats), default)):
            run = option(run)
        return run

    return decorate


def _is_default(option: str) -> bool:
    """Return True if the command line does not give the option."""
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.DEFAULT


def _list_given_places(project: Path, flags: dict[str, Any]) -> list[str]:
    """Return the options for other folders than the usual ones, as the command line gave them."""
    found = [] if _is_default("project") else ["--project", str(project)]
    if "state_dir" in flags:
        found += ["--state-dir", str(flags["state_dir"])]
    return found


def _take_flags(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options that set a setting out of `options`, and return them as flags."""
    flags = {name: options.pop(name, None) for name in ("state_dir", *_SWITCHES)}
    flags["non_interactive"] = options.pop("non_interactive") or None
    if kinds := options.pop("kinds", ()):
        flags["access"] = {"kinds": list(kinds)}
    if (asked := options.pop("input_model", None)) is not None:
        flags["model"] = {"inputs": asked}
    if network := options.pop("network", ()):
        flags["sandbox"] = {"network": list(network)}
    return {name: value for name, value in flags.items() if value is not None}


def _log_refusal(session: CommandSession, refusal: Denied) -> None:
    """Keep in the decision log that policy refused something; it is refused in any case."""
    try:
        session.app.housekeeping.log_refusal(refusal)
    except PulsusError as failure:
        warn(f"the refusal is not in the decision log: {failure.message}")


def _options(formats: tuple[str, ...], default: str) -> list[Callable[..., Any]]:
    return [
        click.option(
            "--output",
            type=click.Choice(formats),
            default=default,
            show_default=True,
            help="Format of the result on stdout.",
        ),
        click.option(
            "--project",
            type=GivenFolder(exists=True),
            default=Path(),
            metavar="DIR",
            help="Work on this repository instead of that of the current folder.",
        ),
        click.option(
            "--state-dir",
            type=GivenFolder(),
            metavar="DIR",
            help="Folder of the decision log, runs, caches and locks.",
        ),
        click.option("--non-interactive", is_flag=True, help="Never ask; never read stdin."),
        click.option("-v", "--verbose", count=True, help="Say more on stderr."),
        click.option("-q", "--quiet", count=True, help="Say less on stderr."),
    ]
