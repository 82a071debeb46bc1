"""Private working folders that do not outlive a killed Pulsus. Effect: makes and removes folders.

Temporary folders and their permissions are made here; one that another user owns or may write to is
refused, and left over ones of crashed processes are cleaned up. Old candidates and logs are removed
in `core/storage/retention.py`. Folders that stay, with their mode 0700 and files of mode 0600, are
made by `config/user_state.py`, `core/storage/state_db/state_db.py`, `web/accounts/account_file.py`
and `execution/journal/run_folder.py`. The process that made a folder keeps it locked, and the
kernel releases the lock with the process. So a later run can tell which folders are left over, and
removes them. This module imports little: mypy and the worker of a run are started with one before
anything else is loaded.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress

from pulsus.core.system.descriptors import closing_fd

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = ".new"
_NEW_SECONDS = 60.0
RUN_SECONDS = 60.0
"""Age from which the folder of a run is swept: its parent may still remove a younger one."""

_MOST_REMOVED = 200  # a later sweep removes the rest


class Scratch:
    """A folder for copies of modules; `path` is empty. Call `remove` in any case.

    Raises OSError if it cannot be made.
    """

    def __init__(self, purpose: str) -> None:
        self.path, self._lock = make_folder(scratch_root(), f"{purpose}-")

    def remove(self) -> None:
        """Remove the folder with all that is in it. May be called again."""
        if self._lock >= 0:
            remove(self.path)
            os.close(self._lock)
            self._lock = -1


def scratch_root() -> str:
    """Return the folder of this user's working folders, below TMPDIR; make it if it is missing.

    Raises OSError if another user owns it or can write to it: such a user could replace the copies
    that are checked.
    """
    return own_folder(f"{os.environ.get('TMPDIR') or '/tmp'}/pulsus-{os.geteuid()}")


def own_folder(path: str) -> str:
    """Make that folder if it is missing, and return its path.

    Raises OSError if another user owns it or can write to it.
    """
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)  # noqa: PTH102 - pathlib is not loaded yet
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(1, "another user may write to it: remove it", path)
    return path


def sweep_scratch() -> int:
    """Remove the working folders of processes that are gone; return their number. Never raises."""
    with suppress(OSError):
        return sweep(scratch_root(), "")
    return 0


def run_prefix() -> str:
    """Return the beginning of the names of this user's folders for runs."""
    return f"pulsus-run-{os.geteuid()}-"


def temporary_folder(environ: dict[str, str] | os._Environ[str]) -> str:
    """Return the folder for temporary files, as an absolute path without links. Raises OSError."""
    for name in (environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):
        if name.startswith("/") and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK):  # noqa: PTH112
            return os.path.realpath(name)
    raise OSError("there is no temporary folder that this user may write to")


def set_temp_variables(environ: dict[str, str] | os._Environ[str], path: str) -> None:
    """Let programs make their temporary files and caches there. HOME stays: it holds settings."""
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR", "XDG_CACHE_HOME"):
        environ[name] = path


def make_folder(within: str, prefix: str) -> tuple[str, int]:
    """Return the path of a new private folder, and the descriptor that keeps it locked.

    Raises OSError.
    """
    path = f"{within}/{prefix}{os.urandom(8).hex()}"
    # Named when it is locked: a sweep that came between would remove it.
    os.mkdir(path + _NEW, 0o700)  # noqa: PTH102
    place = os.open(path + _NEW, _FOLDER)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(path + _NEW, path)  # noqa: PTH104
    except OSError:
        os.close(place)
        raise
    return path, place


def remove(path: str) -> None:
    """Remove the folder with all that is in it. No link is followed; never raises."""
    with suppress(OSError):
        _empty_folder(os.open(path, _FOLDER))
        os.rmdir(path)  # noqa: PTH106


def sweep(within: str, prefix: str, *, least_age_s: float = 0.0) -> int:
    """Remove the folders that killed processes of this user left; return their number.

    Folders that changed in the last `least_age_s` seconds stay. Never raises.
    """
    found: list[str] = []
    with suppress(OSError):
        found = [name for name in os.listdir(within) if _is_made_here(name, prefix)]  # noqa: PTH208
    removed = 0
    for name in found:
        with suppress(OSError):
            removed += _remove_unlocked(f"{within}/{name}", least_age_s)
        if removed >= _MOST_REMOVED:
            break
    return removed


def _is_made_here(name: str, prefix: str) -> bool:
    """Return True for the names that `make` gives: other folders lie beside them (`slots`)."""
    digits = name.removesuffix(_NEW).rpartition("-")[2]
    return name.startswith(prefix) and len(digits) == 16 and not digits.strip("0123456789abcdef")


def _remove_unlocked(path: str, least_age_s: float) -> bool:
    """Remove that folder unless its process still runs. Raises OSError."""
    facts = os.lstat(path)
    now = time.time()
    is_new = path.endswith(_NEW) and now - facts.st_mtime < _NEW_SECONDS
    if facts.st_uid != os.geteuid() or is_new or now - facts.st_ctime < least_age_s:
        return False
    with closing_fd(os.open(path, _FOLDER)) as place:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
        remove(path)
    return not os.path.lexists(path)


def _empty_folder(root: int) -> None:
    """Remove the contents of that folder, and close it.

    Folders in folders are moved up first: however deep they are, three descriptors are enough.
    """
    try:
        number = 0
        while (name := _remove_files_until_folder(root)) is not None:
            with closing_fd(os.open(name, _FOLDER, dir_fd=root)) as place:
                while (below := _remove_files_until_folder(place)) is not None:
                    number += 1
                    os.rename(
                        below, f"{number}-{os.urandom(8).hex()}", src_dir_fd=place, dst_dir_fd=root
                    )
            os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)


def _remove_files_until_folder(place: int) -> str | None:
    """Remove the files of a folder. Return one sub-folder of it, made accessible, if it has any."""
    os.fchmod(place, 0o700)
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=place)
                return entry.name
            os.unlink(entry.name, dir_fd=place)
    return None
