"""Carry out a supervised tool's changes to files, below its own folders alone.

A write outside the declared folders gets "permission denied" here, on machines where
`execution/confinement/landlock.py` does not do it.

The kernel never carries such a call out itself: a path in memory may change after it was read. The
supervisor makes every step itself, from the folder's own descriptor, and follows no link. It looks
first where the links and `..` of a path lead: only that place counts. Effect: changes files below
these folders; opens devices.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from contextlib import contextmanager, suppress

from pulsus.core.sandbox.observation.syscall_notifications import OpenedFile, WaitingCall, signed
from pulsus.core.system.descriptors import closing_fd
from pulsus.execution.confinement.landlock import WRITABLE_DEVICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PTY = b"/dev/pts/"
_STREAM = (b"/proc/self/fd/", b"/proc/thread-self/fd/", b"/dev/fd/")
_STREAMS = {b"/dev/stdout": 1, b"/dev/stderr": 2}
_DEVICES = tuple(os.fsencode(each) for each in WRITABLE_DEVICES)
_NOW, _OMIT = (1 << 30) - 1, (1 << 30) - 2
_REMOVE_FOLDER, _NO_REPLACE, _NOT_FOLLOWED = 0x200, 1, 0x100
_LINK_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
_ABOUT_MODE = 0o777
_UNNAMED = 0o20000000  # __O_TMPFILE
_TEMPORARY = (b"/tmp", b"/var/tmp")
"""Programs without TMPDIR make nameless files here. They are made in the run's folder."""
_ALL_OPENS = 0o177777777
_CREATE = os.O_CREAT | os.O_WRONLY | os.O_TRUNC


