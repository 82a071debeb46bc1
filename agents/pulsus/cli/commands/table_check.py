"""`pulsus commands check`: whether tables of the command gate are right.

The checks are in `commands/table_check/checker.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.commands import project_scope, verdict_json
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common
from pulsus.errors import UsageError, ValidationFailed

if TYPE_CHECKING:
    from pulsus.commands.judge_context import JudgeContext
    from pulsus.commands.table_check.checker import Problem
    from pulsus.commands.table_check.overrides import Effect

_LIKE_TABLES = frozenset({".yaml", ".yml"})
_EXPECTED = _LIKE_TABLES | {".md"}

EPILOG = page_end(
    "pulsus commands check",
    "pulsus commands check my_table.yaml --restrictions",
    exits={
        0: "all tables are right",
        2: "usage or settings",
        3: "findings",
        130: "interrupted",
    },
)


@click.command(epilog=EPILOG)
@click.argument(
    "files",
    nargs=-1,
    type=GivenFile(),
    metavar="[FILE]...",
)
@click.option(
    "--restrictions",
    is_flag=True,
    help="Also find restrictions that no refused example of the table shows.",
)
@common()
def check(session: CommandSession, files: tuple[Path, ...], restrictions: bool) -> None:
    """Check tables: valid, consistent, and true to their own examples.

    A table is a YAML file that lists how one program may be called to read. Without FILE every
    table is checked: those in config/commands/, of plugins and of Pulsus. A table that is not
    approved yet is checked as if it were in use. So is FILE, with the tables in its folder.

    Three warnings do not change the exit code: a table of the project changes the verdict on an
    example of another table, an entry that is listed as reading looks like a change, or a file in
    config/commands/ is no table.
    """
    warnings = project_scope.warn(session, plugins=bool(files))
    verdict_json.names(session)  # all that is checked is judged by what can be read
    checked = [file.resolve() for file in files] or _used_tables(session.app.commands.unguarded)
    tell = console.line_progress(quiet=session.verbosity < 0)
    tell(f"checking {console.counted(len(checked), 'table')} with all examples …")
    found, effects = _check_files(session, checked)
    warnings += _warn_unapproved(session, [] if files else checked)
    warnings += [] if files else _warn_other_files(session)
    warnings += _list_advice(session, found)
    found = [each for each in found if not each.advises]
    found += _unproved_restrictions(session, checked, found) if restrictions else []
    found += [] if files else _unread_files(session.app.commands.unguarded)
    rows = [_problem_row(session, each) for each in found]
    rows += [] if files else _failed_plugins(session)
    others = [_effect_row(session, each) for each in effects]
    refusal = _findings_error(len(rows)) if rows else None
    if session.json:
        body: dict[str, Any] = {"ok": refusal is None, "tables": len(checked)}
        body |= {"findings": rows, "effects": others}
        body |= {"warnings": warnings} if warnings else {}
        console.document(body | (console.error_body(refusal) if refusal else {}))
    else:
        _print_tables(rows, others)
        console.echo(
            f"{console.counted(len(checked), 'table')}, {console.counted(len(rows), 'finding')}"
        )
    raise SystemExit(refusal.exit_status if refusal else 0)


def _warn_unapproved(session: CommandSession, files: Sequence[Path]) -> list[str]:
    """Return the project's tables that judge nothing until they are approved, and warn of them."""
    refusal = session.app.commands.context.tables.refusal
    told = [f"not in use: {why}" for why in map(refusal, files) if why]
    for each in told if session.verbosity >= 0 else ():
        console.warn(each)
    return told


def _warn_other_files(session: CommandSession) -> list[str]:
    """Return the files in config/commands/ that are never read as a table, and warn of them.

    A name that ends like one of YAML is a finding instead. Hidden files and pages are expected.
    """
    folder = session.project / "config/commands"
    others = (file for file in sorted(folder.glob("*")) if not file.is_dir())
    told = [
        f"{verdict_json.path(session, file)} is not read: a table is called PROGRAM.yaml"
        for file in others
        if not file.name.startswith(".") and file.suffix.lower() not in _EXPECTED
    ]
    for each in told if session.verbosity >= 0 else ():
        console.warn(each)
    return told


def _list_advice(session: CommandSession, found: Sequence[Problem]) -> list[str]:
    """Return entries that may be right but deserve a second look, and warn of them."""
    told = [each for each in found if each.advises]
    advice = [f"{verdict_json.path(session, p.file)}: {p.reason}; {p.fix}" for p in told]
    for each in advice if session.verbosity >= 0 else ():
        console.warn(each)
    return advice


