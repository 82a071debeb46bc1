"""Files replaced whole or not at all (atomic). Effect: writes files.

Several files together are replaced by `core/storage/records/file_transaction.py`; lines are
appended by `jsonl.py`; a file that a tool of the agent edits is replaced in
`agent/tools/local/file_replacement.py`. A new content goes to a temporary file in the same folder,
is synced (fsync), and takes the name in one rename; its permissions are set here. A temporary file
that a crash leaves is removed by `core/storage/retention.py`. Works on open folders too, so that a
folder cannot be swapped for a link (symlink) in between.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pulsus.core.system.descriptors import closing_fd
from pulsus.errors import storage_errors

TEMP_SUFFIX = ".pulsus-tmp"

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def write_text(path: Path, text: str) -> None:
    """Replace `path` with `text` in UTF-8. Raises as `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes, *, locked: bool = False) -> None:
    """Replace `path` with `data`; a link at `path` is replaced, never followed.

    The folder must exist. `locked` says that the caller holds a lock on `path`: what a killed
    writer left behind is then cleared away.

    Raises DiskFull or StorageUnwritable, and then `path` is as it was.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with storage_errors(path), closing_fd(os.open(path.parent, flags)) as folder:
        _replace_file(folder, path.name, data, locked)


def stage(folder: int, temp: str, data: bytes, mode: int = 0o644) -> None:
    """Write and sync a new file `temp` in an open folder; no file is left when it fails.

    Raises OSError.
    """
    fd = os.open(temp, _NEW_FILE, mode, dir_fd=folder)
    try:
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            unlink(folder, temp)
            raise
    finally:
        os.fsync(folder)


def unlink(folder: int, name: str) -> None:
    """Remove `name` from an open folder; fine where it is not there. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _replace_file(folder: int, name: str, data: bytes, locked: bool) -> None:
    token = "locked" if locked else os.urandom(4).hex()
    temp = f".{name}.{token}{TEMP_SUFFIX}"
    if locked:
        unlink(folder, temp)
    stage(folder, temp, data)
    try:
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        unlink(folder, temp)
        raise
    os.fsync(folder)
