"""Encode and decode the lines of the decision log. Pure.

A line is canonical JSON (sorted keys, no spaces, ASCII) of `data key kind prev seq ts`, and `hash`
as its last member: SHA-256 over that JSON without `hash`, so over the very bytes before it. Data of
a decision that is too long for a line is shortened in `decision_log.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from pulsus.core.system import jsonl
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

GENESIS = "0" * 64
"""The hash before the first record."""

HEAD_NAME = "head.json"

MAX_LINE_BYTES = 8 * 64 * 1024
"""No line of the log is longer."""

MOST_AT_ONCE = 32
"""Records that one append writes, at most. Together they are no longer than one line may be."""

_SEVERAL = late_pattern(r"\.\d{6}(?:\+|\Z)", re.ASCII)

_MEMBERS = {"data", "key", "kind", "prev", "seq", "ts"}
_TAIL = re.compile(rb',"hash":"([0-9a-f]{64})"\}', re.ASCII)
_TAIL_BYTES = len(b',"hash":""}') + 64


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One decision. `ts` is ISO 8601 in UTC, `seq` counts from 1 over all segments.

    `key` names what it is about, where that is to be recorded only once.
    """

    seq: int
    ts: str
    kind: str
    data: Mapping[str, JsonValue]
    key: str | None
    prev: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """The last record: its number and hash, and which log it is (the hash of its first record)."""

    log: str
    seq: int
    hash: str


def encode(
    seq: int, ts: str, kind: str, data: Mapping[str, JsonValue], key: str | None, prev: str
) -> bytes:
    """Return the record's line with its newline."""
    fields = {"data": dict(data), "key": key, "kind": kind, "prev": prev, "seq": seq, "ts": ts}
    body = canonical(fields)
    return body[:-1] + b',"hash":"' + digest(body).encode("ascii") + b'"}\n'


def decode(line: bytes) -> tuple[LogRecord, str]:
    """Return the record of a line (without its newline), and the hash its bytes really have.

    Raises ValueError for what is no record; the two hashes may differ.
    """
    # A check of the log decodes 100,000 lines, so this is written for speed.
    found = _TAIL.fullmatch(line, len(line) - _TAIL_BYTES)
    if found is None:
        raise ValueError("the line does not end in a hash")
    body = line[:-_TAIL_BYTES] + b"}"
    text = body.decode("ascii")
    fields, end = jsonl.STRICT.raw_decode(text)
    if end != len(text) or type(fields) is not dict or fields.keys() != _MEMBERS:
        raise ValueError(f"the line is not an object of {', '.join(sorted(_MEMBERS))}")
    data, key, kind = fields["data"], fields["key"], fields["kind"]
    prev, seq, ts = fields["prev"], fields["seq"], fields["ts"]
    if not (
        type(data) is dict
        and (key is None or type(key) is str)
        and type(kind) is type(prev) is type(ts) is str
    ):
        raise ValueError("a member of the record has another type than it should")
    if type(seq) is not int:
        raise ValueError(f"seq {seq!r} is not a whole number")
    if datetime.fromisoformat(ts).tzinfo is None:
        raise ValueError(f"ts {ts!r} has no offset")
    return LogRecord(seq, ts, kind, data, key, prev, found[1].decode("ascii")), digest(body)


def parse_valid(line: bytes) -> LogRecord | None:
    """Return the record of a line, where its hash is right."""
    try:
        record, actual = decode(line)
    except (ValueError, RecursionError):
        return None
    return record if record.hash == actual else None


def time_text(moment: datetime, count: int) -> str:
    """Return the `ts` of the records that one append writes at that moment.

    Several have one `ts` in common, with microseconds. By them a crash between the lines and the
    head is told from a head that was set back.
    """
    precision = "microseconds" if count > 1 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=precision)


def is_time_of_several(ts: str) -> bool:
    """Return True for a `ts` of several records that one append wrote."""
    return _SEVERAL.search(ts) is not None


def is_interrupted(line: bytes) -> bool:
    """Return True if an interrupted append can have left this line.

    Such a line has no end, or blocks that never got to the disk and read as zeros.
    """
    return not line.endswith(b"\n") or b"\0" in line


def canonical(value: Mapping[str, JsonValue]) -> bytes:
    """JSON with sorted keys and no spaces, in ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def digest(data: bytes) -> str:
    """Hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def parse_anchor(value: Mapping[str, JsonValue] | None) -> Head | None:
    """Return the head that a promotion's record carries (`chain.anchor`); None if it carries
    none.
    """
    match value:
        case {"log": str(log), "seq": int(seq), "hash": str(last)}:
            return Head(log, seq, last)
        case _:
            return None


def head_bytes(head: Head) -> bytes:
    """Return the head file's content."""
    return canonical({"hash": head.hash, "log": head.log, "seq": head.seq}) + b"\n"


def parse_head(data: bytes) -> Head:
    """Parse the head file. Raises ValueError unless it is exactly as Pulsus writes it."""
    fields = json.loads(data)
    try:
        found = Head(str(fields["log"]), int(fields["seq"]), str(fields["hash"]))
    except (KeyError, TypeError) as failure:
        raise ValueError(f"it lacks a member: {failure}") from failure
    if head_bytes(found) != data:
        raise ValueError("it is not as Pulsus writes it")
    return found
