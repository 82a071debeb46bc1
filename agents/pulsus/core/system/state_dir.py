"""The versioned folder `.pulsus/`. Effect: reads it, and makes it where asked to.

A state folder of a newer Pulsus, or one that cannot be read or written, is refused here. The
database in it is opened in `core/storage/state_db/state_db.py`, and the user's own state folder in
`config/user_state.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

from pulsus.core.system import atomic_write
from pulsus.errors import StateCorrupt, StorageUnwritable, storage_errors
from pulsus.fast_dataclass import dataclass

VERSION = 1
"""Layout written by this Pulsus. A newer one is refused."""

_MAX_VERSION_BYTES = 32


@dataclass(frozen=True, slots=True)
class StateDir:
    """An opened state folder; `exists` is False if nothing was ever stored."""

    path: Path
    version: int = VERSION
    exists: bool = True

    @property
    def locks(self) -> Path:
        """Lock files."""
        return self.path / "locks"

    @property
    def audit(self) -> Path:
        """Records that are never deleted."""
        return self.path / "audit"


def open_state(path: Path, *, create: bool = True) -> StateDir:
    """Return the state folder at `path`; with `create=False` nothing is written.

    Raises StateCorrupt for an unreadable or newer one; with `create`, StorageUnwritable or DiskFull
    where it cannot be written to.
    """
    version = _read_version(path)
    if create:
        _prepare_folder(path, fresh=version is None)
    return StateDir(path, version or VERSION, exists=create or version is not None)


def _read_version(path: Path) -> int | None:
    file = path / "version"
    try:
        with file.open("rb") as opened:
            text = opened.read(_MAX_VERSION_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise StateCorrupt(
            f"cannot read {file}: {failure.strerror}",
            hint=f"make {path} a folder this user can read, or set state_dir",
        ) from failure
    digits = text.strip()
    if len(text) > _MAX_VERSION_BYTES or not digits.isdigit() or int(digits) < 1:
        shown = digits[:40].decode("utf-8", "replace")
        found = f"holds {shown!r}, not a version number" if shown else "is empty"
        raise StateCorrupt(f"{file} {found}", hint=f"write {VERSION} into {file}")
    if int(digits) > VERSION:
        raise StateCorrupt(
            f"{path} was written by a newer Pulsus (version {int(digits)}, this one knows "
            f"{VERSION})",
            hint="upgrade Pulsus, or set state_dir to another folder",
        )
    return int(digits)


def _prepare_folder(path: Path, *, fresh: bool) -> None:
    with storage_errors(path):
        (path / "locks").mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise StorageUnwritable(
            f"cannot write to {path}",
            hint="give this user write access to it, or set state_dir",
            path=str(path),
        )
    if not (path / ".gitignore").exists():
        atomic_write.write_text(path / ".gitignore", "*\n")
    if fresh:
        atomic_write.write_text(path / "version", f"{VERSION}\n")
