"""The checks of `pulsus doctor`: this machine, the project and the extras. Effects: looks at both.

The sandbox itself is tested in `core/sandbox/sandbox_probe.py`, confinement in
`execution/confinement/kernel_support.py`. A weight in `ranker.weights` that no feature has is a
warning made here.

`cli/setup/doctor_command.py` shows them, and `cli/setup/doctor_model.py` tests the configured
model.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement

from pulsus.cli import console
from pulsus.config.user_state import UserState
from pulsus.core.rankers.lexical_ranker import BUILT_IN
from pulsus.core.text.similar_names import did_you_mean
from pulsus.errors import (
    LlmNotConfigured,
    PulsusError,
    StateCorrupt,
    UserStateInvalid,
    WorkflowsMissing,
)
from pulsus.install_hint import DISTRIBUTION, install_command

if TYPE_CHECKING:
    from pulsus.bootstrap import App


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing looked at. Without a `required` one nothing can be promoted here.

    `broken`: it is there and damaged, and commands that need it end with an error.
    """

    name: str
    ok: bool
    found: str
    hint: str = ""
    required: bool = True
    broken: bool = False


def machine_checks() -> Iterator[DoctorCheck]:
    """Yield the checks of what is installed on this machine."""
    yield DoctorCheck("python", True, platform.python_version())
    yield _check_sandbox()
    yield _check_confinement()
    for name in ("ruff", "mypy"):
        yield _check_package(name, f"pip install {name}")


def project_checks(app: App) -> Iterator[DoctorCheck]:
    """Yield the checks of the project and its settings."""
    if app.standings:
        yield _check_settings(app)
    yield from _check_catalogue(app)
    yield from _git_ignored(app)
    yield from _unknown_weights(app)
    yield _check_calibration(app)
    yield _check_writable("logs", app.log_dir)
    yield _check_state(app)
    yield from _missing_user_state(app)
    yield from _damaged_log(app)
    yield _check_plugins(app)
    yield _check_model(app)


_PURPOSES: Final = {
    "agent": "`pulsus agent` and `pulsus chat`",
    "web": "`pulsus serve` and `pulsus users`",
    "planner": "`pulsus place`",
    "embeddings": "finding tools by meaning",
    "plot": "`pulsus eval --plot`",
}
"""The purpose of each extra. An extra without one adds nothing yet."""


def extra_checks() -> Iterator[DoctorCheck]:
    """Yield a check for each extra: nothing that is promoted needs one."""
    wanted = [Requirement(line) for line in requires(DISTRIBUTION) or ()]
    for extra, purpose in _PURPOSES.items():
        names = [r.name for r in wanted if r.marker and r.marker.evaluate({"extra": extra})]
        lacking = [name for name in names if not _is_installed(name)]
        found = f"for {purpose}"
        if lacking:
            found = f"not installed ({', '.join(lacking)}); {found}"
        yield DoctorCheck(
            f"extra {extra}", not lacking, found, install_command(extra), required=False
        )


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _check_sandbox() -> DoctorCheck:
    from pulsus.core.sandbox.sandbox_probe import probe

    status = probe()
    if status.works:
        return DoctorCheck("sandbox", True, f"{status.how} (version {status.version})")
    return DoctorCheck("sandbox", False, status.reason, status.hint)


def _check_confinement() -> DoctorCheck:
    """Check how promoted tools are confined while they run; promotion does not need it."""
    from pulsus.execution.confinement.kernel_support import find_support

    here = find_support()
    parts = (
        f"Landlock {here.landlock}" if here.landlock else "no Landlock",
        "system-call filter" if here.filter else "no system-call filter",
        "supervised calls" if here.supervisor else "no supervised calls",
        "user namespaces" if here.user_namespaces else "no user namespaces",
    )
    found = ", ".join((*parts, *here.why))
    hint = "tools that read run with all your rights: use Linux 5.14 or newer"
    return DoctorCheck("run confinement", here.files != "none", found, hint, required=False)


def _check_package(name: str, hint: str) -> DoctorCheck:
    if find_spec(name) is None:
        return DoctorCheck(name, False, "not installed", hint)
    try:
        return DoctorCheck(name, True, version(name))
    except PackageNotFoundError:
        return DoctorCheck(name, True, "installed, version unknown")


def _check_settings(app: App) -> DoctorCheck:
    """Check that every value of the project's files that needs approval has it."""
    from pulsus.bootstrap.project_trust import TABLES, shorten_json

    missing = [each for each in app.standings if each.state != "approved"]
    if missing:
        redact = app.redactor.redact_value
        told = [f"{e.found.place}: {e.key} = {shorten_json(redact(e.value))}" for e in missing]
        why = f" ({app.trust_failure})" if app.trust_failure else ""
        hint = f"`pulsus config trust {' '.join(each.key for each in missing)}` shows and asks"
        found = f"not approved on this machine: {'; '.join(told)}{why}"
        required = any(each.key != TABLES for each in missing)
        return DoctorCheck("settings", False, found, hint, required)
    approved = ", ".join(each.key for each in app.standings)
    return DoctorCheck("settings", True, f"approved for this project: {approved}")


