"""Read files of this machine in limits. Effect: reads files.

At most 256 KiB are read, and a binary file gives no text. A secret file and a file of Pulsus are
refused. The file that was opened is checked, not only the name that was given: a link may lead to a
secret.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pulsus.commands.risk.secret_paths import is_secret
from pulsus.core.system.descriptors import closing_fd
from pulsus.core.system.regular_files import kind_of
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_response import ToolErrorCode

MOST_BYTES: Final = 256 * 1024
"""Read of one file. A result shows less: see tool_report.py."""

_BLOCK: Final = 64 * 1024
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class FileRefused(Exception):
    """A file is not opened: a code of the envelope and a message.

    `unchanged` says of a write that it failed before its first effect.
    """

    def __init__(self, code: ToolErrorCode, message: str, *, unchanged: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.unchanged = code, message, unchanged


@dataclass(frozen=True, slots=True)
class FileText:
    """Text of a file. `complete` is False if only a part was read; `real` is the file's own path.

    `text` is None for a file that holds no text.
    """

    path: str
    real: str
    size_bytes: int
    modified: float
    text: str | None
    complete: bool


def require_readable(path: str, protected: Sequence[Path]) -> None:
    """Raise FileRefused for the path of a secret, or of a file that belongs to Pulsus."""
    if is_secret(path):
        raise FileRefused("SENSITIVE_PATH", f"{path} may hold secrets, so it is not read")
    if any(Path(path).is_relative_to(folder) for folder in protected):
        raise FileRefused("SENSITIVE_PATH", f"{path} belongs to Pulsus itself, so it is not read")


def read_start(path: str, protected: Sequence[Path], most: int = MOST_BYTES) -> FileText:
    """Return the first bytes of a file as text. Raises FileRefused."""
    with _open_checked(path, protected) as (fd, real):
        status = os.fstat(fd)
        data = _read(fd, most + 1)
    size = max(status.st_size, len(data))  # files of /proc say 0
    text = _decode(data[:most])
    return FileText(path, real, size, status.st_mtime, text, len(data) <= most)


def read_end(path: str, lines: int, protected: Sequence[Path]) -> FileText:
    """Return the last lines of a file, at most 256 KiB of them. Raises FileRefused."""
    with _open_checked(path, protected) as (fd, real):
        status = os.fstat(fd)
        data = _read_last_lines(fd, status.st_size, lines) if status.st_size else _read(fd, _BLOCK)
    kept = b"".join(data.splitlines(keepends=True)[-lines:])
    size = max(status.st_size, len(data))
    return FileText(path, real, size, status.st_mtime, _decode(kept), len(kept) == size)


@contextmanager
def _open_checked(path: str, protected: Sequence[Path]) -> Iterator[tuple[int, str]]:
    require_readable(path, protected)
    try:
        opened = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise FileRefused("NOT_FOUND", f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileRefused("EXECUTION_FAILED", f"{path} cannot be read: {reason}") from None
    with closing_fd(opened) as fd:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise FileRefused("INVALID_INPUT", f"{path} is {kind_of(mode)}, not a file")
        real = _real_path(fd, path)
        require_readable(real, protected)
        yield fd, real


def _real_path(fd: int, path: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - of the open file, not a name
    except OSError:
        return os.path.realpath(path)


def _read(fd: int, most: int) -> bytes:
    data = b""
    try:
        while len(data) < most and (more := os.read(fd, min(_BLOCK, most - len(data)))):
            data += more
    except OSError as error:
        if not data:
            raise FileRefused("EXECUTION_FAILED", f"cannot be read: {error.strerror}") from None
    return data


def _read_last_lines(fd: int, size: int, lines: int) -> bytes:
    data, at = b"", size
    while at > 0 and data.count(b"\n") <= lines and len(data) < MOST_BYTES:
        start = max(at - _BLOCK, 0)
        data = os.pread(fd, at - start, start) + data
        at = start
    return data


def _decode(data: bytes) -> str | None:
    return None if b"\0" in data else data.decode("utf-8", "replace")
