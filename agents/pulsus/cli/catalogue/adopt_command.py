"""`pulsus tools adopt`: an existing script becomes a tool.

If a script can be adopted, and under which name, is decided in `adoption/adopt.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common
from pulsus.cli.render import validation_text
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import ValidationFailed

if TYPE_CHECKING:
    from pulsus.adoption.adopt import Adopted

EPILOG = page_end(
    "pulsus tools adopt my_script.py --domain storage --action clean",
    "pulsus tools adopt my_script.sh --action deploy --name push_build",
    exits={
        0: "written and accepted",
        2: "usage or settings",
        3: "written, but refused: edit it first",
        6: "no safe place in the catalogue",
    },
)


@click.command(epilog=EPILOG)
@click.argument("file", type=GivenFile(), metavar="FILE")
@click.option("--domain", metavar="D", help="Domain folder. Without it the tool is shared.")
@click.option("--action", metavar="A", help="Action folder.  [default: run]")
@click.option("--name", metavar="N", help="Name of the tool.  [default: the file's]")
@click.option("--replace", is_flag=True, help="Overwrite a candidate of that name.")
@common()
def adopt(
    session: CommandSession,
    file: Path,
    domain: str | None,
    action: str | None,
    name: str | None,
    replace: bool,
) -> None:
    """Turn the script FILE into a tool and a test.

    FILE is a shell or Python script; its `#!` line or its suffix (.sh, .bash, .dash, .ksh, .py,
    .pyw) says so. A Python script without argparse or click gets no arguments, except for the words
    that it takes from sys.argv. The script is read and not run, and its code is kept. The output
    lists what could not be converted. The module is written to workflows/_tmp/ and validated like
    any other. If the script has a pytest or bats file beside it, its tests are brought along where
    the text allows it.
    """
    from pulsus.adoption.adopt import adopt as adopted
    from pulsus.adoption.adopt import promotion_place

    place = shlex.join(promotion_place(domain, action))
    found = adopted(session.app, file, domain=domain, action=action, name=name, overwrite=replace)
    failure = None if found.report.ok else _refused(found)
    if session.json:
        console.end_document(_body(found, session.project, place), failure)
    else:
        where = validation_text.relative(found.module, session.project)
        console.echo(strip_controls(f"{file} → {where} (kind: {found.script.kind})"))
        rows = [(p.name, p.hint, p.default or "required", p.text) for p in found.parameters]
        if rows:
            console.table(("argument", "type", "default", "text"), rows)
        for note in found.notes:
            console.echo(strip_controls(f"- look at: {note}"))
        for line in _test_lines(found, session.project):
            console.echo(strip_controls(line))
        # The script may have the same name, and other lines.
        for line in validation_text.report_lines(found.report, session.project, named=where):
            console.echo(line)
        console.echo(f"next: {_next(found, session.project, place)}")
        if found.report.ok and action and not domain:
            console.echo("- look at: without --domain DOMAIN it becomes a shared tool")
    console.leave(failure)


def _body(found: Adopted, project: Path, place: str) -> dict[str, Any]:
    return {
        **console.json_fields(
            found, "ok=report.ok tool=target.tool_id module test kind=script.kind", project
        ),
        "args": [
            console.json_fields(p, "name type=hint default description=text")
            for p in found.parameters
        ],
        "notes": list(found.notes),
        "tests": {
            **console.json_fields(found.tests, "found=file count", project),
            "kind": _kind_of_tests(found),
            "not_brought": [
                console.json_fields(each, "name reason") for each in found.tests.unusable
            ],
        },
        "validation": validation_text.validation_json(found.report, project),
        "next": _next(found, project, place),
    }


def _kind_of_tests(found: Adopted) -> str | None:
    """Return what the tests of the script became: `examples` or `pytest`, None without any."""
    return "examples" if found.tests.examples else "pytest" if found.tests.code else None


def _test_lines(found: Adopted, project: Path) -> Iterator[str]:
    """Yield what became of the script's own tests, and what to do with the test that was written.

    A promotion leaves that test where it is.
    """
    tests = found.tests
    to = validation_text.relative(found.test, project)
    if not tests.code:
        yield f"test: {to} is a skeleton: move it to your own tests and fill it in, or delete it"
    if tests.file is None:
        return
    where = validation_text.relative(tests.file, project)
    count = console.counted(tests.count, "test")
    if tests.examples:
        yield f"tests: {count} of {where} became examples, which validation runs"
    elif tests.code:
        yield f"tests: {count} of {where} brought to {to}: run them with pytest, Pulsus does not"
        yield "- look at: a promotion leaves that test there, so move it to your own tests"
    for each in tests.unusable:
        yield f"- not brought from {where}: {each.name}: {each.reason}"


def _refused(found: Adopted) -> ValidationFailed:
    return ValidationFailed(
        f"{found.module.name} is {found.report.verdict}: {found.report.summary}",
        hint="work on the module, then `pulsus validate` it",
    )


def _next(found: Adopted, project: Path, place: str) -> str:
    """Return the command that comes next."""
    where = shlex.quote(validation_text.relative(found.module, project))
    if not found.report.ok:
        return f"edit it, then pulsus validate {where}"
    return f"pulsus promote {where} {place} --name {found.target.name}"
