"""Options every command has, and the session they make."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pulsus.cli.command_session import CommandSession, resolve_project
from pulsus.cli.console import warn
from pulsus.errors import Denied, PulsusError

__all__ = ["CommandSession", "allow_network", "common", "kind_option", "network_option"]


def common(
    *formats: str, inspects: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the common options; the command receives a `CommandSession` first.

    `formats` are output formats beyond text and json. A command that `inspects` works with project
    settings that are not approved, and uses none of them.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(
            *args: Any,
            project: Path,
            output: str,
            state_dir: Path | None,
            non_interactive: bool,
            verbose: int,
            quiet: int,
            **options: Any,
        ) -> Any:
            flags: dict[str, Any] = {}
            if state_dir is not None:
                flags["state_dir"] = state_dir
            if non_interactive:
                flags["non_interactive"] = True
            if quiet > verbose:
                logging.getLogger("pulsus").setLevel(logging.ERROR)
            session = CommandSession(
                resolve_project(project), output, verbose - quiet, flags, inspects
            )
            try:
                return command(session, *args, **options)
            except Denied as refusal:
                _log_refusal(session, refusal)
                raise

        for option in reversed(_options(("text", "json", *formats))):
            run = option(run)
        return run

    return decorate


kind_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(("resolve", "read", "write")),
    help="Only tools of this kind; may be given again. [default: every kind]",
)


network_option = click.option(
    "--allow-network",
    "network",
    multiple=True,
    metavar="HOST:PORT",
    help="Let dry runs reach this host, instead of those in sandbox.network; may be given again.",
)


def allow_network(session: CommandSession, network: tuple[str, ...]) -> None:
    """Let the dry runs of this command reach those hosts, where any were named."""
    if network:
        session.flags["sandbox"] = {"network": list(network)}


def _log_refusal(session: CommandSession, refusal: Denied) -> None:
    """Keep in the decision log that policy refused something; it is refused in any case."""
    try:
        session.app.upkeep.log_refusal(refusal)
    except PulsusError as failure:
        warn(f"the refusal is not in the decision log: {failure.message}")


def _options(formats: tuple[str, ...]) -> list[Callable[..., Any]]:
    return [
        click.option(
            "--output",
            type=click.Choice(formats),
            default="text",
            show_default=True,
            help="Form of the result on stdout.",
        ),
        click.option(
            "--project",
            type=click.Path(file_okay=False, exists=True, path_type=Path),
            default=Path(),
            metavar="DIR",
            help="Work on this repository instead of the current folder.",
        ),
        click.option(
            "--state-dir",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Keep caches and locks here instead of .pulsus/.",
        ),
        click.option("--non-interactive", is_flag=True, help="Never ask; never read stdin."),
        click.option("-v", "--verbose", count=True, help="Say more on stderr."),
        click.option("-q", "--quiet", count=True, help="Say less on stderr."),
    ]
