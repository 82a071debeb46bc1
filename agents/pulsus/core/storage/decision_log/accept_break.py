"""Accept a damaged decision log after a look at it, and go on (ADR 21). Effect: appends files.

This is `pulsus audit --accept-break`; `verify_log.py` finds the damage. The acceptance is the first
record of a new segment. It pins name, size and hash of every segment before it, so that what is
accepted is that damage and no later one, and it says who and why. The damaged segments stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pulsus.core.storage.decision_log import (
    append_position,
    approved_record_keys,
    decision_log,
    log_identity,
    log_reader,
    synced_log_files,
    user_witness,
)
from pulsus.core.storage.decision_log.decision_log import Decision
from pulsus.core.storage.decision_log.log_reader import Content
from pulsus.core.storage.decision_log.log_record import GENESIS, Head, LogRecord
from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.errors import AuditTampered, storage_errors
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

STARTER = approved_record_keys.STARTER

accepted_keys = approved_record_keys.accepted_keys
"""The promotions that a record accepts although the log does not know them like that."""

KEYS = 1000
"""Keys in one record: a line has room for so many."""

_NAME = late_pattern(r"[0-9a-f]{64}", re.ASCII)
_LOCK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class AcceptedBreak:
    """An acceptance of a damaged log, by whom and why. `contents` are its segments, oldest first.

    `promotions` counts those that the log does not know as they are.
    """

    record: LogRecord
    by: str
    reason: str
    damages: int
    promotions: int
    contents: tuple[Content, ...]


def parse_break(record: LogRecord | None) -> AcceptedBreak | None:
    """Return the acceptance in a record, or None for any other record."""
    if record is None or record.kind != approved_record_keys.ACCEPT:
        return None
    match record.data:
        case {
            "by": str(by),
            "reason": str(why),
            "damages": int(damages),
            "promotions": int(promotions),
            "segments": list(found),
        }:
            contents = tuple(c for row in found if (c := _parse_content(row)))
            return AcceptedBreak(record, by, why, damages, promotions, contents)
        case _:
            return None


def batches(records: Sequence[str]) -> list[list[str]]:
    """Return the keys in lists that fit into a record each; one at least."""
    return [[*records[at : at + KEYS]] for at in range(0, len(records) or 1, KEYS)]


def read_contents(segments: Sequence[Path]) -> tuple[Content, ...]:
    """Name, bytes and hash of each. Raises OSError."""
    return tuple(log_reader.read_content(path) for path in segments)


def accept(
    state_dir: Path,
    *,
    by: str,
    reason: str,
    damages: int,
    records: Sequence[str],
    least: int,
    clock: Clock,
    redactor: Redactor,
) -> Head:
    """Return the head of the log once it goes on behind its damages.

    `records` are keys of promotions that it does not know like that, `least` the highest number
    that one of them names. Raises Busy, DiskFull, StorageUnwritable.
    """
    with decision_log.locked(state_dir, _LOCK_SECONDS) as folder:
        found = log_reader.segments(folder)
        with storage_errors(folder):
            pinned = read_contents(found)
            ends = _find_log_end(folder, found, least)
            synced_log_files.set_aside(folder)
        number = log_reader.segment_number(found[-1]) + 1 if found else 1
        first, *more = batches(records)
        data: dict[str, JsonValue] = {
            "by": by,
            "reason": redactor.redact(reason),
            "damages": damages,
            "promotions": len(records),
            "segments": [_content_to_row(content) for content in pinned],
            "records": [*first],
        }
        path = log_reader.segment_path(folder, number)
        begun = decision_log.DecisionLog(
            folder, path, *ends, _find_position(found, path), user_witness.Witness.of(folder)
        )
        log = decision_log.add_record(begun, Decision(approved_record_keys.ACCEPT, data), clock)
        for some in more:
            rest = Decision(approved_record_keys.MORE, {"records": [*some]})
            log = decision_log.add_record(log, rest, clock)
        log_identity.write(folder, decision_log.head_of(log).log)
        return decision_log.head_of(log)


def _find_position(found: Sequence[Path], new: Path) -> tuple[str, int]:
    """Return the newest segment and its size; without one, the name of the `new` one and 0."""
    with storage_errors(new):
        return (found[-1].name, found[-1].stat().st_size) if found else (new.name, 0)


def _find_log_end(
    folder: Path, found: Sequence[Path], least: int
) -> tuple[LogRecord | None, Head | None]:
    """Return the record that the acceptance follows, above all used numbers, and the log's name.

    The first record's own hash counts before head and note, which may have been changed. The name
    is None if none of them has one: then the acceptance begins a new log.
    """
    head = None
    with suppress(AuditTampered):
        head = append_position.read_head(folder) if found else None
    whole = [record for path in found for record in log_reader.read_records(path)]
    first = next((r.hash for r in whole if r.seq == 1), None)
    named = (first, head.log if head else None, log_identity.read_mark(folder) if found else None)
    name = next((n for n in named if n and _NAME.fullmatch(n)), None)
    seq = max([least, head.seq if head else 0, *(r.seq for r in whole)])
    prev = whole[-1].hash if whole else GENESIS
    last = LogRecord(seq, "", "", {}, None, prev, prev) if seq else None
    return last, Head(name, seq, prev) if name else None


def _content_to_row(content: Content) -> dict[str, JsonValue]:
    name, size, digest = content
    return {"segment": name, "bytes": size, "sha256": digest}


def _parse_content(row: JsonValue) -> Content | None:
    match row:
        case {"segment": str(name), "bytes": int(size), "sha256": str(digest)}:
            return name, size, digest
        case _:
            return None
