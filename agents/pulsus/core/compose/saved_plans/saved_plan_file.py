"""Read and write plan files: saved plans, and plans written by hand (docs/plans.md).

A saved plan that was edited (its hash differs) and a file that a new plan would overwrite are
refused here. The hash is computed in `saved_plan_mapping.py`, which also checks the version of the
format and the keys. Effects: reads and writes the file.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pulsus.core.compose.plans.dsl import plan_file
from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict
from pulsus.core.compose.saved_plans.saved_plan import SavedInput, SavedPlan
from pulsus.core.compose.saved_plans.saved_plan_mapping import (
    MARK,
    plan_hash,
    saved_plan_from_dict,
    saved_plan_to_dict,
)
from pulsus.core.system import atomic_write
from pulsus.core.system.regular_files import ExpectedFile, foreign_file_error, kind_of
from pulsus.core.system.yaml_position import find_position
from pulsus.core.types import JsonValue, Plan
from pulsus.errors import (
    PlanEdited,
    PlanInvalid,
    PulsusError,
    StorageUnwritable,
    UsageError,
    place_from_option,
    storage_errors,
)

MAX_BYTES = 10_000_000
"""Largest plan file that is read."""
_EXPECTED = ExpectedFile(
    "a plan", MAX_BYTES, PlanInvalid, ("plan", MARK), 'pulsus plan "REQUEST" -o plan.yaml makes one'
)
_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR})
"""Errors of a folder in which this user can make no file."""
_Found = TypeVar("_Found")
_Failure = TypeVar("_Failure", bound=PulsusError)
_HEADER = "# A Pulsus plan. Look at it with `pulsus show`, run it with `pulsus apply`.\n"


@dataclass(frozen=True, slots=True)
class PlanSource:
    """A plan as its file has it, saved or written by hand, with its input values and its request.

    The request is empty in a plan that was written by hand. `origins` are the inputs of a saved
    plan that was not edited: in an edited file, no value is known to be from the request.
    """

    path: Path
    text: str
    plan: Plan
    values: dict[str, JsonValue]
    request: str = ""
    origins: Mapping[str, SavedInput] = field(default_factory=dict)

    def locate(self, error: _Failure) -> _Failure:
        """Return the error about this plan with file, line and column."""
        return _locate(self.path, self.text, error)


def load_saved_plan(path: Path) -> SavedPlan:
    """Return the saved plan in the file.

    Raises PlanInvalid with file, line, value and fix. Raises PlanEdited if the file was changed
    after it was made.
    """
    text, data = _read(path)
    if not isinstance(data, dict) or {*_EXPECTED.keys}.isdisjoint(data):
        raise _EXPECTED.is_other(text, str(path))
    if MARK not in data:
        raise PlanInvalid(
            f"{path} is a plan, but its steps are not pinned: the key {MARK!r} is missing",
            hint=f"pin it for review: pulsus plan --file {path} -o reviewed.yaml",
            file=str(path),
        )
    saved, named = _located(path, text, lambda: saved_plan_from_dict(data))
    if named != plan_hash(saved):
        raise PlanEdited(
            f"{path} was changed after it was made: its content does not have its hash",
            hint=f"pin your changes as a new plan: pulsus plan --file {path} -o NEW_FILE",
            file=str(path),
            expected=named,
            actual=plan_hash(saved),
        )
    return saved


def load_plan(path: Path) -> PlanSource:
    """Return the plan in the file. Raises PlanInvalid with file, line, value and fix."""
    text, data = _read(path)
    if not isinstance(data, dict):
        raise _EXPECTED.is_other(text, str(path))
    if MARK in data:
        saved, named = _located(path, text, lambda: saved_plan_from_dict(data))
        values = {name: each.value for name, each in saved.inputs.items()}
        origins = saved.inputs if named == plan_hash(saved) else {}
        return PlanSource(path, text, saved.plan, values, saved.request, origins)
    return PlanSource(path, text, _located(path, text, lambda: plan_from_dict(data)), {})


def render_saved_plan(saved: SavedPlan) -> str:
    """Return the text of the file. The same plan gives the same text."""
    return _HEADER + plan_file.dump_yaml(saved_plan_to_dict(saved))


def write_saved_plan(saved: SavedPlan, path: Path, source: Path | None = None) -> bool:
    """Write the file, at once or not at all. Returns True if it replaces a plan.

    Raises DiskFull, and as `require_plan_or_new`.
    """
    replaces = require_plan_or_new(path, source)
    with place_from_option("name another file with -o"):
        atomic_write.write_bytes(path, render_saved_plan(saved).encode("utf-8"))
    return replaces


def require_plan_or_new(path: Path, source: Path | None = None, option: str = "-o") -> bool:
    """Return True for a saved plan or the file `source`, and False for no file or an empty one.

    `option` is the option that named the file, for the hint of an error.

    Raises UsageError for any other file, which a plan would destroy: many files have a key `plan`,
    and a plan that was written by hand has comments. So a file that cannot be parsed is refused
    too. Raises UsageError for a folder or a device, and DiskFull or StorageUnwritable for a path
    in whose folder no file can be made.
    """
    _require_writable_file(path, option)
    with place_from_option(f"name another file with {option}"), storage_errors(path):
        if not path.exists():
            return False
        # `source` was named as a plan to be pinned, and its caller reads it as one.
        if source is not None and os.path.realpath(path) == os.path.realpath(source):
            return True
    try:
        text, data = _read(path)
    except PulsusError:
        text, data = "?", None
    if isinstance(data, dict) and MARK in data:
        return True
    if text.strip():
        raise foreign_file_error(path, "plan", f"it has no key {MARK!r}")
    return False


def _require_writable_file(path: Path, option: str) -> None:
    """Refuse a folder, a device or a pipe, and a file in a folder that takes no new file.

    A file without a name is made in the folder, because permissions alone do not say if a file
    system is read-only, full, or one of the kernel's own.
    """
    with place_from_option(f"name another file with {option}"), storage_errors(path):
        mode = path.stat().st_mode if path.exists() else stat.S_IFREG
        if not stat.S_ISREG(mode):
            inside = path / "plan.yaml" if stat.S_ISDIR(mode) else "plan.yaml"
            raise UsageError(
                f"{path} is {kind_of(mode)}, and a plan is written to a file",
                hint=f"name a file: {option} {shlex.quote(str(inside))}",
            )
        try:
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as failure:
            if failure.errno not in _CLOSED:
                raise
            raise StorageUnwritable(
                f"cannot write {path}: no file can be made in {path.parent}: {failure.strerror}",
                hint=f"name a file in a folder that you may write to: {option} FILE",
                path=str(path),
            ) from failure


def _read(path: Path) -> tuple[str, JsonValue]:
    text = _EXPECTED.read(path, str(path))[0]
    reader = plan_file.read_json if text.lstrip()[:1] == "{" else plan_file.read_yaml
    try:
        return text, reader(text)
    except PlanInvalid as error:
        _EXPECTED.require_kind(text, str(path))
        raise _locate(path, text, error) from None


def _located(path: Path, text: str, parse: Callable[[], _Found]) -> _Found:
    """Return what `parse` returns; name file and line in its error."""
    try:
        return parse()
    except PlanInvalid as error:
        raise _locate(path, text, error) from None


def _locate(path: Path, text: str, error: _Failure) -> _Failure:
    at = _find_fault(text, error)
    where = ":".join(map(str, (path, *at.values())))
    details = {**error.details, "file": str(path), **at}
    return type(error)(f"{where}: {error.message}", hint=error.hint, **details)


def _find_fault(text: str, error: PulsusError) -> dict[str, int]:
    """Return the line, and where known the column, of the fault; nothing if it has no place."""
    if "line" in error.details:
        known = {key: error.details.get(key) for key in ("line", "column")}
        return {key: value for key, value in known.items() if isinstance(value, int)}
    place = str(error.details.get("place", ""))
    found = find_position(text, place.removeprefix(f"{plan_file.WHOLE}.")) if place else None
    return {"line": found[0], "column": found[1]} if found else {"line": 1}
