"""Replace a file whole, and keep the previous version. Effects: writes files.

The write is atomic (rename), the backups of the newest 200 edits are kept, and a file over 10 MiB
is refused. A file that changed meanwhile is refused too. Secret files are refused in
`readable_files.py`.

No link is followed: each folder of the path is opened by itself. The new file has the owner and the
file mode of the one before. After the write the file is read again and compared by SHA-256.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from pulsus.agent.tools.local.readable_files import FileRefused, require_readable
from pulsus.core.system import atomic_write
from pulsus.core.system.descriptors import closing_fd
from pulsus.core.system.regular_files import kind_of
from pulsus.core.system.state_dir import open_state
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass

MOST_BYTES: Final = 10 * 1024 * 1024
"""Of a file that is edited, and of what it becomes."""

_MOST_KEPT: Final = 200
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_MODE: Final = 0o644


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The bytes of a file, with its owner and mode."""

    data: bytes
    status: os.stat_result

    @property
    def sha256(self) -> str:
        """Return the digest of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file that was written. `previous` is the folder that keeps the version before, or empty."""

    sha256: str
    size_bytes: int
    mode: str
    before: FileVersion | None
    previous: str


def read_version(path: str, protected: Sequence[Path]) -> FileVersion | None:
    """Return the file as it is, or None if it does not exist. Raises FileRefused."""
    with _open_parent(path, protected) as folder:
        return _read_in(folder, Path(path))


def replace_file(
    path: str, content: bytes, *, append: bool, protected: Sequence[Path], store: EditStore
) -> FileEdit:
    """Write `content` to the file, or behind what it holds, and return what was done.

    Raises FileRefused. It is `unchanged` if the file is as it was read for certain: nothing was put
    in its place yet. The codes of a failed write are EXECUTION_FAILED.
    """
    name = Path(path)
    replaces = False
    try:
        with _open_parent(path, protected) as folder:
            before = _read_in(folder, name)
            whole = before.data + content if append and before else content
            if len(whole) > MOST_BYTES:
                raise FileRefused(
                    "INVALID_INPUT",
                    f"{path} would have {len(whole)} bytes; the limit is {MOST_BYTES}",
                )
            previous = store.keep(path, before) if before else ""
            with _staged(folder, name, whole, before) as temp:
                replaces = True
                _put_in_place(folder, temp, name, before)
            after = _read_in(folder, name)
    except FileRefused as refused:
        raise FileRefused(refused.code, refused.message, unchanged=not replaces) from None
    wanted = hashlib.sha256(whole).hexdigest()
    if after is None or after.sha256 != wanted:
        raise FileRefused(
            "EXECUTION_FAILED",
            f"{path} does not hold what was written: another process changed it meanwhile",
        )
    mode = f"{stat.S_IMODE(after.status.st_mode):04o}"
    return FileEdit(wanted, len(whole), mode, before, previous)


@dataclass(frozen=True, slots=True)
class EditStore:
    """Keeps previous versions of edited files in the state folder, the newest 200."""

    state_dir: Path
    now: datetime

    def keep(self, path: str, version: FileVersion) -> str:
        """Keep a version before it is replaced, and return the folder. Raises FileRefused."""
        try:
            open_state(self.state_dir)
            root = self.state_dir / "edits"
            root.mkdir(mode=0o700, exist_ok=True)
            stamp = self.now.strftime("%Y%m%dT%H%M%S.%f")
            folder = root / f"{stamp}-{os.urandom(4).hex()}"
            folder.mkdir(mode=0o700)
            status = version.status
            facts = {
                "path": path,
                "sha256": version.sha256,
                "mode": f"{stat.S_IMODE(status.st_mode):04o}",
                "uid": status.st_uid,
                "gid": status.st_gid,
            }
            atomic_write.write_bytes(folder / "content", version.data)
            (folder / "content").chmod(0o600)
            atomic_write.write_text(folder / "file.json", json.dumps(facts) + "\n")
            self._drop_oldest(root)
        except (OSError, PulsusError) as error:
            why = (
                f"{error.message}: {error.hint}"
                if isinstance(error, PulsusError)
                else error.strerror
            )
            raise FileRefused(
                "EXECUTION_FAILED",
                f"{path} is not changed: its version cannot be kept in {self.state_dir}: {why}",
            ) from None
        return str(folder)

    def _drop_oldest(self, root: Path) -> None:
        for old in sorted(root.iterdir())[:-_MOST_KEPT]:
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _open_parent(path: str, protected: Sequence[Path]) -> Iterator[int]:
    """Open the folder of `path`, one part after the other, so that no link can lead elsewhere."""
    name = Path(path)
    if not name.is_absolute() or ".." in name.parts or name == Path("/"):
        raise FileRefused("INVALID_INPUT", f"{path!r} is no absolute path of a file without `..`")
    require_readable(path, protected)
    fd = os.open("/", _FOLDER)
    try:
        for part in name.parts[1:-1]:
            inner = _open_folder(part, fd, path)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def _open_folder(part: str, within: int, path: str) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=within)
    except FileNotFoundError:
        raise FileRefused("NOT_FOUND", f"{path}: the folder {part!r} does not exist") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            real = os.path.realpath(path)
            raise FileRefused(
                "INVALID_INPUT", f"{path}: {part!r} is a link or no folder; name {real} instead"
            ) from None
        raise FileRefused("EXECUTION_FAILED", f"{path}: {part!r}: {error.strerror}") from None


