"""The decision log: who decided what, chained by hashes (spec §10, §17). Effect: appends files.

`.pulsus/audit/` holds numbered segments of lines (log_record.py) and `head.json`, which names the
last one. An old log is rotated (`pulsus gc`) by `log_rotation.py`, read by `log_reader.py`, and
tampering is found by `verify_log.py`; `user_witness.py` remembers outside the project what this
user saw of it. Traces and the app log are in `core/telemetry/logging.py`, the metadata of
promotions (`metadata.jsonl`) in `core/storage/records/promotion_records.py`.

A record is on the disk before the head names it, so after a crash the head is at most one append
behind, and only what lies behind the head may be cut short. Anything else was changed by hand:
nothing is appended to it any more. What this can and cannot prove is in ADR 21.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from pulsus import __version__
from pulsus.core.storage import file_lock
from pulsus.core.storage.decision_log import (
    append_position,
    approved_record_keys,
    log_identity,
    log_reader,
    synced_log_files,
    user_witness,
)
from pulsus.core.storage.decision_log import log_record as lines
from pulsus.core.storage.decision_log.log_record import GENESIS, HEAD_NAME, Head, LogRecord
from pulsus.core.storage.records import promotion_records, record_key
from pulsus.core.system import jsonl
from pulsus.core.system.state_dir import open_state
from pulsus.core.telemetry.ids import Clock, RandomBytes
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.errors import Busy, storage_errors
from pulsus.fast_dataclass import dataclass

MAX_DATA_BYTES = 64 * 1024
"""Data beyond it is cut as a trace's event is; so no line is longer than `MAX_LINE_BYTES`."""

MAX_LINE_BYTES = lines.MAX_LINE_BYTES

_LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.002
"""Seconds between two tries to get the lock: an append takes milliseconds."""


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """The log, locked and in order: the segment to append to, and its last record.

    `end` is the segment where the last record lies, and the size where its line ends.
    """

    folder: Path
    path: Path
    last: LogRecord | None
    head: Head | None
    end: tuple[str, int]
    witness: user_witness.Witness


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision to record. What has a `key` is recorded once.

    `search` False says that the caller knows the key to be new. A decision that is not this user's
    `own`, but found in a journal, approves nothing (ADR 31).
    """

    kind: str
    data: Mapping[str, JsonValue]
    key: str | None = None
    own: bool = True
    search: bool = True


def append(
    state_dir: Path,
    kind: str,
    data: Mapping[str, JsonValue],
    *,
    clock: Clock,
    redactor: Redactor,
    key: str | None = None,
    lock_seconds: float = _LOCK_SECONDS,
    catalogue: Path | None = None,
    own: bool = True,
) -> Head:
    """Return the log's head once the decision is in it, on the disk.

    Where the log begins, its first record takes over the records of the `catalogue`, the workflows
    folder. `data` is redacted first. What has a `key` is recorded once: a second call with the same
    key appends nothing, so a caller may call again after a crash. A decision that is not this
    user's `own`, but found in a journal, is logged and approves nothing (ADR 31).

    Raises AuditTampered if the log's end was changed by hand, Busy, DiskFull, StorageUnwritable.
    """
    decision = make_decision(kind, data, redactor, key, own=own)
    return append_all(
        state_dir, [decision], clock=clock, lock_seconds=lock_seconds, catalogue=catalogue
    )


def make_decision(
    kind: str,
    data: Mapping[str, JsonValue],
    redactor: Redactor,
    key: str | None = None,
    *,
    own: bool = True,
    search: bool = True,
) -> Decision:
    """Return a decision for `append_all`, without secrets, and short enough for a line."""
    clean = redactor.redact_value(jsonl.plain(dict(data)))
    return Decision(kind, _shorten_data(clean), key, own, search)


def append_all(
    state_dir: Path,
    decisions: Sequence[Decision],
    *,
    clock: Clock,
    lock_seconds: float = _LOCK_SECONDS,
    catalogue: Path | None = None,
) -> Head:
    """Return the log's head once all decisions are in it, on the disk, in this order.

    They share the writes that make them durable. On an error the first of them may be in the log,
    as after a crash. Otherwise as `append`.
    """
    with locked(state_dir, lock_seconds) as folder:
        log = _open_begun_log(folder, clock, catalogue)
        once = {each.key or position: each for position, each in enumerate(decisions)}
        new = [each for each in once.values() if not _is_recorded(folder, each)]
        for own, some in groupby(new, key=lambda each: each.own):
            log = _add_records(log, list(some), clock, own=own)
        return head_of(log)


def _is_recorded(folder: Path, decision: Decision) -> bool:
    key = decision.key
    return key is not None and decision.search and key in log_reader.keys_starting(folder, key)


def log_anchor(
    state_dir: Path, *, clock: Clock, catalogue: Path | None = None
) -> dict[str, JsonValue]:
    """Return the log's name, and its head's `seq` and `hash`, for a promotion's record.

    With it in the catalogue, under version control, a log that was cut before that point is found.
    Begins the log if it does not exist. Raises as `append`.
    """
    with locked(state_dir, _LOCK_SECONDS) as folder:
        head = head_of(_open_begun_log(folder, clock, catalogue))
    return {"log": head.log, "seq": head.seq, "hash": head.hash}


@contextmanager
def locked(state_dir: Path, seconds: float) -> Iterator[Path]:
    """The log's folder, made if it is missing; no other user may write to it."""
    state = open_state(state_dir)
    with storage_errors(state.audit):
        state.audit.mkdir(exist_ok=True)
    busy = Busy(f"another Pulsus held the decision log's lock for {seconds:g} s", hint="try again")
    with file_lock.hold_lock(state.locks / "audit.lock", seconds, _POLL_SECONDS, busy):
        yield state.audit


