"""`pulsus validate` (routing spec §8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import UsageError, ValidationFailed

if TYPE_CHECKING:
    from pulsus.core.types import BrokenTool, ToolSpec, ValidationReport


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
    refused: list[str] = []
    for path in _modules(paths):
        report, tool = prove(session, path)
        where = render.relative(report.path, session.project)
        if not report.ok:
            refused.append(where)
        if session.json:
            modules.append({"path": where, **jsonout.module(report, tool, session.project)})
        else:
            click.echo("\n".join(render.report(report, session.project)))
    if session.json:
        failed = output.error_body(_refused(refused, len(modules))) if refused else {}
        output.document({"ok": not refused, "modules": modules, **failed})
    raise SystemExit(3 if refused else 0)


def _refused(paths: list[str], of: int) -> ValidationFailed:
    hint = "each module's `steps` say why"
    return ValidationFailed(f"{len(paths)} of {of} modules not accepted", hint=hint, paths=paths)


def prove(session: Session, path: Path) -> tuple[ValidationReport, ToolSpec | BrokenTool]:
    """The verdict on one file, with the pinned steps of a composed one, and what it defines."""
    from pulsus.routing.modules import read_bytes, steps_of

    app = session.app
    path = path.resolve()
    source = read_bytes(path)
    tool = app.define(source, path)
    report, _ = app.pipeline().validate(source, path, tool, steps_of(app, source))
    return report, tool


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
