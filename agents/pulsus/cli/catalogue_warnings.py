"""Print what a command noticed on the way, on stderr; nothing with -q."""

from __future__ import annotations

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.render.validation_text import relative


def show_warnings(session: CommandSession) -> None:
    """Failed plugins, shadowed tools and manifests or indexes not used; broken files with -v."""
    if session.verbosity < 0:
        return
    app = session.app
    for line in (
        *app.checked_plugins().failures,
        *app.catalogue.warnings,
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
