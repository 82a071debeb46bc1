"""Print warnings on stderr: what a command noticed on the way, and what the lower layers log.

They go to stderr, each once, through `cli/console.py`; `-q` turns them off.

No warning changes the exit status.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pulsus.cli import console

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession


def show_warnings(session: CommandSession) -> None:
    """Failed plugins, shadowed tools and manifests or indexes not used; broken files with -v.

    Nothing with -q.
    """
    if session.verbosity < 0:
        return
    # Imported late: every command listens to the log, and few look at the catalogue.
    from pulsus.cli.render.validation_text import relative

    app = session.app
    for line in (
        *app.checked_plugins().failures,
        *map(str, app.catalogue.warnings),
        *app.ranking.access_warnings,
        *app.ranking.index_warnings,
        *app.ranking.hint_warnings,
    ):
        console.warn(line)
    for shadowed in app.catalogue.shadowed:
        console.warn(shadowed.warning(app.workflows_root))
    broken = app.catalogue.broken
    if broken and session.verbosity == 0:
        files = "1 file is no tool" if len(broken) == 1 else f"{len(broken)} files are no tools"
        console.warn(f"{files}: `pulsus tools check` says why")
    for found in broken if session.verbosity > 0 else ():
        console.warn(f"{relative(found.path, session.project)} [{found.code}]: {found.reason}")


def listen() -> None:
    """From now on, print what is logged as a warning of ours (a torn line that was ignored)."""
    log = logging.getLogger("pulsus")
    log.handlers = [_Warnings()]
    log.setLevel(logging.WARNING)


class _Warnings(logging.Handler):
    """A logging handler that prints each warning once (such as a torn line that was ignored)."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print one warning, once."""
        text = record.getMessage()
        if text not in self._told:
            self._told.add(text)
            console.warn(text)
