"""`pulsus commands check`: whether tables of the command gate are right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import UsageError, ValidationFailed

if TYPE_CHECKING:
    from pulsus.commands.checked import Problem
    from pulsus.commands.context import Context

EPILOG = """\b
Examples:
  pulsus commands check
  pulsus commands check config/commands/mytool.yaml
\b
Exit codes: 0 all are right · 3 findings
"""


@click.command(epilog=EPILOG)
@click.argument(
    "files",
    nargs=-1,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="[FILE]...",
)
@common()
def check(session: Session, files: tuple[Path, ...]) -> None:
    """Check tables: that they read, name what there is, and judge their own examples as they say.

    Without FILE, every table that is used: the project's in config/commands/, plugins' and those
    that ship. A FILE is checked as if it were used, wherever it lies.
    """
    from pulsus.cli import commands_json
    from pulsus.cli.table import counted

    checked = [file.resolve() for file in files] or _used(session.app.commands.context)
    found = [problem for file in checked for problem in _problems(session, file)]
    found += [] if files else _unread(session.app.commands.context)
    refusal = _refused(len(found)) if found else None
    rows = [
        {
            "program": each.program,
            "path": commands_json.path(session, each.file),
            "code": each.code,
            "reason": each.reason,
            "fix": each.fix,
        }
        for each in found
    ]
    if session.json:
        body = {"ok": refusal is None, "tables": len(checked), "findings": rows}
        output.document(body | (output.error_body(refusal) if refusal else {}))
    else:
        if rows:
            output.table(
                ("table", "code", "reason"), [(r["path"], r["code"], r["reason"]) for r in rows]
            )
            click.echo()
            output.table(("code", "what to do"), sorted({(r["code"], r["fix"]) for r in rows}))
            click.echo()
        click.echo(f"{counted(len(checked), 'table')}, {counted(len(found), 'finding')}")
    raise SystemExit(refusal.exit_status if refusal else 0)


def _used(context: Context) -> list[Path]:
    found = (context.tables.path(name) for name in context.tables.names())
    return [file for file in found if file is not None]


def _unread(context: Context) -> list[Problem]:
    """Files beside tables that somebody took for one, by an ending that is not looked for."""
    from pulsus.commands.checked import Problem

    beside = (file for folder in context.tables.folders for file in sorted(folder.glob("*.*")))
    taken = (file for file in beside if file.suffix.lower() in {".yaml", ".yml"})
    reason = "it is not read: a table is called PROGRAM.yaml"
    return [
        Problem(file.stem, file, "TABLE_INVALID", reason, f"call it {file.stem}.yaml")
        for file in taken
        if file.suffix != ".yaml"
    ]


def _problems(session: Session, file: Path) -> list[Problem]:
    from dataclasses import replace

    from pulsus.commands.checked import check as checked
    from pulsus.commands.tables import SHIPPED, Tables

    context = session.app.commands.context
    if file.suffix != ".yaml":
        raise UsageError(f"{file.name} is no table", hint="a table is called PROGRAM.yaml")
    if file.parent not in context.tables.folders:
        folders = [folder for folder in context.tables.folders if folder != SHIPPED]
        context = replace(context, tables=Tables((file.parent, *folders)))
    return list(checked(file, context))


def _refused(findings: int) -> ValidationFailed:
    from pulsus.cli.table import counted

    return ValidationFailed(
        f"{counted(findings, 'finding')} in the tables",
        hint="`findings` say what and why, and what to do; docs/commands.md",
    )
