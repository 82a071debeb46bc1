"""`pulsus init`: make a project, with the starter catalogue.

`routing/starter_catalogue.py` copies the files and overwrites none.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFolder, common
from pulsus.cli.render.validation_text import relative
from pulsus.errors import ConfigUntrusted, PulsusError

EPILOG = page_end(
    "pulsus init ops-tools",
    "pulsus init ops-tools --empty",
    exits={
        0: "set up, or already so",
        2: "usage, invalid configuration, or a folder that cannot be written",
    },
)


@click.command(epilog=EPILOG)
@click.argument("folder", default=".", type=GivenFolder())
@click.option(
    "--empty", is_flag=True, help="Make only settings and folders, without the starter tools."
)
@common(inspects=True, searches=False)
def command(session: CommandSession, folder: Path, empty: bool) -> None:
    """Set up a catalogue in FOLDER: starter tools, settings and ignore rules.

    Existing files are kept, and nothing is overwritten. Only `.gitignore` is extended, by the rules
    that it lacks: git should ignore what Pulsus writes, and .venv/. The decision log of FOLDER
    records which promotions came with the tools.
    """
    from pulsus.routing import starter_catalogue

    root = folder if folder.is_absolute() else session.project / folder
    if root.is_dir():
        # First: no command works in a project with settings that cannot be read.
        _ = replace(session, project=root.resolve()).app
    found = starter_catalogue.install_starter(root, empty=empty)
    _log(session, root, found.made, () if empty else starter_catalogue.copied_records(root))
    if session.json:
        paths = [relative(path, root) for path in found.made]
        body = {"folder": str(folder), "created": paths, "kept": found.kept}
        console.document({**body, "ignore_rules": list(found.rules)})
        return
    console.echo(f"{console.counted(len(found.made), 'file')} created, {found.kept} kept")
    if found.rules and root / ".gitignore" not in found.made:
        console.echo(f"added to .gitignore: {', '.join(found.rules)}")
    enter = _enter(root)
    if empty:
        domains = _seen_from_here(root) / "workflows/domains"
        console.echo(f"next: write a tool below {domains}, then: {enter}pulsus tools check")
        return
    console.echo(f'next: {enter}pulsus "how full are my disks"')
    console.echo("      (--explain instead shows why a tool is chosen, and runs nothing)")


def _enter(root: Path) -> str:
    """Return the `cd` that a command needs before it works on the new catalogue."""
    shown = _seen_from_here(root)
    return "" if shown == Path() else f"cd {shlex.quote(str(shown))} && "


def _seen_from_here(root: Path) -> Path:
    """Return the path of the catalogue below the current folder, or its whole path elsewhere."""
    here, there = Path.cwd().resolve(), root.resolve()
    return there.relative_to(here) if there.is_relative_to(here) else there


def _log(
    session: CommandSession, root: Path, made: Iterable[Path], copied: Collection[Path]
) -> None:
    """Let the decision log know the starter's promotions; the tools are there in any case."""
    if not copied:
        return
    try:
        app = replace(session, project=root.resolve()).app
        if not app.writable:
            hint = "`pulsus config trust --all` asks about it"
            raise ConfigUntrusted("the state folder is a link that is not approved", hint=hint)
        app.housekeeping.log_starter(made, copied)
    except PulsusError as failure:
        console.warn(f"the starter's promotions are not in the decision log: {failure.message}")