def _unproved_restrictions(
    session: CommandSession, files: Sequence[Path], found: Sequence[Problem]
) -> list[Problem]:
    """Return the restrictions that no example shows, of your own tables without findings."""
    from pulsus.commands.program_tables.loader import SHIPPED
    from pulsus.commands.table_check.checker import find_unproved

    wrong = {problem.file for problem in found}
    right = [file for file in files if file not in wrong and file.parent != SHIPPED]
    return [
        problem
        for file in right
        for problem in find_unproved(file, _context_of_table(session, file))
    ]


def _print_tables(rows: Sequence[dict[str, Any]], effects: Sequence[dict[str, Any]]) -> None:
    if rows:
        console.table(
            ("table", "code", "reason"), [(r["path"], r["code"], r["reason"]) for r in rows]
        )
        click.echo()
        console.table(("code", "what to do"), sorted({(r["code"], r["fix"]) for r in rows}))
        click.echo()
    by_table: dict[str, list[dict[str, Any]]] = {}
    for effect in effects:
        by_table.setdefault(", ".join(effect["because"]), []).append(effect)
    for because, brought in by_table.items():
        examples = console.counted(len(brought), "example")
        console.echo(f"{because} decides otherwise than {examples} of other tables, as")
        console.echo(f"  {brought[0]['path']}: {brought[0]['reason']}")
        console.echo(f"  {brought[0]['fix']}")
        click.echo()


def _problem_row(session: CommandSession, problem: Problem) -> dict[str, Any]:
    return {
        "program": problem.program,
        "path": verdict_json.path(session, problem.file),
        **console.json_fields(problem, "code reason fix"),
    }


def _effect_row(session: CommandSession, effect: Effect) -> dict[str, Any]:
    because = [verdict_json.path(session, file) for file in effect.because]
    return _problem_row(session, effect.problem) | {"fix": effect.fix, "because": because}


def _failed_plugins(session: CommandSession) -> list[dict[str, Any]]:
    """Return the plugins that fail: their tables and inspectors are not used."""
    return [
        {
            "program": each.name,
            "path": f"plugin {each.name}",
            "code": "PLUGIN_FAILED",
            "reason": f"its tables and inspectors are not used: {each.error}",
            "fix": "repair it, take it out, or name it in plugins.disabled",
        }
        for each in session.app.checked_plugins().infos
        if each.error
    ]


def _used_tables(context: JudgeContext) -> list[Path]:
    found = (context.tables.path(name) for name in context.tables.names())
    return [file for file in found if file is not None]


def _unread_files(context: JudgeContext) -> list[Problem]:
    """Return files that look like tables, with an ending or folder that is never read."""
    from pulsus.commands.table_check.checker import Problem

    return [
        Problem(file.stem, file, "TABLE_INVALID", f"it is not read: {why}", fix)
        for folder in context.tables.folders
        for file, why, fix in _passed_over(folder)
    ]


def _passed_over(folder: Path) -> Iterator[tuple[Path, str, str]]:
    files = (file for file in sorted(folder.rglob("*.*")) if not file.is_dir())
    for file in (file for file in files if file.suffix.lower() in _LIKE_TABLES):
        if file.parent != folder:
            yield file, f"tables lie in {folder.name}/ itself", f"move it to {folder.name}/"
        elif file.suffix != ".yaml":
            yield file, "a table is called PROGRAM.yaml", f"call it {file.stem}.yaml"


def _check_files(
    session: CommandSession, files: Sequence[Path]
) -> tuple[list[Problem], list[Effect]]:
    """Return the findings of each file, and the effects of other tables on its examples."""
    from pulsus.commands.table_check.checker import check_table as checked
    from pulsus.commands.table_check.overrides import split_by_cause

    findings: list[Problem] = []
    effects: list[Effect] = []
    for file in files:
        context = _context_of_table(session, file)
        own, others = split_by_cause(checked(file, context), context)
        findings += own
        effects += others
    return findings, effects


def _context_of_table(session: CommandSession, file: Path) -> JudgeContext:
    """Return the context in which the table in `file` is used. Raises UsageError for another
    file."""
    from dataclasses import replace

    from pulsus.commands.program_tables.loader import SHIPPED, Tables

    context = session.app.commands.unguarded
    if file.suffix != ".yaml":
        raise UsageError(f"{file.name} is no table", hint="a table is called PROGRAM.yaml")
    if file.parent in context.tables.folders:
        return context
    folders = [folder for folder in context.tables.folders if folder != SHIPPED]
    return replace(context, tables=Tables((file.parent, *folders)))


def _findings_error(findings: int) -> ValidationFailed:
    return ValidationFailed(
        f"{console.counted(findings, 'finding')} in the tables",
        hint="`findings` say what and why, and what to do",
    )
