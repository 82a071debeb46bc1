"""Whether decision log and catalogue tell the same story (spec §10, §17). Effect: reads files.

Every record carries the head the log had before it, and the log holds every decision with a digest
of its record. So a log that was cut shows against the catalogue, and a changed record against the
log. Records made with another log (another machine's) cannot be held against this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pulsus.core.storage import chain_check, chain_record, writing
from pulsus.core.storage.chain_check import Checked
from pulsus.core.storage.metadata import Record
from pulsus.routing.audit import Finding, Level

_EVIDENCE = (
    "compare it with a backup; keep the folder as evidence by moving it away, and a new log begins"
)
_LISTED = 3


@dataclass(frozen=True, slots=True)
class Logged:
    """The decision log as it was found. `expected_at` is the record of the head that was asked for.

    `elsewhere` counts the records of the catalogue that were made with other logs.
    """

    checked: Checked
    findings: tuple[Finding, ...]
    expected_at: int | None
    elsewhere: int


@dataclass
class _Seen:
    """What a reading of the log leaves behind for the comparison."""

    expected: str | None
    wanted: frozenset[int]
    hashes: dict[int, str] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    revisions: dict[str, tuple[str, str]] = field(default_factory=dict)
    expected_at: int | None = None

    def __call__(self, record: chain_record.Record) -> None:
        """Take note of one record."""
        if record.seq in self.wanted:
            self.hashes[record.seq] = record.hash
        if record.hash == self.expected:
            self.expected_at = record.seq
        if record.key:
            self.keys.add(record.key)
            revision, tool = record.data.get("revision"), record.data.get("tool")
            if isinstance(revision, str) and isinstance(tool, str):
                self.revisions[record.key] = (revision, tool)


def log(
    folder: Path,
    records: Mapping[str, tuple[Record, ...]],
    *,
    quick: bool = False,
    expected: str | None = None,
) -> Logged:
    """What is wrong with the log in `folder` (`.pulsus/audit/`), and between it and `records`.

    `expected` is a hash that some record of the log must have; `quick` leaves sealed records
    unread, and out of the comparison. Raises StorageUnwritable.
    """
    anchored = [r for found in records.values() for r in found if _seq(r)]
    seen = _Seen(expected, frozenset(_seq(r) for r in anchored))
    checked = chain_check.check(folder, quick=quick, each=seen)
    findings = [
        Finding(d.code, "error", d.path, d.line, None, d.reason, _EVIDENCE) for d in checked.damages
    ]
    head = checked.head.log if checked.head else None
    mine = [r for r in anchored if r.log and r.log.get("log") == head]
    findings += [
        found for r in mine if _seq(r) > checked.unread for found in _compared(r, seen, folder)
    ]
    if not checked.unread:
        findings += _gone(seen, mine, folder)
    findings += _elsewhere(anchored, head)
    if expected and seen.expected_at is None:
        reason = f"no record has the hash {expected}"
        findings.append(Finding("HEAD_UNKNOWN", "error", folder, None, None, reason, _EVIDENCE))
    return Logged(checked, tuple(findings), seen.expected_at, len(anchored) - len(mine))


def _seq(record: Record) -> int:
    """The number of the head that the record carries; 0 where it carries none."""
    match record.log:
        case {"log": str(), "seq": int(seq), "hash": str()}:
            return seq
        case _:
            return 0


def _compared(record: Record, seen: _Seen, folder: Path) -> Iterable[Finding]:
    anchor = record.log or {}
    if seen.hashes.get(_seq(record)) != anchor.get("hash"):
        number = _seq(record)
        reason = f"{record.id} was made after record {number}, which the log has not got like that"
        yield Finding("LOG_CUT", "error", folder, None, record.tool_id, reason, _EVIDENCE)
    elif writing.decision_key(record) not in seen.keys:
        reason = f"{record.id} is not as it was logged, or was taken out of the log"
        fix = "restore metadata.jsonl from version control, and compare the log with a backup"
        yield Finding("RECORD_CHANGED", "error", folder, None, record.tool_id, reason, fix)


def _gone(seen: _Seen, mine: Iterable[Record], folder: Path) -> Iterable[Finding]:
    """Logged decisions whose record is not in the catalogue, as one finding.

    A branch that was switched does the same: a warning.
    """
    present = {r.id for r in mine}
    gone = sorted({found for found in seen.revisions.values() if found[0] not in present})
    if gone:
        listed = ", ".join(f"{revision} of {tool}" for revision, tool in gone[:_LISTED])
        more = f" and {len(gone) - _LISTED} more" if len(gone) > _LISTED else ""
        reason = f"logged, and without a record in the catalogue: {listed}{more}"
        fix = "check that metadata.jsonl is as version control has it, on this branch"
        yield Finding("RECORD_GONE", "warning", folder, None, gone[0][1], reason, fix)


def _elsewhere(anchored: Iterable[Record], head: str | None) -> Iterable[Finding]:
    logs = Counter(str(r.log["log"]) for r in anchored if r.log and r.log.get("log") != head)
    if logs:
        listed = ", ".join(f"{log[:12]}…" for log, _ in logs.most_common(_LISTED))
        here = "this is another one" if head else "there is none here"
        reason = f"{sum(logs.values())} records were made with the log {listed}: {here}"
        fix = "audit them where that log is; if it was here, look for it in a backup"
        level: Level = "info" if head else "warning"
        yield Finding("LOG_ELSEWHERE", level, None, None, None, reason, fix)
