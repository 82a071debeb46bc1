"""Files of JSON lines that outlive a run: any bytes are rows, or the one documented error.

The first byte chooses the reader, the rest is the file.
"""

import atexit
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.memory import past_routes
from pulsus.core.storage import candidate_store
from pulsus.core.storage.decision_log import (
    append_position,
    decision_log,
    log_reader,
    log_record,
    verify_log,
)
from pulsus.core.storage.records import file_transaction, promotion_records
from pulsus.errors import AuditTampered, MetadataCorrupt, StateCorrupt
from tests.fuzz import attempt

WORDS = (
    *(b'{"id":', b'"run_id":', b'"route_id":', b'"name":', b'"domain":', b'"action":', b'"ts":'),
    *(b'"description":', b'"status":', b'"created_by":', b'"created_at":', b'"version":'),
    *(b'"tool_hash":', b'"model":', b'"changes":', b'"sunset":', b'"event":', b'"log":'),
    *(b'"tokens_estimate":', b'"request":', b'"tools":', b'"outcome":', b'"accepted"', b'"wrong":'),
    *(b'"told":', b'"reasons":', b'"pending"', b'"sha256":', b'"made":', b'"seq":', b'"prev":'),
    *(b'"kind":', b'"key":', b'"data":', b',"hash":"', b"null", b"true", b"NaN", b"-Infinity"),
    *(b"1e999", b"\\ud800", b"\\u0000", b"\xed\xa0\x80", b"0001-01-01T00:00:00+14:00"),
    *(
        b"9999-12-31T23:59:59-14:00",
        b"1.2.3",
        b"rev-20260301-",
        b"\n=\n",
        b'"seal"',
        b'"segment":',
        b'"bytes":',
        b'"first":',
        b'"folders":',
        b'"root":',
    ),
    *(b'"files":', b'"before":', b'"after":', b'"note":', b"[[[[", b"}\n{", b"\0\0"),
)
_MEMORY = Path("/dev/shm")
_KEPT = tempfile.TemporaryDirectory(
    prefix="pulsus-fuzz-", dir=_MEMORY if _MEMORY.exists() else None
)
atexit.register(_KEPT.cleanup)
_FOLDER = Path(_KEPT.name)
_DAY = datetime(2026, 3, 1, tzinfo=UTC)
_TAIL = re.compile(rb',"hash":"[0-9a-f]*"}$')
_AT = Path("/w/domains/d/a/metadata.jsonl")


def fuzz_one(data):
    _READERS.get(data[:1], _metadata)(data[1:])


def _metadata(data):
    records, failure = attempt(MetadataCorrupt, promotion_records.decode, data, _AT)
    if failure:
        assert str(_AT) in failure.message
        return
    past_routes.history(records, ())
    taken = {record.id for record in records}
    assert promotion_records.next_revision(taken, _DAY) not in taken
    for record in records:
        line = promotion_records.format_record(record)
        assert promotion_records.parse_records(f"{line}\n") == (record,)
        assert record.tool_id
        assert record.created.tzinfo


def _accepted(data):
    (_FOLDER / past_routes.FILE_NAME).write_bytes(data)
    past, failure = attempt(StateCorrupt, past_routes.load_routes, _FOLDER)
    if failure:
        assert "line " in failure.message
        return
    assert len(past) <= data.count(b"\n")
    found = past_routes.history((), past)
    assert all(row.promotions == 0 for row in found.values())


def _candidate(data):
    module = _FOLDER / "x.py"
    module.with_suffix(".json").write_bytes(data)
    found = candidate_store.read_candidate(module)
    if found is not None:
        assert found.created_at.tzinfo
        assert found.request is not None
        assert all(isinstance(reason, str) for reason in found.reasons)


def _rehashed(data):
    """A log whose every line has the right hash, as who forges one would see to."""
    _log(b"".join(_with_hash(line) + b"\n" for line in data.split(b"\n")[:-1]))


def _with_hash(line):
    body = _TAIL.sub(b"}", line)
    if not body.endswith(b"}"):
        return line
    return b'%b,"hash":"%b"}' % (body[:-1], log_record.digest(body).encode("ascii"))


def _log(data):
    folder = _FOLDER / "audit"
    folder.mkdir(exist_ok=True)
    (folder / log_record.HEAD_NAME).unlink(missing_ok=True)
    segments = data.split(b"\n=\n")[:3]
    for number in range(1, 4):
        path = log_reader.segment_path(folder, number)
        path.unlink(missing_ok=True)
        if number <= len(segments):
            path.write_bytes(segments[number - 1] + b"\n" * (number < len(segments)))
    whole: list[log_record.LogRecord] = []
    found = verify_log.check_log(folder, each=whole.append)
    assert len(found.damages) <= verify_log.MAX_DAMAGES
    assert len(whole) <= data.count(b"\n")
    for record in whole:
        kept = (record.seq, record.ts, record.kind, record.data, record.key, record.prev)
        again, _ = log_record.decode(log_record.encode(*kept)[:-1])
        assert again.seq == record.seq
    verify_log.check_log(folder, quick=True)
    attempt(AuditTampered, decision_log.open_ready, folder)


def _head(data):
    folder = _FOLDER / "heads"
    folder.mkdir(exist_ok=True)
    (folder / log_record.HEAD_NAME).write_bytes(data)
    found, failure = attempt(AuditTampered, append_position.read_head, folder)
    if failure:
        assert log_record.HEAD_NAME in failure.message
        return
    assert log_record.head_bytes(found) == data


def _journal(data):
    path = _FOLDER / "journal"
    path.write_bytes(data)
    _, failure = attempt(StateCorrupt, file_transaction._read_journal, path, _FOLDER)
    assert failure  # nothing but what this user sealed
    wrong = (ValueError, KeyError, TypeError, RecursionError)
    found, failure = attempt(wrong, file_transaction._parse_journal, data)
    assert failure or len(found) == 3


_READERS = {
    b"m": _metadata,
    b"a": _accepted,
    b"c": _candidate,
    b"l": _log,
    b"r": _rehashed,
    b"h": _head,
    b"j": _journal,
}
