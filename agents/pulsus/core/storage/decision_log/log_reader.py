"""Find and read the segments of the decision log (spec §10, ADR 21). Effect: reads files.

It skips invalid lines; a damaged line is reported by `verify_log.py`. It also says if a module was
generated and accepted earlier.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import re
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from pulsus.core.storage.decision_log.log_record import MAX_LINE_BYTES, LogRecord, parse_valid
from pulsus.errors import storage_errors
from pulsus.late_pattern import late_pattern

Content = tuple[str, int, str]
"""A segment's name, its size in bytes, and its SHA-256."""

_SEGMENT = late_pattern(r"decisions-(\d{6})\.jsonl", re.ASCII)
_DECISIONS = frozenset({"promote", "rollback", "deprecate", "reinstate", "remove"})


def segments(folder: Path) -> tuple[Path, ...]:
    """Return the segments in `folder`, oldest first; none if the folder is missing."""
    try:
        names = [p for p in folder.iterdir() if _SEGMENT.fullmatch(p.name)]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return tuple(sorted(names))


def segment_path(folder: Path, number: int) -> Path:
    """Return the path of the segment with that number, from 1."""
    return folder / f"decisions-{number:06d}.jsonl"


def segment_number(path: Path) -> int:
    """Return the number of a segment. Raises ValueError for another file."""
    match = _SEGMENT.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path.name} is not a segment of the decision log")
    return int(match[1])


def open_file(path: Path) -> BufferedReader:
    """Open a file of the log for reading. Raises OSError, also for a link or an irregular file."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(fd, "rb")


def read_records(path: Path, *, text: bytes = b"", start: int = 0) -> Iterator[LogRecord]:
    """Yield the valid records of a segment whose line contains `text`, from the byte `start` on.

    Raises OSError.
    """
    with open_file(path) as file:
        file.seek(start)
        while line := file.readline(MAX_LINE_BYTES + 1):
            # Most lines do not contain the text, and parsing them would take most of the time.
            record = parse_valid(line[:-1]) if text in line else None
            if record:
                yield record


def read_first(path: Path) -> LogRecord | None:
    """Return the first record of a segment, or None if it is invalid. Raises OSError."""
    with open_file(path) as file:
        line = file.readline(MAX_LINE_BYTES)
    return parse_valid(line[:-1]) if line.endswith(b"\n") else None


def read_content(path: Path) -> Content:
    """Return name, size and digest of a segment. Raises OSError."""
    with open_file(path) as file:
        digest = hashlib.file_digest(file, "sha256")
        return path.name, file.tell(), digest.hexdigest()


def search_records(folder: Path, text: bytes) -> Iterator[LogRecord]:
    """Yield the valid records of the log whose line contains `text`. Raises StorageUnwritable."""
    for path in segments(folder):
        with storage_errors(path):
            yield from read_records(path, text=text)


def logged_tools(folder: Path) -> frozenset[str]:
    """Return the ids of all tools that the log has a decision on. Raises StorageUnwritable."""
    tools = set[str]()
    for record in search_records(folder, b'"tool"'):
        tool = record.data.get("tool")
        if record.kind in _DECISIONS and isinstance(tool, str) and tool.count("/") == 2:
            tools.add(tool)
    return frozenset(tools)


def logged_generation(folder: Path, sha256: str) -> bool:
    """Return True if the log says that a module of these bytes was generated and accepted."""
    return any(
        record.kind == "generate"
        and record.data.get("sha256") == sha256
        and record.data.get("accepted") is True
        for record in search_records(folder, sha256.encode("ascii"))
    )


def keys_starting(folder: Path, start: str) -> Iterator[str]:
    """Yield the keys that begin with `start`, newest first. Raises StorageUnwritable."""
    # The bytes are searched from the end: the newest key is the one that most callers need.
    wanted = b',"key":' + json.dumps(start).encode("ascii")[:-1]
    for path in reversed(segments(folder)):
        with storage_errors(path), open_file(path) as file:
            if os.fstat(file.fileno()).st_size == 0:
                continue
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield from _list_keys(data, wanted, start)


def _list_keys(data: mmap.mmap, wanted: bytes, start: str) -> Iterator[str]:
    at = data.rfind(wanted)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        record = parse_valid(data[begin : data.find(b"\n", at)])
        if record and record.key is not None and record.key.startswith(start):
            yield record.key
        at = data.rfind(wanted, 0, at)
