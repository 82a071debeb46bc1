"""What Pulsus keeps cannot be read, written or trusted."""

from __future__ import annotations

import errno
from pathlib import Path

from pulsus.errors.base import PulsusError


class StateCorrupt(PulsusError):
    """`.pulsus/` or metadata cannot be read, or was written by a newer Pulsus."""

    code = "STATE_CORRUPT"
    exit_status = 2


class MetadataCorrupt(StateCorrupt):
    """A promotion record is not a JSON object; history cannot be trusted until it is."""

    code = "METADATA_CORRUPT"


class StorageUnwritable(PulsusError):
    """A folder Pulsus must write to is read-only."""

    code = "STORAGE_UNWRITABLE"
    exit_status = 2


class UserStateInvalid(PulsusError):
    """The user's own state folder cannot be named, is damaged, or is open to other users."""

    code = "USER_STATE_INVALID"
    exit_status = 2


class DiskFull(PulsusError):
    """No space left; nothing was half-written. Worth trying again once there is room."""

    code = "DISK_FULL"
    exit_status = 75


class Busy(PulsusError):
    """Another Pulsus holds the lock, or this machine had no time to verify a module. Try again."""

    code = "BUSY"
    exit_status = 75


class AuditTampered(PulsusError):
    """The decision log or a promoted file is not what was recorded."""

    code = "AUDIT_TAMPERED"


def storage_error(failure: OSError, path: Path) -> PulsusError:
    """The error to raise for a failed write to `path`: DiskFull or StorageUnwritable."""
    why = failure.strerror or str(failure)
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"cannot write {path}: {why}",
            hint="make room on that disk (`pulsus gc` removes old logs and candidates), then retry",
            path=str(path),
        )
    blocking = _in_the_way(path) if failure.errno in (errno.ENOTDIR, errno.EEXIST) else None
    hint = "give this user write access to it, or name another folder in the settings"
    if blocking:
        hint = f"{blocking} is no folder, and one is needed there: move it away"
    return StorageUnwritable(f"cannot write {path}: {why}", hint=hint, path=str(path))


def _in_the_way(path: Path) -> Path | None:
    """What lies where a folder on the way to `path` should be."""
    way = (*reversed(path.parents), path)
    return next((p for p in way if p.is_symlink() or p.exists() if not p.is_dir()), None)
