"""The private temporary folder of one run (ADR 28). Effect: makes and removes folders.

It is locked while its run lives, so that the next run can remove one that a killed run left.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress

_OLD_S = 60.0
"""Younger folders may be between being made and being locked."""
_MOST_SWEPT = 50


def base(environ: dict[str, str] | os._Environ[str]) -> str:
    """The folder in which temporary folders are made, as an absolute path without links."""
    for name in (environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):
        if name.startswith("/") and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK):  # noqa: PTH112
            return os.path.realpath(name)
    raise OSError("there is no temporary folder that this user may write to")


def make(within: str) -> tuple[str, int]:
    """The path of a new private folder, and the descriptor that keeps it locked. Raises OSError."""
    path = f"{within}/{_prefix()}{os.urandom(8).hex()}"
    os.mkdir(path, 0o700)  # noqa: PTH102
    place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return path, place


def point(environ: dict[str, str] | os._Environ[str], path: str) -> None:
    """Let programs find their temporary files and caches there. HOME stays: it holds settings."""
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR", "XDG_CACHE_HOME"):
        environ[name] = path


def remove(path: str) -> None:
    """Remove the folder with all that is in it. No link is followed; never raises."""
    with suppress(OSError):
        _empty(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
        os.rmdir(path)  # noqa: PTH106


def sweep(within: str) -> None:
    """Remove what killed runs of this user left there. Never raises."""
    found: list[str] = []
    with suppress(OSError):
        found = [name for name in os.listdir(within) if name.startswith(_prefix())]  # noqa: PTH208
    for name in found[:_MOST_SWEPT]:
        with suppress(OSError):
            _sweep(f"{within}/{name}")


def _prefix() -> str:
    return f"pulsus-run-{os.geteuid()}-"


def _sweep(path: str) -> None:
    facts = os.lstat(path)
    if facts.st_uid != os.geteuid() or time.time() - facts.st_ctime < _OLD_S:
        return
    place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its run lives
        remove(path)
    finally:
        os.close(place)


def _empty(root: int) -> None:
    """Remove what is in that folder, and close it.

    Folders in folders are moved up first: however deep they are, three descriptors are enough.
    """
    try:
        number = 0
        while (name := _without_files(root)) is not None:
            place = os.open(name, _FOLDER, dir_fd=root)
            try:
                while (below := _without_files(place)) is not None:
                    number += 1
                    os.rename(
                        below, f"{number}-{os.urandom(8).hex()}", src_dir_fd=place, dst_dir_fd=root
                    )
            finally:
                os.close(place)
            os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _without_files(place: int) -> str | None:
    """Remove the files of a folder. Return one sub-folder of it, made accessible, if it has any."""
    os.fchmod(place, 0o700)
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=place)
                return entry.name
            os.unlink(entry.name, dir_fd=place)
    return None