class FileBroker:
    """The folders of one run, by path and descriptor, and the calls on their files."""

    def __init__(self, folders: dict[str, int]) -> None:
        self._folders = {os.path.realpath(os.fsencode(p)): place for p, place in folders.items()}
        self.calls: dict[str, Callable[[WaitingCall], OpenedFile | None]] = {
            "open": lambda q: self._open_path(q, q.path(None, 0), signed(q.args[1]), q.args[2]),
            "openat": lambda q: self._open_path(q, q.path(0, 1), signed(q.args[2]), q.args[3]),
            "creat": lambda q: self._open_path(q, q.path(None, 0), _CREATE, q.args[1]),
            "truncate": self._truncate_file,
            "mkdir": lambda q: self._make_folder(q, None, 0),
            "mkdirat": lambda q: self._make_folder(q, 0, 1),
            "rmdir": lambda q: self._remove_entry(q, None, 0, folder=True),
            "unlink": lambda q: self._remove_entry(q, None, 0, folder=False),
            "unlinkat": lambda q: self._remove_entry(
                q, 0, 1, folder=bool(q.args[2] & _REMOVE_FOLDER)
            ),
            "rename": lambda q: self._rename_entry(q, (None, 0), (None, 1), 0),
            "renameat": lambda q: self._rename_entry(q, (0, 1), (2, 3), 0),
            "renameat2": lambda q: self._rename_entry(q, (0, 1), (2, 3), q.args[4]),
            "link": lambda q: self._make_link(q, (None, 0), (None, 1)),
            "linkat": lambda q: self._make_link(q, (0, 1), (2, 3)),
            "symlink": lambda q: self._make_symlink(q, None, 1),
            "symlinkat": lambda q: self._make_symlink(q, 1, 2),
            "chmod": lambda q: self._set_mode(q, None, 0, 1),
            "fchmodat": lambda q: self._set_mode(q, 0, 1, 2),
            "fchmodat2": lambda q: self._set_mode(q, 0, 1, 2),
            "fchmod": self._set_mode_of_open,
            "chown": lambda q: self._set_owner(q, None, 0, 1),
            "lchown": lambda q: self._set_owner(q, None, 0, 1),
            "fchownat": lambda q: self._set_owner(q, 0, 1, 2),
            "fchown": self._set_owner_of_open,
            "utime": lambda q: self._set_times_by_path(q, None, 0, 1, _read_utimbuf),
            "utimes": lambda q: self._set_times_by_path(q, None, 0, 1, _read_timevals),
            "futimesat": lambda q: self._set_times_by_path(q, 0, 1, 2, _read_timevals),
            "utimensat": lambda q: self._set_times_by_path(q, 0, 1, 2, _read_timespecs),
            "flock": self._lock_file,
        }

    def below(self, path: bytes) -> bool:
        """Return True if a path without links lies in one of the folders."""
        return any(path == each or path.startswith(each + b"/") for each in self._folders)

    @contextmanager
    def parent(self, path: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the folder of a path below ours, as a descriptor, and the last name.

        Raises OSError.
        """
        path = _resolve_folder(path)
        root = next((each for each in self._folders if path.startswith(each + b"/")), None)
        if root is None:
            if path in self._folders:
                yield self._folders[path], b"."
                return
            raise PermissionError(errno.EACCES, "outside the folders of this run")
        *above, last = path[len(root) + 1 :].split(b"/")
        place = os.dup(self._folders[root])
        try:
            for name in above:
                below = os.open(name, _LINK_ONLY | os.O_DIRECTORY, dir_fd=place)
                os.close(place)
                place = below
            yield place, last
        finally:
            os.close(place)

    def _open_path(self, q: WaitingCall, path: bytes, flags: int, mode: int) -> OpenedFile:
        flags &= _ALL_OPENS
        late = bool(flags & os.O_CLOEXEC)
        if path in _DEVICES or path.removeprefix(_PTY).isdigit():
            return OpenedFile(os.open(path, flags & ~(os.O_CREAT | os.O_EXCL) | os.O_NOCTTY), late)
        if flags & _UNNAMED and path.rstrip(b"/") in _TEMPORARY:
            mine = next(iter(self._folders.values()))
            return OpenedFile(os.open(".", flags, mode & _ABOUT_MODE, dir_fd=mine), late)
        number = _STREAMS.get(path)
        if number is None and path.startswith(_STREAM):
            number = int(path.rpartition(b"/")[2])
        if number is not None:
            return OpenedFile(_reopen_stream(q, number, flags), late)
        with self.parent(path) as (place, name):
            quick = flags | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO must not stop the supervisor
            opened = os.open(name, quick, mode & _ABOUT_MODE, dir_fd=place)
        if not flags & os.O_NONBLOCK:
            fcntl.fcntl(opened, fcntl.F_SETFL, fcntl.fcntl(opened, fcntl.F_GETFL) & ~os.O_NONBLOCK)
        return OpenedFile(opened, late)

    def _truncate_file(self, q: WaitingCall) -> None:
        with self.parent(q.path(None, 0)) as (place, name):
            found = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
        with closing_fd(found):
            os.ftruncate(found, q.args[1])

    def _make_folder(self, q: WaitingCall, folder: int | None, path: int) -> None:
        with self.parent(q.path(folder, path)) as (place, name):
            os.mkdir(name, q.args[path + 1] & _ABOUT_MODE, dir_fd=place)

    def _remove_entry(self, q: WaitingCall, at: int | None, path: int, *, folder: bool) -> None:
        with self.parent(q.path(at, path)) as (place, name):
            (os.rmdir if folder else os.unlink)(name, dir_fd=place)

    def _rename_entry(
        self, q: WaitingCall, old: tuple[int | None, int], new: tuple[int | None, int], flags: int
    ) -> None:
        if flags & ~_NO_REPLACE:
            raise OSError(errno.EINVAL, "not carried out here")
        source, target = q.path(*old), q.path(*new)
        with self.parent(source) as (one, name), self.parent(target) as (other, to):
            if flags and _has_entry(to, other):
                raise FileExistsError(errno.EEXIST, "it is there")
            os.rename(name, to, src_dir_fd=one, dst_dir_fd=other)

    def _make_link(
        self, q: WaitingCall, old: tuple[int | None, int], new: tuple[int | None, int]
    ) -> None:
        source, target = q.path(*old), q.path(*new)
        with self.parent(source) as (one, name), self.parent(target) as (other, to):
            os.link(name, to, src_dir_fd=one, dst_dir_fd=other, follow_symlinks=False)

    def _make_symlink(self, q: WaitingCall, folder: int | None, path: int) -> None:
        leads_to = q.text(q.args[0])
        with self.parent(q.path(folder, path)) as (place, name):
            os.symlink(leads_to, name, dir_fd=place)

    def _set_mode(self, q: WaitingCall, folder: int | None, path: int, mode: int) -> None:
        with self._existing_file(q, folder, path) as place:
            os.chmod(place, q.args[mode] & _ABOUT_MODE)  # noqa: PTH101

    def _set_mode_of_open(self, q: WaitingCall) -> None:
        with self._callers_file(q) as found:
            os.fchmod(found, q.args[1] & _ABOUT_MODE)

    def _set_owner(self, q: WaitingCall, folder: int | None, path: int, owner: int) -> None:
        with self._existing_file(q, folder, path) as place:
            os.chown(place, signed(q.args[owner]), signed(q.args[owner + 1]))

    def _set_owner_of_open(self, q: WaitingCall) -> None:
        with self._callers_file(q) as found:
            os.fchown(found, signed(q.args[1]), signed(q.args[2]))

    def _set_times_by_path(
        self,
        q: WaitingCall,
        folder: int | None,
        path: int,
        times: int,
        read: Callable[[bytes], tuple[int | None, int | None]],
    ) -> None:
        wanted = read(q.memory(q.args[times], 32)) if q.args[times] else (None, None)
        if path == 1 and not q.args[1]:  # of an open file
            with self._callers_file(q) as found:
                _set_times(f"/proc/self/fd/{found}", wanted)
        else:
            with self._existing_file(q, folder, path) as place:
                _set_times(place, wanted)

    def _lock_file(self, q: WaitingCall) -> None:
        with self._callers_file(q) as found:
            fcntl.flock(found, q.args[1] | fcntl.LOCK_NB)

    @contextmanager
    def _existing_file(self, q: WaitingCall, folder: int | None, path: int) -> Iterator[str]:
        """Yield a path of ours to the file that the arguments name; a link itself is refused."""
        with self.parent(q.path(folder, path)) as (place, name):
            found = os.open(name, _LINK_ONLY, dir_fd=place)
        with closing_fd(found):
            if stat.S_ISLNK(os.fstat(found).st_mode):
                raise PermissionError(errno.EPERM, "a link is not followed")
            yield f"/proc/self/fd/{found}"

    @contextmanager
    def _callers_file(self, q: WaitingCall) -> Iterator[int]:
        """Yield the caller's open file under the first argument, if it lies below our folders."""
        with closing_fd(q.file(signed(q.args[0]))) as found:
            path = os.readlink(os.fsencode(f"/proc/self/fd/{found}"))  # noqa: PTH115
            if not self.below(path.removesuffix(b" (deleted)")):
                raise PermissionError(errno.EPERM, "outside the folders of this run")
            yield found


def _resolve_folder(path: bytes) -> bytes:
    """Return the path without links or `..` in its folder, as the kernel finds it.

    The last name stays. If a process makes a new link afterwards, `parent` does not follow it. A
    path in /proc stays whole: it means other files here than in the caller.
    """
    if path.startswith(b"/proc/"):
        return path
    folder, _, name = path.rstrip(b"/").rpartition(b"/")
    if name in (b".", b".."):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(folder or b"/"), name)  # noqa: PTH118 - bytes


