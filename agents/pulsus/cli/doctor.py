"""`pulsus doctor`: what works on this machine and what to install."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import NotReady, PulsusError

if TYPE_CHECKING:
    from pulsus.bootstrap import App


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. Without a `required` one nothing can be promoted here."""

    name: str
    ok: bool
    found: str
    hint: str = ""
    required: bool = True


@click.command()
@common()
def command(session: Session) -> None:
    """Show what works on this machine, why, and what to do where it does not.

    Exit 0 when tools can be validated and promoted here, else 3.
    """
    checks = list(examine(session.app))
    working = all(check.ok for check in checks if check.required)
    if session.json:
        body = {"ok": working, "checks": [asdict(check) for check in checks]}
        output.document(body if working else body | output.error_body(_not_ready(checks)))
    else:
        rows = [(_mark(c), c.name, c.found, "" if c.ok else c.hint) for c in checks]
        output.table(("", "what", "found", "what to do"), rows)
    raise SystemExit(0 if working else 3)


def _not_ready(checks: Sequence[Check]) -> NotReady:
    missing = [check for check in checks if check.required and not check.ok]
    said = "; ".join(f"{check.name}: {check.found}" for check in missing)
    return NotReady(f"no tool can be promoted here: {said}", hint=missing[0].hint)


def examine(app: App) -> Iterator[Check]:
    """Every check, most important first."""
    yield Check("python", True, platform.python_version())
    yield _sandbox()
    for name in ("ruff", "mypy"):
        yield _package(name, f"pip install {name}")
    yield _catalogue(app)
    yield _writable("logs", app.log_dir)
    yield _state(app)
    yield _plugins(app)
    model = app.settings.model.base_url
    found = f"{model} (not used: this version does not write tools yet)" if model else "none"
    yield Check("model", False, found, "not needed by what works today", required=False)
    hint = "pip install 'pulsus-workbench[plot]'"
    yield _package("matplotlib", hint, required=False)


def _sandbox() -> Check:
    from pulsus.core.sandbox.probe import probe

    status = probe()
    if status.works:
        return Check("sandbox", True, f"{status.how} (version {status.version})")
    return Check("sandbox", False, status.reason, status.hint)


def _package(name: str, hint: str, *, required: bool = True) -> Check:
    if find_spec(name) is None:
        return Check(name, False, "not installed", hint, required)
    try:
        return Check(name, True, version(name), required=required)
    except PackageNotFoundError:
        return Check(name, True, "installed, version unknown", required=required)


def _catalogue(app: App) -> Check:
    try:
        found = app.catalogue
    except PulsusError as failure:
        return Check("catalogue", False, failure.message, failure.hint)
    broken = f", {len(found.broken)} broken files" if found.broken else ""
    hint = "`pulsus init` adds the starter tools"
    return Check("catalogue", bool(found.tools), f"{len(found.tools)} tools{broken}", hint)


def _state(app: App) -> Check:
    from pulsus.core.storage.state import open_state

    try:
        open_state(app.state_dir, create=False)
    except PulsusError as failure:
        return Check("state", False, failure.message, failure.hint)
    return _writable("state", app.state_dir)


def _writable(name: str, folder: Path) -> Check:
    nearest = next(p for p in (folder, *folder.parents) if p.exists())
    ok = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    return Check(name, ok, str(folder), f"give this user write access to {nearest}")


def _plugins(app: App) -> Check:
    failures = app.checked_plugins().failures
    found = "; ".join(failures) or f"{len(app.plugins.infos)} loaded"
    return Check("plugins", not failures, found, "`pulsus plugins list`", required=False)


def _mark(check: Check) -> str:
    if check.ok:
        return "ok"
    return "MISSING" if check.required else "absent"
