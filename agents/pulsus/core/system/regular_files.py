"""Regular files, read without ever waiting (spec §4). Effect: reads files.

A pipe, a device, a folder, a symlink in the catalogue and a file above a size limit are refused
here, and a file that Pulsus did not write is not overwritten. Files that a tool of the agent may
read are limited in `agent/tools/local/readable_files.py`. A name in the catalogue may be a pipe, a
device or a file that is being replaced; opening never blocks, and what was opened is checked, not
what was listed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from pulsus.errors import PulsusError, UsageError
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_SHOWN = 40
_MAX_OWN_BYTES = 100_000_000
"""Largest report or picture that is read before it is replaced."""
_OWN_STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_DOCUMENT = late_pattern(r"""(?:\s*(?:#.*|---.*)?\n)*\s*(?:[{\[]|- |["']?\w+["']?\s*:(?:\s|$))""")
"""The beginning of JSON, or of YAML: a key or an item, perhaps after comments."""


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

    @property
    def cause(self) -> str:
        """Return the reason as it follows `cannot read FILE:` in a message."""
        return self.reason.removeprefix("cannot be read: ")


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


def resolve_link(link: Path) -> Path:
    """Return the real path that a link leads to.

    Raises UnreadableFile with LINK_BROKEN (`missing`) or LINK_LOOP.
    """
    try:
        return link.resolve(strict=True)
    except FileNotFoundError:
        raise UnreadableFile("LINK_BROKEN", "is a link to nothing", missing=True) from None
    except (OSError, RuntimeError):
        # RuntimeError is how Path.resolve reports a loop before Python 3.13.
        reason = "is a link that leads nowhere, such as to itself"
        raise UnreadableFile("LINK_LOOP", reason) from None


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """The kind of file that a user should name, for the errors about every other file.

    `noun` has its article. A file of this kind has some of the `keys`, at least two of which exist.
    `example` says how to get one. `invalid` is the error for a file of another kind.
    """

    noun: str
    max_bytes: int
    invalid: type[PulsusError]
    keys: tuple[str, ...]
    example: str

    def read(self, path: Path, shown: str) -> tuple[str, FileStamp]:
        """Return the text and the stamp of a file that a user named as `shown`; follow links.

        Raises UsageError if there is no such file, and `invalid` if it cannot be read as text.
        """
        try:
            # Path.resolve raises RuntimeError for links that lead to each other.
            data, stamp = read_file(Path(os.path.realpath(path)), self.max_bytes)
        except UnreadableFile as failure:
            raise self._cannot_read(shown, failure) from failure
        try:
            return data.decode("utf-8"), stamp
        except UnicodeDecodeError as failure:
            line = data.count(b"\n", 0, failure.start) + 1
            raise self.invalid(
                f"{shown}:{line}: this is not UTF-8 text: byte {failure.start} is "
                f"{data[failure.start]:#x}",
                hint=f"name {self.noun}, or save the file as UTF-8",
                file=shown,
                line=line,
            ) from failure

    def require_kind(self, text: str, shown: str) -> None:
        """Raise `invalid` for text that cannot be parsed and does not begin like JSON or YAML.

        For a text of another kind, the place of the first mistake would help no one.
        """
        if not _DOCUMENT.match(text):
            raise self.is_other(text, shown)

    def is_other(self, text: str, shown: str) -> PulsusError:
        """Return the error for a file of another kind."""
        first = text.strip().partition("\n")[0].rstrip()[:_SHOWN]
        begin = f"it begins with {first!a}" if first else "it is empty"
        *some, last = map(repr, self.keys)
        line = text[: len(text) - len(text.lstrip())].count("\n") + 1 if first else 1
        return self.invalid(
            f"{shown}:{line}: this is not {self.noun}: {begin}, and none of the keys "
            f"{', '.join(some)} and {last} is in it",
            hint=f"name {self.noun}: {self.example}",
            file=shown,
            line=line,
        )

    def _cannot_read(self, shown: str, failure: UnreadableFile) -> PulsusError:
        if failure.missing:
            return UsageError(
                f"{shown} does not exist, and {self.noun} is expected there",
                hint="correct the path; a relative path begins in the current folder; "
                f"{self.example}",
                file=shown,
            )
        hints = {
            "TOO_LARGE": f"name {self.noun} of at most {self.max_bytes // 1_000_000} MB",
            "NOT_A_FILE": f"name {self.noun}: {self.example}",
        }
        hint = hints.get(failure.code, f"name {self.noun} that you may read")
        return self.invalid(f"cannot read {shown}: {failure.cause}", hint=hint, file=shown)


def foreign_file_error(path: Path, noun: str, why: str) -> UsageError:
    """Return the error for a file that exists and that a new `noun` would destroy."""
    return UsageError(
        f"{path} exists and is no {noun} that Pulsus saved, because {why}; "
        f"so no {noun} is written there",
        hint="name another file, or move this one away",
        file=str(path),
    )


def require_own_or_new(path: Path, noun: str, objection: Callable[[bytes], str]) -> None:
    """Refuse to replace a file that Pulsus did not write. Raises UsageError.

    A missing file and an empty one are free. `objection` says why a content is no `noun` of
    Pulsus, or ''. A file that cannot be read counts as another one.
    """
    try:
        data, _ = read_file(Path(os.path.realpath(path)), _MAX_OWN_BYTES)
    except UnreadableFile as failure:
        if not failure.missing:
            raise foreign_file_error(path, noun, f"it {_SAID[failure.code]}") from failure
        return
    if data.strip() and (why := objection(data)):
        raise foreign_file_error(path, noun, why)


_SAID = {
    "NOT_A_FILE": "is no regular file",
    "TOO_LARGE": f"is larger than {_MAX_OWN_BYTES // 1_000_000} MB",
    "UNREADABLE": "cannot be read",
}


def endless_kind(path: Path) -> str:
    """Return the kind of a pipe or a device, whose read may never begin or end; '' for others.

    A pipe that this process already has, such as that of `<(…)` in a shell, has a writer.
    """
    if str(path).startswith(_OWN_STREAMS):
        return ""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else kind_of(mode)


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