def _read_in(folder: int, path: Path) -> FileVersion | None:
    try:
        opened = os.open(path.name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            real = os.path.realpath(path)
            message = f"{path} is a link, which is not followed; name {real} instead"
            raise FileRefused("INVALID_INPUT", message) from None
        raise FileRefused("EXECUTION_FAILED", f"{path}: {error.strerror}") from None
    with closing_fd(opened) as fd:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused("INVALID_INPUT", f"{path} is {kind_of(status.st_mode)}, not a file")
        if status.st_size > MOST_BYTES:
            raise FileRefused(
                "INVALID_INPUT", f"{path} has {status.st_size} bytes; the limit is {MOST_BYTES}"
            )
        with os.fdopen(os.dup(fd), "rb") as file:
            return FileVersion(file.read(MOST_BYTES + 1), status)


@contextmanager
def _staged(folder: int, path: Path, data: bytes, before: FileVersion | None) -> Iterator[str]:
    """Write a new file beside `path`, and give its name. It is removed if it is still there."""
    if before and before.status.st_nlink > 1:
        raise FileRefused(
            "INVALID_INPUT", f"{path} has {before.status.st_nlink} names (hard links): not replaced"
        )
    temp = f".{path.name[:200]}.{os.urandom(4).hex()}{atomic_write.TEMP_SUFFIX}"
    try:
        try:
            atomic_write.stage(folder, temp, data, 0o600)
            _set_owner_and_mode(folder, temp, before)
        except OSError as error:
            message = f"{path} is not changed: {error.strerror}"
            raise FileRefused("EXECUTION_FAILED", message) from None
        yield temp
    finally:
        atomic_write.unlink(folder, temp)


def _put_in_place(folder: int, temp: str, path: Path, before: FileVersion | None) -> None:
    """Give the new file the name of the old one. If that fails, either file may be there."""
    try:
        if _moved(folder, path.name, before):
            raise FileRefused("EXECUTION_FAILED", f"{path} was changed meanwhile: read it")
        os.rename(temp, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        message = f"{path} may be changed, so read it: {error.strerror}"
        raise FileRefused("EXECUTION_FAILED", message) from None


def _set_owner_and_mode(folder: int, temp: str, before: FileVersion | None) -> None:
    with closing_fd(os.open(temp, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)) as fd:
        if before is None:
            os.fchmod(fd, _NEW_MODE)
            return
        made = os.fstat(fd)
        status = before.status
        if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(fd, status.st_uid, status.st_gid)
        os.fchmod(fd, stat.S_IMODE(status.st_mode))


def _moved(folder: int, name: str, before: FileVersion | None) -> bool:
    """Return True if the name stands for another file than the one that was read."""
    now = None
    with suppress(FileNotFoundError):
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if now is None or before is None:
        return (now is None) != (before is None)
    was = before.status
    return (now.st_ino, now.st_mtime_ns, now.st_size) != (was.st_ino, was.st_mtime_ns, was.st_size)