def _check_catalogue(app: App) -> Iterator[DoctorCheck]:
    try:
        found = app.catalogue
    except StateCorrupt:
        return  # the line about the state says why it is not read
    except PulsusError as failure:
        yield DoctorCheck("catalogue", False, failure.message, failure.hint)
        return
    broken = f", {console.counted(len(found.broken), 'broken file')}" if found.broken else ""
    hint = "`pulsus init` adds the starter tools"
    yield DoctorCheck(
        "catalogue", bool(found.tools), f"{console.counted(len(found.tools), 'tool')}{broken}", hint
    )


def _git_ignored(app: App) -> Iterator[DoctorCheck]:
    """Yield tools that git ignores, where there are some: they never reach a review."""
    from pulsus.routing.maintenance import catalogue_check

    try:
        found = catalogue_check.find_git_ignored(app.catalogue, app.project, app.workflows_root)
    except PulsusError:
        return  # the line about the catalogue says why it cannot be read
    if found:
        tools = [tool for finding in found for tool in finding.tools]
        said = (
            f"git ignores {console.counted(len(tools), 'tool')}: {', '.join(tools[:3])}"
            if tools
            else found[0].reason
        )
        hint = f"{found[0].fix}; `pulsus tools check` lists all"
        yield DoctorCheck("git", False, said, hint, required=False)


def _check_calibration(app: App) -> DoctorCheck:
    """Name the calibration that gives p. A project's own one that cannot be used is a finding."""
    from pulsus.routing.evaluation.calibration_file import PLACE, load_calibration

    calibration, unusable = load_calibration(app.project)
    if unusable:
        return DoctorCheck("calibration", False, unusable, required=False)
    origin = calibration.provenance
    if origin.get("source") != "project":
        return DoctorCheck("calibration", True, "the one shipped with Pulsus", required=False)
    day = str(origin.get("fitted_at", "an unknown day")).partition("T")[0]
    found = f"{PLACE}, fitted on {day} to {origin.get('requests', '?')} requests"
    return DoctorCheck("calibration", True, found, required=False)


def _unknown_weights(app: App) -> Iterator[DoctorCheck]:
    """Yield a warning for weights of no feature: the plugin may be missing, or the name wrong."""
    known = (*BUILT_IN, *(feature.name for feature in app.contributions.features))
    unknown = [name for name in app.settings.ranker.weights if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known, f"features are {', '.join(known)}")
        said = f"ranker.weights has {', '.join(unknown)}, and no feature has that name"
        yield DoctorCheck("weights", False, said, hint, required=False)


def _check_state(app: App) -> DoctorCheck:
    """Check the state folder, and every page of the database in it."""
    from pulsus.core.storage.state_db import state_db
    from pulsus.core.system.state_dir import open_state

    folder = app.state_dir
    try:
        open_state(folder, create=False)
        if state_db.has_state_db(folder):
            with closing(state_db.open_state_db(folder, app.project)) as database:
                state_db.check_integrity(database, folder / state_db.FILE)
    except PulsusError as failure:
        return DoctorCheck("state", False, failure.message, failure.hint, broken=True)
    return _check_writable("state", folder)


def _missing_user_state(app: App) -> Iterator[DoctorCheck]:
    """Yield a warning if this user has no folder in which approvals can be kept."""
    try:
        UserState.of(app.project)
    except UserStateInvalid as failure:
        yield DoctorCheck("user state", False, failure.message, failure.hint, required=False)


def _damaged_log(app: App) -> Iterator[DoctorCheck]:
    """Yield what is wrong with the decision log or the records, as each promotion finds it."""
    try:
        app.promoter().require_log()
    except WorkflowsMissing:
        return  # the line about the catalogue says so
    except PulsusError as failure:
        yield DoctorCheck("records", False, failure.message, failure.hint, broken=True)


def _check_writable(name: str, folder: Path) -> DoctorCheck:
    nearest = next(p for p in (folder, *folder.parents) if p.exists())
    if not nearest.is_dir():
        return DoctorCheck(name, False, f"{nearest} is not a folder", f"move {nearest} away")
    ok = os.access(nearest, os.W_OK | os.X_OK)
    return DoctorCheck(name, ok, str(folder), f"give this user write access to {nearest}")


def _check_model(app: App) -> DoctorCheck:
    """Check that a model is configured; nothing is sent."""
    try:
        model = app.model()
    except LlmNotConfigured:
        waits = app.unapproved("model.base_url") is not None
        how = "`pulsus config trust model.base_url`" if waits else "set model.base_url"
        hint = f"needed to write new tools and for the agent; {how}"
        return DoctorCheck("model", False, "none", hint, required=False)
    except PulsusError as failure:
        return DoctorCheck("model", False, failure.message, failure.hint, required=False)
    address = app.redactor.redact(app.settings.model.base_url)
    found = f"{model.model} at {address or model.provider} (`pulsus doctor --model` tries it)"
    return DoctorCheck("model", True, found, required=False)


def _meant(name: str, names: Collection[str]) -> str:
    near = did_you_mean(name, names, "")
    return f": {near}" if near else ""


def _check_plugins(app: App) -> DoctorCheck:
    failures = list(app.checked_plugins().failures)
    names = {info.name for info in app.plugins.infos}
    failures += [
        f"plugins.disabled names {name!r}, and no plugin has that name{_meant(name, names)}"
        for name in app.settings.plugins.disabled
        if name not in names
    ]
    found = "; ".join(failures) or f"{len(app.plugins.infos)} loaded"
    return DoctorCheck("plugins", not failures, found, "`pulsus plugins list`", required=False)
