"""Regular files, read without ever waiting (spec §4). Effect: reads files.

A name in the catalogue may be a pipe, a device or a file that is being replaced; opening never
blocks, and what was opened is checked, not what was listed.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from pulsus.errors import PulsusError, UsageError
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Values that change with a file. Times in ns; `ctime_ns` detects a restored mtime."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStamp:
        """Return the stamp of a file's status."""
        return cls(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


class UnreadableFile(Exception):
    """A file cannot be had: a stable code and one line. `missing`: there is no such file."""

    def __init__(self, code: str, reason: str, *, missing: bool = False) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.missing = missing


def read_file(path: Path, max_bytes: int) -> tuple[bytes, FileStamp]:
    """Return the file's bytes and its stamp from before they were read.

    `path` must not be a link. Raises Unreadable with NOT_A_FILE, TOO_LARGE or UNREADABLE.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(path, flags)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableFile("NOT_A_FILE", f"is {kind_of(status.st_mode)}, not a file")
            data = _read_up_to(fd, max_bytes + 1, status.st_size + 1)
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableFile("NOT_A_FILE", "is a link, not a file") from None
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        raise UnreadableFile("UNREADABLE", read_failure(error), missing=missing) from None
    except ValueError as error:  # a NUL in the path
        raise UnreadableFile("UNREADABLE", f"cannot be read: {error}") from None
    if len(data) > max_bytes:
        size = max(status.st_size, len(data))
        raise UnreadableFile("TOO_LARGE", f"{size} bytes; the limit is {max_bytes}")
    return data, FileStamp.of(status)


def read_named_file(
    path: Path, shown: str, noun: str, max_bytes: int, invalid: type[PulsusError]
) -> tuple[bytes, FileStamp]:
    """Return the bytes and the stamp of a file that a user named as `shown`; links are followed.

    `noun` says what it is, with its article. Raises UsageError if there is no such file, and
    `invalid` if it cannot be read.
    """
    try:
        return read_file(path.resolve(), max_bytes)
    except UnreadableFile as failure:
        if failure.missing:
            raise UsageError(
                f"{shown} does not exist, and {noun} is expected there",
                hint="correct the path; a relative path begins in the current folder",
                file=shown,
            ) from failure
        hint = f"name {noun} that you may read"
        if failure.code == "TOO_LARGE":
            hint = f"name {noun} of at most {max_bytes // 1_000_000} MB"
        reason = failure.reason.removeprefix("cannot be read: ")
        raise invalid(f"cannot read {shown}: {reason}", hint=hint, file=shown) from failure


def _read_up_to(fd: int, most: int, expected: int) -> bytes:
    """Return at most `most` bytes. A buffer of that size would cost more than a small file."""
    data = os.read(fd, min(most, expected))
    while len(data) < most and (more := os.read(fd, min(most - len(data), 1 << 16))):
        data += more
    return data


def read_failure(error: OSError) -> str:
    """Return one line on why the system refused, without the path."""
    return f"cannot be read: {error.strerror or type(error).__name__}"


def kind_of(mode: int) -> str:
    """Return the kind of a file by its mode, with its article."""
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((name for test, name in kinds if test(mode)), "something else")
