"""The bytes of every replaced revision, kept beside the tools (spec §10). Effect: reads files.

`.versions/NAME-<sha256>.py` in the action's folder: under version control like the records, named
by what it holds, and behind a dot, so that it is never taken for a tool (ADR 20). Those of the
latest revision are the tool's own file. `change_set.py` adds a version and `file_transaction.py`
writes it; `core/storage/promotion/rollback.py` chooses the version to restore.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target, open_below, refuse_irregular
from pulsus.errors import HashMoved, StorageUnwritable
from pulsus.fast_dataclass import dataclass

FOLDER = ".versions"


@dataclass(frozen=True, slots=True)
class RecordedVersion:
    """A version on record and the digest its bytes had."""

    version: str
    tool_hash: str


def recorded_versions(of_name: Iterable[PromotionRecord]) -> tuple[RecordedVersion, ...]:
    """Return every version of one tool, oldest first; a change of status is not a version."""
    found = {r.version: RecordedVersion(r.version, r.tool_hash) for r in of_name}
    return tuple(found.values())


def folders(target: Target) -> tuple[str, ...]:
    """Return folders from the workflows root to where the target's versions are kept."""
    return (*target.folders, FOLDER)


def file_name(name: str, tool_hash: str) -> str:
    """Return the name of the file that keeps these bytes of the tool `name`."""
    return f"{name}-{tool_hash.removeprefix('sha256:')}.py"


def read_version(root: Path, target: Target, tool_hash: str) -> bytes | None:
    """Return the kept bytes of that digest; None if they are not kept.

    Raises HashMoved for a file that holds other bytes, TargetRefused, StorageUnwritable.
    """
    name = file_name(target.name, tool_hash)
    found = read_file(root, folders(target), name)
    if found is not None and digest(found) != tool_hash:
        shown = root.joinpath(*folders(target), name)
        raise HashMoved(
            f"{shown} does not hold the bytes it is named after",
            hint="restore it from version control; nothing is put back from it",
            path=str(shown),
        )
    return found


def digest(source: bytes) -> str:
    """Return `sha256:` and the hex digest, as records carry it."""
    return f"sha256:{hashlib.sha256(source).hexdigest()}"


def read_file(root: Path, folders: tuple[str, ...], name: str) -> bytes | None:
    """Return a regular file below `root`, no link followed; None if it is missing.

    Raises TargetRefused, StorageUnwritable.
    """
    shown = root.joinpath(*folders, name)
    try:
        with open_below(root, folders, create=False) as fd:
            refuse_irregular(fd, name, shown)
            with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=fd), "rb") as file:
                return file.read()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise StorageUnwritable(
            f"cannot read {shown}: {failure.strerror}", hint="make it readable for this user"
        ) from failure