def open_ready(folder: Path) -> DecisionLog:
    """Return the log after whatever a crash left was put right. The caller holds the lock.

    Raises AuditTampered if that is not what a crash leaves, or not the log that was begun here,
    DiskFull, StorageUnwritable.
    """
    head, mark = append_position.read_head(folder), log_identity.read_mark(folder)
    with storage_errors(folder):
        path, last, behind, size = append_position.read_log_end(folder)
        seq, known = (last.seq, last.hash) if last else (0, GENESIS)
        named, before = (head.seq, head.hash) if head else (0, GENESIS)
        is_cut = bool(behind)
        if last and append_position.is_one_append(path, size, head, last, is_cut=is_cut):
            head = _renew_head(folder, head, last)
        elif (seq, known) != (named, before):
            raise append_position.tampered_error(
                path, f"ends with record {seq}, and {HEAD_NAME} names record {named}"
            )
        if behind:
            synced_log_files.truncate(path, size)
        if last and not size:
            path.unlink()  # a segment that was begun and got no record
            path = log_reader.segment_path(folder, log_reader.segment_number(path) - 1)
            size = path.stat().st_size
    if mark not in (None, head.log if head else None):
        raise append_position.tampered_error(
            folder, f"is not, or no longer, the log {mark[:12]}… that was begun here"
        )
    witness = user_witness.Witness.of(folder)
    _require_seen(witness)
    return DecisionLog(folder, path, last, head, (path.name, size), witness)


def _open_begun_log(folder: Path, clock: Clock, catalogue: Path | None) -> DecisionLog:
    """Return the log, ready for records, and note its name as the log of this folder."""
    log = begin_log(open_ready(folder), clock, catalogue=catalogue)
    log_identity.write(folder, head_of(log).log)
    return log


