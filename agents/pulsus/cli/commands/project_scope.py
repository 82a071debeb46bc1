"""Warn about tables and a policy that `pulsus commands` does not use.

A project above is found in `config/enclosing_project.py`.

It uses those of the current folder, or of --project.

Effect: looks at folders above the current one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.config.enclosing_project import ignored_enclosing_project

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession


def warn(session: CommandSession, *, plugins: bool = True) -> list[str]:
    """Return and print warnings of plugins that fail, and of a project above that is not used."""
    asked = plugins and session.app.has_plugins
    failed = session.app.checked_plugins().failures if asked else ()
    found = [*failed, *_passed_over(session.project)]
    if session.verbosity >= 0:
        for each in found:
            console.warn(each)
    return found


def _passed_over(project: Path) -> Iterator[str]:
    """Yield a warning of a project above the current folder: its policy is not used here."""
    source = click.get_current_context().get_parameter_source("project")
    above = (
        ignored_enclosing_project(project) if source is click.core.ParameterSource.DEFAULT else None
    )
    if above is not None:
        yield (
            f"policy and tables of {above} are not used in a folder below it: "
            f"run it there, or give --project {above}"
        )
