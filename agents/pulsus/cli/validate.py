"""`pulsus validate` (routing spec §8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.core.types import ValidatedModule, ValidationReport


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH...",
)
@common()
def command(session: Session, paths: tuple[Path, ...]) -> None:
    """Prove modules: static gate, ruff, mypy, import, and a dry run in a sandbox without network.

    PATH is a module or a folder of modules. Exit 0 when all are accepted, 3 when any is refused or
    could not be verified. The configuration of the validated tree is never read.
    """
    from pulsus.cli import jsonout, render

    modules: list[dict[str, Any]] = []
    refused = False
    for path in _modules(paths):
        report, _ = prove(session, path)
        refused |= not report.ok
        if session.json:
            body = jsonout.validation(report, session.project)
            where = render.relative(report.path, session.project)
            modules.append({"path": where, "sha256": report.sha256, "cached": False, **body})
        else:
            click.echo("\n".join(render.report(report, session.project)))
    if session.json:
        output.document({"ok": not refused, "modules": modules})
    raise SystemExit(3 if refused else 0)


def prove(session: Session, path: Path) -> tuple[ValidationReport, ValidatedModule | None]:
    """The verdict on one file, with the pinned steps of a composed one."""
    from pulsus.routing.modules import read_bytes, steps_of

    app = session.app
    path = path.resolve()
    source = read_bytes(path)
    tool = app.define(source, path)
    return app.pipeline().validate(source, path, tool, steps_of(app, source))


def _modules(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = [p for p in sorted(path.rglob("*.py")) if not _ignored(p.relative_to(path))]
        if not found:
            raise UsageError(f"{path} holds no module", hint="name a .py file or its folder")
        yield from found


def _ignored(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
