"""The user's own state folder, outside every project: `$XDG_STATE_HOME/pulsus`.

Approvals of project settings, decision-log heads (`core/storage/decision_log/user_witness.py`) and
the cache key are kept here, because no writer of a repository can change them. A folder or file
that another user owns or may write to (owner, permissions) is refused; new ones get the modes 0700
and 0600. Files are written
atomically, under a lock. Only the environment says where the folder is. Effect: reads and replaces
files in it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pulsus.errors import Busy, UserStateInvalid, storage_errors
from pulsus.fast_dataclass import dataclass

MOST_BYTES = 16_000_000
"""A larger file was not written by Pulsus."""

_BESIDE = frozenset("-_.")
"""Characters allowed in a file name beside ASCII letters and digits."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LOCK_SECONDS = 10.0
_RETRY_SECONDS = 0.02


@dataclass(frozen=True)
class UserState:
    """The folder as the environment names it. A file is named `NAME` or `FOLDER/NAME`."""

    folder: Path

    @classmethod
    def of(cls, project: Path) -> UserState:
        """Return the folder to use for `project`. It need not exist.

        Raises UserStateInvalid if the environment names none, or names one that writers of the
        project's repository could fill.
        """
        folder = state_folder()
        root = repository(project)
        if folder.is_relative_to(root):
            raise UserStateInvalid(
                f"the user's state folder {folder} lies in the project {root}: its repository "
                "could bring its own approvals",
                hint="set XDG_STATE_HOME to an absolute folder outside the project",
                path=str(folder),
            )
        return cls(folder)

    def read(self, name: str) -> bytes | None:
        """Return the file's content; None if it does not exist.

        Raises UserStateInvalid for a file or folder that another user owns or can write to, or
        that cannot be read.
        """
        path = self._file_path(name)
        try:
            with _open_own_folder(path.parent) as parent:
                file = os.open(path.name, _READ, dir_fd=parent)
                with os.fdopen(file, "rb") as opened:
                    _require_own(os.fstat(file), path, stat.S_ISREG, "regular file")
                    content = opened.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise _unreadable_error(path, failure) from failure
        if len(content) > MOST_BYTES:
            raise UserStateInvalid(
                f"{path} is larger than {MOST_BYTES} bytes",
                hint="move it away; what was recorded in it must then be recorded again",
                path=str(path),
            )
        return content

    def write(self, name: str, content: bytes) -> None:
        """Replace the file whole or not at all. It and its folder are readable by this user only.

        Raises UserStateInvalid as `read`, StorageUnwritable or DiskFull.
        """
        path = self._file_path(name)
        self._make_folder(path.parent)
        with storage_errors(path), _open_own_folder(path.parent) as parent:
            _replace_file(parent, path.name, content)

    def remove(self, name: str) -> None:
        """Remove the file if it exists. Raises as `write`."""
        path = self._file_path(name)
        with (
            storage_errors(path),
            suppress(FileNotFoundError),
            _open_own_folder(path.parent) as parent,
        ):
            os.unlink(path.name, dir_fd=parent)

    @contextmanager
    def locked(self, name: str, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
        """Hold the lock of a file while it is read, changed and written.

        Raises Busy after `seconds`, and as `write`.
        """
        path = self._file_path(name)
        self._make_folder(path.parent)
        lock = f".{path.name}.lock"
        with storage_errors(path.with_name(lock)), _open_own_folder(path.parent) as parent:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            lock_file = os.open(lock, flags, 0o600, dir_fd=parent)
        try:
            _wait_for_lock(lock_file, path, time.monotonic() + seconds)
            yield
        finally:
            os.close(lock_file)

    def _file_path(self, name: str) -> Path:
        parts = name.split("/")
        if len(parts) > 2 or not all(map(_is_plain_name, parts)):
            raise ValueError(f"{name!r} is not NAME or FOLDER/NAME")
        return self.folder.joinpath(*parts)

    def _make_folder(self, folder: Path) -> None:
        with storage_errors(folder):
            if not self.folder.parent.is_dir():
                self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            for each in dict.fromkeys((self.folder, folder)):
                with suppress(FileExistsError):
                    each.mkdir(mode=0o700)


def _is_plain_name(name: str) -> bool:
    letters = name.isascii() and all(each.isalnum() or each in _BESIDE for each in name)
    return bool(name) and letters and not name.startswith(".")


def state_folder() -> Path:
    """Return the folder that the environment names, with links resolved.

    A relative XDG_STATE_HOME is ignored, as the XDG specification asks. Raises UserStateInvalid
    for a HOME that is no folder: service accounts have one such as /nonexistent, and root could
    make it.
    """
    state_home = os.environ.get("XDG_STATE_HOME", "")
    if state_home.startswith("/"):
        return Path(os.path.realpath(f"{state_home}/pulsus"))
    home = os.environ.get("HOME", "")
    if home.startswith("/") and os.path.isdir(home):  # noqa: PTH112 - no error if it is denied
        return Path(os.path.realpath(f"{home}/.local/state/pulsus"))
    why = "is not set"
    if home:
        denied = "is no folder here, or may not be looked at"
        lacks = denied if home.startswith("/") else "names no absolute folder"
        why = f"is {home!r}, which {lacks}"
    raise UserStateInvalid(
        f"HOME {why}: there is no place for this user's state",
        hint="set HOME, or XDG_STATE_HOME to an absolute folder of yours",
    )


def repository(project: Path) -> Path:
    """Return the real path of the working tree that the project lies in; its own if there is
    none.
    """
    root = Path(os.path.realpath(project))
    return next((f for f in (root, *root.parents) if os.path.lexists(f / ".git")), root)


@contextmanager
def _open_own_folder(folder: Path) -> Iterator[int]:
    """The open folder, after it and the folders above it were checked. Raises OSError."""
    for above in folder.parents:
        found = above.lstat()
        if found.st_uid not in (0, os.geteuid()) and _is_mapped_user(found.st_uid):
            raise _not_ours(above, found)
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            raise _writable_by_others_error(above)
    parent = os.open(folder, _FOLDER)
    try:
        _require_own(os.fstat(parent), folder, stat.S_ISDIR, "folder")
        yield parent
    finally:
        os.close(parent)


def _require_own(
    found: os.stat_result, path: Path, kind: Callable[[int], bool], named: str
) -> None:
    if not kind(found.st_mode):
        raise UserStateInvalid(f"{path} is no {named}", hint="move it away", path=str(path))
    if found.st_uid != os.geteuid():
        raise _not_ours(path, found)
    if found.st_mode & _OTHERS_WRITE:
        raise _writable_by_others_error(path)


def _is_mapped_user(user: int) -> bool:
    """False for an owner from outside our user namespace: a container's `/` belongs to one."""
    with suppress(OSError, ValueError), Path("/proc/self/uid_map").open(encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
        return any(first <= user < first + count for first, _, count in ranges)
    return True


def _not_ours(path: Path, found: os.stat_result) -> UserStateInvalid:
    return UserStateInvalid(
        f"{path} belongs to user {found.st_uid}, and Pulsus runs as user {os.geteuid()}: "
        "nothing recorded there can be trusted",
        hint="run Pulsus as that user (`sudo -H` sets HOME), or set XDG_STATE_HOME to a folder "
        "of this user",
        path=str(path),
    )


def _writable_by_others_error(path: Path) -> UserStateInvalid:
    return UserStateInvalid(
        f"other users can write to {path}: nothing recorded there can be trusted",
        hint=f"check what it holds, then `chmod go-w {path}`",
        path=str(path),
    )


def _unreadable_error(path: Path, failure: OSError) -> UserStateInvalid:
    return UserStateInvalid(
        f"cannot read {path}: {failure.strerror or failure}",
        hint="make it a file that this user can read, in a folder of this user",
        path=str(path),
    )


def _replace_file(parent: int, name: str, content: bytes) -> None:
    temp = f".{name}.{os.urandom(4).hex()}"
    with os.fdopen(os.open(temp, _NEW, 0o600, dir_fd=parent), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.rename(temp, name, src_dir_fd=parent, dst_dir_fd=parent)
        except OSError:
            with suppress(OSError):
                os.unlink(temp, dir_fd=parent)
            raise
    os.fsync(parent)


def _wait_for_lock(held: int, path: Path, until: float) -> None:
    while True:
        try:
            return fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise Busy(
                    f"another Pulsus holds the lock of {path}", hint="try again", path=str(path)
                ) from None
        time.sleep(_RETRY_SECONDS)
