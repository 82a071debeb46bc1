"""`pulsus doctor`: what works on this machine and what to install.

A failed required check ends with status 3 (NOT_READY). The checks are in
`cli/setup/doctor_checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.line_folding import fold_line
from pulsus.cli.options import common
from pulsus.cli.setup.doctor_checks import (
    DoctorCheck,
    extra_checks,
    machine_checks,
    project_checks,
)
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import ConfigError, NotReady, PulsusError

if TYPE_CHECKING:
    from pulsus.cli.setup.doctor_model import ModelExamination
    from pulsus.llm.model_probe import ProbeFinding


_FIELDS = "name ok found hint required"
_IN_A_FILE = 100
"""Columns where there is no terminal: lines of a log are read, too."""


EPILOG = page_end(
    "pulsus doctor",
    "pulsus doctor --model",
    exits={
        0: "ready",
        2: "usage, or invalid configuration",
        3: "something required is missing or broken",
    },
)


@click.command(epilog=EPILOG)
@click.option("--model", is_flag=True, help="Test the configured model.")
@common(inspects=True)
def command(session: CommandSession, model: bool) -> None:
    """Show what works on this machine, and what to do about the rest.

    This machine is ready if tools can be validated and promoted here, and the state of the project
    is whole. With --model, the model must also be able to write tools.
    """
    unreadable = _settings_failure(session)
    checks = list(machine_checks())
    checks += [_failed_settings(unreadable)] if unreadable else project_checks(session.app)
    checks += extra_checks()
    examined = _examine_model(session) if model and unreadable is None else None
    working = all(check.ok for check in checks if check.required)
    if session.json:
        told = [replace(check, hint="") if check.ok else check for check in checks]
        body: dict[str, Any] = {"checks": [console.json_fields(check, _FIELDS) for check in told]}
        body |= {"model": examined.body()} if examined else {}
        failed: PulsusError | None = unreadable
        if failed is None and not working:
            failed = _not_ready("something required is missing or broken", checks)
        if failed is None and examined and not examined.ready:
            failed = _not_ready("the model is not ready", examined.findings)
        console.document(
            {"ok": True, **body} if failed is None else console.error_body(failed) | body
        )
    else:
        found: list[tuple[str, DoctorCheck | ProbeFinding]] = [(c.name, c) for c in checks]
        if examined:
            found = _add_model(found, examined.findings)
        rows = [(_mark_of(c), name, c.found, "" if c.ok else c.hint) for name, c in found]
        click.echo("\n".join(checklist_lines(rows, console.width() or _IN_A_FILE)))
    if unreadable:
        console.leave(unreadable)
    raise SystemExit(0 if working and (examined is None or examined.ready) else 3)


def _add_model(
    checks: Sequence[tuple[str, DoctorCheck | ProbeFinding]], findings: Sequence[ProbeFinding]
) -> list[tuple[str, DoctorCheck | ProbeFinding]]:
    """Return the checks with those of the model. A failure with one cause is told once.

    A model that does not answer cannot list its names either, and one that is not configured has
    failed the check of the project too.
    """
    causes = {(f.found, f.hint) for f in findings if f.required and not f.ok}
    unset = any(f.name == "configured" for f in findings)
    kept = [(name, check) for name, check in checks if not (unset and name == "model")]
    told = [f for f in findings if f.required or (f.found, f.hint) not in causes]
    return [*kept, *((f"model {f.name}", f) for f in told)]


def _settings_failure(session: CommandSession) -> ConfigError | None:
    """Return the error of settings that cannot be read; the machine is checked in any case."""
    try:
        _ = session.app
    except ConfigError as failure:
        return failure
    return None


def _failed_settings(failure: ConfigError) -> DoctorCheck:
    found = f"{failure.message}; the project itself was not checked"
    return DoctorCheck("settings", False, found, failure.hint)


def _examine_model(session: CommandSession) -> ModelExamination:
    from pulsus.cli.setup import doctor_model

    quiet = session.verbosity < 0
    return doctor_model.examine_model(
        session.app, lambda said: None if quiet else console.note(said)
    )


def _not_ready(what: str, checks: Sequence[DoctorCheck | ProbeFinding]) -> NotReady:
    missing = [check for check in checks if check.required and not check.ok]
    said = "; ".join(f"{check.name}: {check.found}" for check in missing)
    return NotReady(f"{what}: {said}", hint=missing[0].hint)


def _mark_of(check: DoctorCheck | ProbeFinding) -> str:
    if check.ok:
        return "ok"
    if isinstance(check, DoctorCheck) and check.broken:
        return "BROKEN"
    return "MISSING" if check.required else "absent"


_NARROW = 60
"""Columns below which a text goes under its name: beside it there were too few left."""
_UNDER = 4

CheckRow = tuple[str, str, str, str]
"""Mark (`ok`), name, what was found, and what to do about it, which may be empty."""


def checklist_lines(rows: Sequence[CheckRow], width: int) -> Iterator[str]:
    """Yield every check on as many lines as `width` columns ask for; an arrow leads to what to
    do.
    """
    marks = max((len(mark) for mark, *_ in rows), default=0)
    names = max((len(name) for _, name, *_ in rows), default=0)
    for mark, name, found, hint in rows:
        head = f"{mark:<{marks}}  {name:<{names}}  "
        texts = [strip_controls(text).replace("\n", " ") for text in (found, hint and f"→ {hint}")]
        if width < _NARROW and len(head + texts[0]) > width:
            yield head.rstrip()
            beside = " " * _UNDER
        else:
            yield fold_line(head + texts.pop(0), width, hanging=len(head))
            beside = " " * (_UNDER if width < _NARROW else len(head))
        for text in filter(None, texts):
            yield fold_line(beside + text, width, hanging=len(beside))
