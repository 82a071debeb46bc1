"""Private working folders that do not outlive a killed Pulsus. Effect: makes and removes folders.

Each is locked by the process that made it, and the kernel releases the lock with the process. So a
later run can tell which folders are left over, and removes them. This module imports little: mypy
is started with one before anything else is loaded.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress

_LOCK = ".lock"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_NEW_SECONDS = 60.0
_MOST_REMOVED = 200  # a look: what is more is removed by the next


class Scratch:
    """One folder `path`, empty but for its lock file. Call `remove` in any case.

    Raises OSError where it cannot be made.
    """

    def __init__(self, purpose: str) -> None:
        self.path = f"{scratch_root()}/{purpose}-{os.urandom(8).hex()}"
        # Locked before it is there: a sweep that came between would take the folder for a remnant.
        lock = f"{self.path}{_LOCK}"
        self._lock = os.open(lock, _NEW, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.mkdir(self.path, 0o700)  # noqa: PTH102 - pathlib is not loaded yet
            os.rename(lock, f"{self.path}/{_LOCK}")  # noqa: PTH104
        except OSError:
            os.unlink(lock)  # noqa: PTH108
            os.close(self._lock)
            raise

    def remove(self) -> None:
        """Remove the folder with all that is in it. May be called again."""
        if self._lock >= 0:
            _remove(self.path)
            os.close(self._lock)
            self._lock = -1


def scratch_root() -> str:
    """Return the folder of this user's working folders, below TMPDIR; made where it is missing.

    Raises OSError where another user owns it or can write to it: such a user could replace the
    copies that are checked.
    """
    path = f"{os.environ.get('TMPDIR') or '/tmp'}/pulsus-{os.geteuid()}"
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)  # noqa: PTH102
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(1, "another user may write to it: remove it", path)
    return path


def sweep() -> int:
    """Remove what processes left that are gone; return how many entries. Never raises OSError."""
    removed = 0
    with suppress(OSError):
        root = scratch_root()
        for name in os.listdir(root):  # noqa: PTH208
            path = f"{root}/{name}"
            if os.path.islink(path):  # noqa: PTH114 - not ours
                continue
            if name.endswith(_LOCK) or not os.path.lexists(f"{path}/{_LOCK}"):
                removed += name.endswith(_LOCK) and _is_unlocked(path) and _unlink_old(path)
            elif _is_unlocked(f"{path}/{_LOCK}"):
                removed += _remove(path)
            if removed >= _MOST_REMOVED:
                break
    return removed


def _is_unlocked(lock: str) -> bool:
    try:
        file = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def _unlink_old(lock: str) -> bool:
    """Remove a lock file that was never moved into its folder; a new one may be on its way."""
    if time.time() - os.lstat(lock).st_mtime < _NEW_SECONDS:
        return False
    os.unlink(lock)  # noqa: PTH108
    return True


def _remove(folder: str) -> bool:
    """Remove it, the lock file last, so that a removal that is cut short can be repeated."""
    from shutil import rmtree

    for name in os.listdir(folder):  # noqa: PTH208
        if name != _LOCK:
            with suppress(NotADirectoryError):
                rmtree(f"{folder}/{name}", ignore_errors=True)
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")  # noqa: PTH108
    rmtree(folder, ignore_errors=True)
    return True