def _reopen_stream(q: WaitingCall, number: int, flags: int) -> int:
    """Return a pipe or terminal of the caller, opened again. Raises OSError for other files."""
    with closing_fd(q.file(number)) as found:
        kind = os.fstat(found).st_mode
        if not (stat.S_ISFIFO(kind) or (stat.S_ISCHR(kind) and os.isatty(found))):
            raise PermissionError(errno.EACCES, "no pipe and no terminal")
        access = fcntl.fcntl(found, fcntl.F_GETFL) & os.O_ACCMODE
        if access == os.O_RDONLY:
            raise PermissionError(errno.EACCES, "it is open for reading alone")
        return os.open(f"/proc/self/fd/{found}", flags & ~os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY)


def _has_entry(name: bytes, folder: int) -> bool:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return True
    return False


def _set_times(path: str, wanted: tuple[int | None, int | None]) -> None:
    if wanted == (None, None):
        os.utime(path)
        return
    now = os.stat(path)  # noqa: PTH116
    access, change = wanted
    os.utime(
        path,
        ns=(
            now.st_atime_ns if access is None else access,
            now.st_mtime_ns if change is None else change,
        ),
    )


def _read_timespecs(raw: bytes) -> tuple[int | None, int | None]:
    """Read two `struct timespec`; None for a time that stays as it is."""
    a, a_ns, m, m_ns = struct.unpack("=4q", raw)
    if (a_ns, m_ns) == (_NOW, _NOW):
        return None, None
    now = _current_ns() if _NOW in (a_ns, m_ns) else 0
    pairs = ((a, a_ns), (m, m_ns))
    return tuple(  # type: ignore[return-value]
        None if ns == _OMIT else now if ns == _NOW else s * 10**9 + ns for s, ns in pairs
    )


def _current_ns() -> int:
    import time

    return time.time_ns()


def _read_timevals(raw: bytes) -> tuple[int | None, int | None]:
    a, a_us, m, m_us = struct.unpack("=4q", raw)
    return a * 10**9 + a_us * 1000, m * 10**9 + m_us * 1000


def _read_utimbuf(raw: bytes) -> tuple[int | None, int | None]:
    a, m = struct.unpack("=2q", raw[:16])
    return a * 10**9, m * 10**9
