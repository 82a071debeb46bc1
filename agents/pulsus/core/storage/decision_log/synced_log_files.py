"""Write the files of the decision log so that they are on the disk (fsync). Effect: writes files.

`decision_log.py` decides what is appended, and holds the lock. Every function raises OSError.
"""

from __future__ import annotations

import errno
import os
from itertools import count
from pathlib import Path

from pulsus.core.storage.decision_log.log_record import HEAD_NAME, Head, head_bytes
from pulsus.core.system.descriptors import closing_fd

_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW


def truncate(path: Path, size: int) -> None:
    """Cut a file to that size."""
    with closing_fd(os.open(path, os.O_WRONLY | _OPEN)) as fd:
        os.ftruncate(fd, size)
        os.fsync(fd)


def write_lines(path: Path, lines: bytes) -> int:
    """Append lines, all or none, and return the size of the file then."""
    with closing_fd(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _OPEN, 0o644)) as fd:
        size = os.fstat(fd).st_size
        try:
            _write_and_sync(fd, lines)
        except OSError:
            os.ftruncate(fd, size)
            if size == 0:
                path.unlink(missing_ok=True)
            raise
    if size == 0:
        _sync_folder(path.parent)
    return size + len(lines)


def write_head(folder: Path, head: Head) -> None:
    """Replace the head file."""
    path = folder / HEAD_NAME
    temp = path.with_suffix(".tmp")  # one name will do: the caller holds the lock
    data = head_bytes(head)
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _OPEN, 0o644)
    try:
        _write_and_sync(fd, data)
    except OSError:
        temp.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    temp.rename(path)
    _sync_folder(folder)


def set_aside(folder: Path) -> None:
    """Give a folder in the head file's place another name: no file can replace it."""
    path = folder / HEAD_NAME
    if path.is_dir() and not path.is_symlink():
        names = (path.with_name(f"{path.name}.{number}") for number in count(1))
        path.rename(next(name for name in names if not name.exists()))


def _write_and_sync(fd: int, data: bytes) -> None:
    if os.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(fd)


def _sync_folder(folder: Path) -> None:
    with closing_fd(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        os.fsync(fd)
