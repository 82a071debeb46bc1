"""The end of the decision log: its head file and its last record. Effect: reads files.

Here an append to a tampered log is refused; every line is checked in `verify_log.py` only.

An append looks at nothing else. After a crash the head may be one append behind, and one line may
be cut short behind the last record; anything else at the end was changed by hand.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from pulsus.core.storage.decision_log import log_reader
from pulsus.core.storage.decision_log import log_record as lines
from pulsus.core.storage.decision_log.log_record import (
    GENESIS,
    HEAD_NAME,
    MAX_LINE_BYTES,
    Head,
    LogRecord,
)
from pulsus.core.system.descriptors import closing_fd
from pulsus.errors import AuditTampered, storage_error

GO_ON = (
    "`pulsus audit` names what is damaged; compare it with a backup, and once you know why, "
    "`pulsus audit --accept-break REASON` records that and goes on"
)
IF_REMOVED = "did you remove the folder yourself, as before a new clone? Then that is the reason"
"""A log of which no file is left. An attacker who hides something removes it too."""

_NEAR_END = 16 * 1024
"""Bytes that are read first to find the end of the log."""

_NO_FILE = (errno.EINVAL, errno.ELOOP)
"""Errors of `log_reader.open_file` for a folder, a pipe or a link."""


def read_head(folder: Path) -> Head | None:
    """Read the head file, or return None if it is missing.

    Raises AuditTampered for what no Pulsus wrote, StorageUnwritable where it cannot be read.
    """
    path = folder / HEAD_NAME
    try:
        with log_reader.open_file(path) as file:
            return lines.parse_head(file.read())
    except FileNotFoundError:
        return None
    except OSError as failure:
        if failure.errno in _NO_FILE:
            raise tampered_error(path, "cannot be read: it is not a regular file") from failure
        raise storage_error(failure, path) from failure
    except (ValueError, RecursionError) as failure:
        raise tampered_error(path, f"cannot be read: {failure}") from failure


def name_of(folder: Path) -> str | None:
    """Return the name of the log in `folder`; None if its head does not say."""
    with suppress(AuditTampered):
        if head := read_head(folder):
            return head.log
    return None


def is_one_append(
    path: Path, size: int, head: Head | None, last: LogRecord, *, is_cut: bool
) -> bool:
    """Return True if the records behind the head, up to `last`, were written by one append.

    `size` is where the line of `last` ends in the segment `path`, and `is_cut` says that a line
    behind it is cut short. Raises OSError.
    """
    seq, before = (head.seq, head.hash) if head else (0, GENESIS)
    count, is_several = last.seq - seq, lines.is_time_of_several(last.ts)
    if count == 1 and (is_several or not is_cut):
        return last.prev == before
    if not 1 < count <= lines.MOST_AT_ONCE or not is_several:
        return False
    with closing_fd(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)) as fd:
        start = max(0, size - 2 * MAX_LINE_BYTES)
        tail = os.pread(fd, size - start, start)
    records = [lines.parse_valid(line) for line in tail.split(b"\n")[:-1][-count:]]
    for number, record in enumerate(records, start=seq + 1):
        if record is None or (record.seq, record.prev, record.ts) != (number, before, last.ts):
            return False
        before = record.hash
    return before == last.hash


def read_log_end(folder: Path) -> tuple[Path, LogRecord | None, bytes, int]:
    """Return the newest segment, the last record, the bytes behind it, and the size before them."""
    found = log_reader.segments(folder)
    if not found:
        return log_reader.segment_path(folder, 1), None, b"", 0
    newest, *older = reversed(found)
    last, behind, size = _read_last_record(newest)
    if last is None and size == 0 and older:
        last, more, _ = _read_last_record(older[0])
        if more:
            raise tampered_error(older[0], "does not end in a record")
    return newest, last, behind, size


def _read_last_record(path: Path) -> tuple[LogRecord | None, bytes, int]:
    """Return a segment's last record, the bytes behind it, and the size before them.

    At most one line may follow it: the rest of an interrupted append.
    """
    with closing_fd(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)) as fd:
        size = os.fstat(fd).st_size
        tail = b""
        for most in (_NEAR_END, 2 * MAX_LINE_BYTES):
            # Two whole lines are enough; most are far shorter than a line may be.
            if tail.count(b"\n") < 3:
                tail = os.pread(fd, most, max(0, size - most))
    *whole, rest = tail.split(b"\n")
    if whole and not rest and lines.is_interrupted(whole[-1] + b"\n"):
        rest = whole.pop() + b"\n"
    end = size - len(rest)
    if end == 0:
        return None, rest, 0
    record = lines.parse_valid(whole[-1]) if whole else None
    if record is None:
        raise tampered_error(path, "does not end in a record")
    return record, rest, end


def tampered_error(path: Path, why: str, *, gone: bool = False) -> AuditTampered:
    """Return the error for a log that was changed, or of which no file is left (`gone`)."""
    error = AuditTampered(f"the decision log was changed: {path} {why}", path=str(path))
    error.offer(GO_ON, *([IF_REMOVED] if gone else []))
    return error
