"""Rotation of the decision log: close (seal) a segment and begin the next one. Effect: files.

If a segment is old enough (`audit.seal_days`, `config/settings.py`) is asked in
`routing/maintenance/housekeeping.py` (`pulsus gc`). Nothing is ever cut or deleted from a closed
segment.

A seal is the first record of the next segment and names the closed one with its size, hash and
records: the checkpoint by which it is verified without reading its lines. Being a record, it is
chained itself.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pulsus.core.storage.decision_log import append_position, decision_log, log_reader, log_record
from pulsus.core.telemetry.ids import Clock
from pulsus.core.types import JsonValue
from pulsus.errors import storage_errors
from pulsus.fast_dataclass import dataclass

KIND = "seal"

_LOCK_SECONDS = 30.0
_READ_ONLY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


@dataclass(frozen=True, slots=True)
class Seal:
    """A closed segment: its file name, bytes and hash; its records' numbers and last hash."""

    segment: str
    bytes: int
    sha256: str
    records: int
    first: int
    last: int
    hash: str

    @property
    def content(self) -> tuple[str, int, str]:
        """Return what `log_reader.read_content` returns for the sealed file."""
        return self.segment, self.bytes, self.sha256


def seal_segment(
    state_dir: Path, *, before: datetime, clock: Clock, dry_run: bool = False
) -> Path | None:
    """Return the segment that was closed, or would be: the newest, where its first record is older.

    None if there is no log or it is younger than `before`, and then nothing was written. The
    caller has verified the log. Raises AuditTampered, Busy, DiskFull, StorageUnwritable.
    """
    found = log_reader.segments(state_dir / "audit")
    if not found or not _is_older(found[-1], before):
        return None
    if dry_run:
        return found[-1]
    with decision_log.locked(state_dir, _LOCK_SECONDS) as folder:
        log = decision_log.open_ready(folder)
        if log.last is None or not _is_older(log.path, before):
            return None
        with storage_errors(log.path):
            seal = _seal_data(log.path, log.last)
        following = log_reader.segment_path(folder, log_reader.segment_number(log.path) + 1)
        decision_log.add_record(
            replace(log, path=following), decision_log.Decision(KIND, seal), clock
        )
        with suppress(OSError):
            log.path.chmod(_READ_ONLY)  # against a slip of the hand; the seal is what counts
        return log.path


def first_record(path: Path) -> log_record.LogRecord | None:
    """Return the first record of a segment, or None if it is invalid or cannot be read."""
    with suppress(OSError):
        return log_reader.read_first(path)
    return None


def parse_seal(record: log_record.LogRecord) -> Seal | None:
    """Return the seal in a record, or None for any other record."""
    data = record.data
    texts = [data.get(name) for name in ("segment", "sha256", "hash")]
    numbers = [data.get(name) for name in ("bytes", "records", "first", "last")]
    match record.kind, texts, numbers:
        case "seal", [str(name), str(sha), str(last)], [int(size), int(count), int(of), int(to)]:
            return Seal(name, size, sha, count, of, to, last)
        case _:
            return None


def _seal_data(path: Path, last: log_record.LogRecord) -> dict[str, JsonValue]:
    name, size, digest = log_reader.read_content(path)
    record = log_reader.read_first(path)
    if record is None:
        raise append_position.tampered_error(path, "does not begin with a record")
    return {
        "segment": name,
        "bytes": size,
        "sha256": digest,
        "records": last.seq - record.seq + 1,
        "first": record.seq,
        "last": last.seq,
        "hash": last.hash,
    }


def _is_older(path: Path, before: datetime) -> bool:
    """Return True if the first record is older, unless the segment holds a seal only."""
    record = first_record(path)
    if record is None or datetime.fromisoformat(record.ts) >= before:
        return False
    return record.kind != KIND or _has_several_lines(path)


def _has_several_lines(path: Path) -> bool:
    with log_reader.open_file(path) as file:
        file.readline(log_record.MAX_LINE_BYTES)
        return bool(file.read(1))
