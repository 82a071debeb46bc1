"""Whose tables and policy `pulsus commands` goes by: those of the current folder, or of --project.

Effect: looks at folders above the current one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import output

if TYPE_CHECKING:
    from pulsus.cli.session import Session


def warn(session: Session, *, plugins: bool = True) -> list[str]:
    """What may have been meant to count here and does not; told on standard error too."""
    failed = session.app.checked_plugins().failures if plugins else ()
    found = [*failed, *_passed_over(session.project)]
    if session.verbosity >= 0:
        for each in found:
            output.warn(each)
    return found


def _passed_over(project: Path) -> Iterator[str]:
    """A project above the current folder that nobody named: its policy does not hold here."""
    source = click.get_current_context().get_parameter_source("project")
    if source is not click.core.ParameterSource.DEFAULT or _has_settings(project):
        return
    above = next(filter(_has_settings, _ours(project)), None)
    if above is not None:
        yield (
            f"policy and tables of {above} are not used in a folder below it: "
            f"run it there, or give --project {above}"
        )


def _ours(folder: Path) -> Iterator[Path]:
    """The folders above that nobody else can write to, up to the home folder."""
    for above in folder.parents:
        with suppress(OSError):
            found = above.stat()
            if found.st_uid in {0, os.geteuid()} and not found.st_mode & stat.S_IWOTH:
                yield above
                if above != Path(os.environ.get("HOME", "/")):
                    continue
        return


def _has_settings(folder: Path) -> bool:
    with suppress(OSError):
        if (folder / "config/pulsus.toml").is_file() or (folder / "config/commands").is_dir():
            return True
        project = (folder / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
        return "[tool.pulsus" in project
    return False