def begin_log(
    log: DecisionLog, clock: Clock, rand: RandomBytes = os.urandom, *, catalogue: Path | None = None
) -> DecisionLog:
    """Return the log with its first record, which makes it differ from every other.

    It takes over the records of the catalogue: a log can vouch for what comes after it only.
    Raises MetadataCorrupt, StorageUnwritable.
    """
    if log.last:
        return log
    taken = promotion_records.read_all(catalogue) if catalogue and catalogue.is_dir() else ()
    first, *more = record_key.by_tool(taken)
    data: dict[str, JsonValue] = {"nonce": rand(8).hex(), "pulsus": __version__}
    begun = Decision(approved_record_keys.BEGIN, data | ({"records": first} if first else {}))
    log = add_record(log, begun, clock)
    for some in more:
        log = add_record(log, Decision(approved_record_keys.MORE, {"records": some}), clock)
    return log


def require_seen(folder: Path) -> None:
    """Raise AuditTampered if the log is not, or no longer, what this user wrote to.

    Raises UserStateInvalid, StorageUnwritable.
    """
    _require_seen(user_witness.Witness.of(folder))


def _require_seen(witness: user_witness.Witness) -> None:
    match = witness.match()
    if match in user_witness.MOVED:
        raise append_position.tampered_error(
            witness.folder,
            f"(LOG_{match.upper()}): {user_witness.REASONS[match]}",
            gone=match == "missing",
        )


def add_record(log: DecisionLog, decision: Decision, clock: Clock) -> DecisionLog:
    """Return the log with one record more, on the disk, and the head naming it.

    Raises as `append`.
    """
    return _add_records(log, [decision], clock, own=decision.own)


def _add_records(
    log: DecisionLog, decisions: Sequence[Decision], clock: Clock, *, own: bool
) -> DecisionLog:
    """Return the log with the decisions, written by as few appends as hold them."""
    while decisions:
        records, text = _encode_records(log, decisions, clock)
        name = log.head.log if log.head else records[0].hash
        with storage_errors(log.path):
            # The order that holds after a loss of power: it comes, it is there, it is named, it
            # was seen. Each is on the disk before the next begins.
            log.witness.intend(records, log.head, log.end, name, own=own)
            size = synced_log_files.write_lines(log.path, text)
            head = _renew_head(log.folder, log.head, records[-1])
            log.witness.settle(head, log.path.name, size)
        log = replace(log, last=records[-1], head=head, end=(log.path.name, size))
        decisions = decisions[len(records) :]
    return log


def _encode_records(
    log: DecisionLog, decisions: Sequence[Decision], clock: Clock
) -> tuple[list[LogRecord], bytes]:
    """Return the records of the first decisions that one append can hold, and their lines."""
    seq, prev = (log.last.seq, log.last.hash) if log.last else (0, GENESIS)
    ts = lines.time_text(clock(), len(decisions))
    records: list[LogRecord] = []
    text = b""
    for each in decisions[: lines.MOST_AT_ONCE]:
        line = lines.encode(seq + 1, ts, each.kind, each.data, each.key, prev)
        if records and len(text) + len(line) > MAX_LINE_BYTES:
            break
        record, _ = lines.decode(line[:-1])
        records.append(record)
        seq, prev, text = record.seq, record.hash, text + line
    return records, text


def head_of(log: DecisionLog) -> Head:
    """Return the head of a log that has begun."""
    if log.head is None:
        raise ValueError(f"the log in {log.folder} has not begun")
    return log.head


def _renew_head(folder: Path, head: Head | None, record: LogRecord) -> Head:
    new = Head(head.log if head else record.hash, record.seq, record.hash)
    synced_log_files.write_head(folder, new)
    return new


def _shorten_data(data: JsonValue) -> Mapping[str, JsonValue]:
    if not isinstance(data, dict):
        raise TypeError(f"a decision's data is a mapping, not {type(data).__name__}")
    if len(lines.canonical(data)) < MAX_DATA_BYTES:
        return data
    short: dict[str, JsonValue] = json.loads(jsonl.encode(data))
    return short
