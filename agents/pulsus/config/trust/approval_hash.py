"""The hash that an approval of a setting holds: `config trust` asks again if it changes (ADR 27).

An approval ends if the value changes, or the program that it names. The hash of an approved plan or
call is another: `approvals/cards/approval_card.py`. This one is compared in `approved_settings.py`
(`SettingApprovals.state`). Effect: reads the file that a setting names, if that file is approved
with it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pulsus.config.user_state import repository
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True)
class Widening:
    """A value in a project file that needs approval.

    `sha256` is of key and value. `line` is 0 if it is not known. The file that a `program` setting
    names is part of what is approved.
    """

    key: str
    sha256: str
    file: str
    line: int = 0
    program: bool = False

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}" if self.line else self.file


def value_hash(key: str, value: Any, *, unordered: bool) -> str:
    """Return the SHA-256 of a key and its value in canonical form."""
    if unordered and isinstance(value, list):
        value = sorted(set(value))
    return _text_hash(json.dumps([key, value], sort_keys=True))


def bound_hash(found: Widening, value: Any, project: Path) -> str:
    """Return the hash that an approval holds: the value's, with the program it names where it names
    one.

    `.venv/bin/python` says nothing if the repository can replace that file. So its real path and
    the environment's `pyvenv.cfg` count too, and its bytes if it lies in the repository.
    """
    if not found.program or not value:
        return found.sha256
    return _text_hash("\n".join((found.sha256, *_program_parts(project, str(value)))))


def program_path(project: Path, named: str) -> Path:
    """Return the path of the program that a setting names; `~` of an unknown user stays as it is.

    A repository can bring any text, and must not stop the question about it.
    """
    return project / os.path.expanduser(named)  # noqa: PTH111 - pathlib's raises for that user


def _program_parts(project: Path, named: str) -> Iterator[str]:
    path = program_path(project, named)
    real = os.path.realpath(path)
    yield real
    if Path(real).is_relative_to(repository(project)):
        yield _file_hash(Path(real))
    for folder in (path.parent, path.parent.parent):
        yield _file_hash(folder / "pyvenv.cfg")


def _file_hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as failure:
        return failure.strerror or "unreadable"


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
