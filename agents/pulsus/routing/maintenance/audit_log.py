"""Compare the decision log with the catalogue's records (spec §10, §17). Effect: reads files.

The hash chain itself is verified in `core/storage/decision_log/verify_log.py`; here a log that was
cut, replaced or lost is found. The hash of `--expect-head` is looked up here.

Every record names the head of the log at its time, and the log holds a digest of every record. So
the records reveal a cut log, and the log reveals a changed record. Records of another log (from
another machine) cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.decision_log import accept_break, log_identity, log_record, verify_log
from pulsus.core.storage.decision_log.damage_report import LogCheck
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.routing.maintenance.audit_catalogue import AuditFinding, Level

_EVIDENCE = (
    "put it back from a backup; or, once you know why, go on: pulsus audit --accept-break REASON"
)
_OTHER_HEAD = (
    "compare the hash with the one you kept; if it is right, the log was replaced or cut: put it "
    "back from a backup; if you know why, keep the head printed below from now on"
)
_RECORDS = "restore metadata.jsonl from version control, and compare the log with a backup"
_LOG_FIRST = (
    "the log itself was changed, so metadata.jsonl may be right: put the log back from a backup, "
    "then look again: pulsus audit; or, once you know why, go on: "
    "pulsus audit --accept-break REASON"
)
_ELSEWHERE = (
    "see who added the records: git log -p -- '*metadata.jsonl'; look at them and accept them: "
    "pulsus audit --accept-records; it does not offer a record that is older than yours of the "
    "same tool: if that is right, take it over with pulsus audit --accept-break REASON"
)
_NO_LOG = (
    "in a new clone this is normal: look at the records and accept them: "
    "pulsus audit --accept-records; in CI leave out --strict; if this folder had a log, put "
    ".pulsus back from a backup; if that log is lost, look at git log -p -- '*metadata.jsonl', "
    "then: pulsus audit --accept-break REASON"
)
_CLOCK = "nothing, if the machine's clock was set back then; otherwise ask who wrote that record"
_LISTED = 3
_NAMED = 5


IsSigned = Callable[[PromotionRecord], bool]
"""True for a record that counts because a listed key signed its commit."""


@dataclass(frozen=True, slots=True)
class LogAudit:
    """The decision log as it was found. `expected_at` is the record of the head that was asked for.

    `elsewhere` counts the records of the catalogue that were made with other logs. `unknown` are
    keys of those that this one does not know as they are, `named` the highest number of its
    records that the catalogue names: what an acceptance must cover.
    """

    checked: LogCheck
    findings: tuple[AuditFinding, ...]
    expected_at: int | None
    elsewhere: int
    unknown: tuple[str, ...] = ()
    named: int = 0


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A record of the catalogue, the head that it names, and its key in the log."""

    id: str
    tool: str
    head: log_record.Head | None
    key: str
    record: PromotionRecord

    @classmethod
    def of(cls, record: PromotionRecord) -> _Anchored:
        head = log_record.parse_anchor(record.log)
        return cls(record.id, record.tool_id, head, catalogue_lock.decision_key(record), record)

    @property
    def seq(self) -> int:
        """The number of the record it names; 0 if it names none."""
        return self.head.seq if self.head else 0


@dataclass
class _LogContents:
    """The facts that one reading of the log collects for the comparison."""

    expected: str | None
    wanted: frozenset[int]
    hashes: dict[int, str] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    revisions: dict[str, tuple[str, str]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    expected_at: int | None = None

    def __call__(self, record: log_record.LogRecord) -> None:
        """Take note of one record."""
        if record.seq in self.wanted:
            self.hashes[record.seq] = record.hash
        if record.hash == self.expected:
            self.expected_at = record.seq
        self.accepted.update(accept_break.accepted_keys(record))
        if record.key:
            self.keys.add(record.key)
            revision, tool = record.data.get("revision"), record.data.get("tool")
            if isinstance(revision, str) and isinstance(tool, str):
                self.revisions[record.key] = (revision, tool)


def audit_log(
    folder: Path,
    records: Mapping[str, tuple[PromotionRecord, ...]],
    *,
    quick: bool = False,
    expected: str | None = None,
    is_signed: IsSigned | None = None,
) -> LogAudit:
    """Return the damage of the log in `folder` (`.pulsus/audit/`), and differences from `records`.

    `expected` is a hash that some record of the log must have. `quick` skips sealed records and
    their comparison. `is_signed` tells which records count by their commit. Raises
    StorageUnwritable.
    """
    everything = [_Anchored.of(r) for found in records.values() for r in found]
    seen = _LogContents(expected, frozenset(r.head.seq for r in everything if r.head))
    checked = verify_log.check_log(folder, quick=quick, each=seen)
    findings = [
        AuditFinding(d.code, "error", d.path, d.line, None, d.reason, _EVIDENCE)
        for d in checked.damages
    ]
    findings += [
        AuditFinding(d.code, "warning", d.path, d.line, None, d.reason, _CLOCK)
        for d in checked.set_back
    ]
    name = _log_name(checked, folder)
    mine = [r for r in everything if name and r.head and r.head.log == name]
    others = [r for r in everything if not (name and r.head and r.head.log == name)]
    compare = _Comparison(seen, folder, is_signed)
    against = [found for r in mine if r.seq > checked.unread for found in compare.mine(r)]
    cut = any(found.code == "LOG_CUT" for found in against)
    damaged = cut or bool(checked.damages)
    findings += _merge_findings(_blame_log(against)) if damaged else against
    if not checked.unread:
        findings += compare.gone(everything)
    findings += compare.others(others, here=checked.segments > 0)
    if expected and seen.expected_at is None:
        reason = f"no record has the hash {expected}"
        fix = _OTHER_HEAD if checked.head else _EVIDENCE
        findings.append(AuditFinding("HEAD_UNKNOWN", "error", folder, None, None, reason, fix))
    named = max((r.seq for r in mine), default=0)
    unknown = tuple(sorted(compare.unknown - seen.accepted))
    return LogAudit(checked, tuple(findings), seen.expected_at, len(others), unknown, named)


def _log_name(checked: LogCheck, folder: Path) -> str | None:
    """Return the name of the log, even if its head is lost; None if there is no log."""
    if checked.head:
        return checked.head.log
    return log_identity.read_mark(folder) if checked.segments else None


class _Comparison:
    """The catalogue's records against what was read of the log; `unknown` are keys it finds."""

    def __init__(self, seen: _LogContents, folder: Path, is_signed: IsSigned | None) -> None:
        self.seen, self.folder, self.is_signed = seen, folder, is_signed
        self.unknown: set[str] = set()
        self.logged: dict[tuple[str, str], set[str]] = {}
        for key, found in seen.revisions.items():
            self.logged.setdefault(found, set()).add(key)

    def mine(self, record: _Anchored) -> Iterable[AuditFinding]:
        """Yield the findings on a record that was made with this log."""
        if record.head and self.seen.hashes.get(record.seq) != record.head.hash:
            reason = f"it was made after record {record.seq}, which the log has not got like that"
            yield self._record_finding("LOG_CUT", "error", record, reason, _EVIDENCE)
        elif record.key not in self.seen.keys:
            reason = "it is not as it was logged, or was taken out of the log"
            yield self._record_finding("RECORD_CHANGED", "error", record, reason, _RECORDS)

    def others(self, records: Iterable[_Anchored], *, here: bool) -> Iterable[AuditFinding]:
        """Yield the findings on records that name another log, or none. `here`: there is a log."""
        strange = []
        for record in records:
            logged = self.logged.get((record.id, record.tool), ())
            if logged and record.key not in logged:
                reason = "it is not as it was logged: what it says of the log was changed"
                yield self._record_finding("RECORD_CHANGED", "error", record, reason, _RECORDS)
            elif not logged:
                strange.append(record)
        known = [r for r in strange if r.key in self.seen.accepted]
        new = [r for r in strange if r.key not in self.seen.accepted]
        self.unknown.update(r.key for r in strange)
        if known:
            taken = "made elsewhere, and taken over when this log began or accepted later"
            yield _elsewhere_finding(known, "info", taken, "nothing")
        # Without a log nothing shows whether one was removed: there a signature ends no warning.
        signed = [r for r in new if here and self.is_signed and self.is_signed(r.record)]
        new = [r for r in new if r not in signed]
        if signed:
            told = "made elsewhere, and a listed key signed the commit that brought them"
            yield _elsewhere_finding(signed, "info", told, "nothing")
        if new:
            logs = {r.head.log if r.head else None for r in new}
            others = sorted(log for log in logs if log)
            made = ["without a decision log"] if None in logs else []
            if len(others) == 1:
                made.append(f"under another decision log ({others[0][:12]}…)")
            elif others:
                made.append(f"under {len(others)} other decision logs")
            them = "it" if len(new) == 1 else "them"
            where = (
                f"the log of this project does not know {them}"
                if here
                else f"this project has no decision log that could confirm {them}"
            )
            told = f"made {' or '.join(made)}; {where}"
            yield _elsewhere_finding(new, "warning", told, _ELSEWHERE if here else _NO_LOG)

    def gone(self, records: Iterable[_Anchored]) -> Iterable[AuditFinding]:
        """Logged decisions whose record is not in the catalogue, as one finding.

        A branch that was switched does the same: a warning.
        """
        present = {(r.id, r.tool) for r in records}
        gone = {found: keys for found, keys in self.logged.items() if found not in present}
        self.unknown.update(*gone.values())
        new = sorted(found for found, keys in gone.items() if not keys <= self.seen.accepted)
        if new:
            reason = "logged, and without a record in the catalogue: " + _list_first(
                [f"{revision} of {tool}" for revision, tool in new]
            )
            fix = (
                "check that metadata.jsonl is as version control has it, on this branch; if the "
                "decision was taken back, as by git checkout: pulsus audit --accept-break REASON"
            )
            which = tuple((tool, revision) for revision, tool in new)
            yield AuditFinding(
                "RECORD_GONE", "warning", self.folder, None, new[0][1], reason, fix, which
            )

    def _record_finding(
        self, code: str, level: Level, record: _Anchored, reason: str, fix: str
    ) -> AuditFinding:
        self.unknown.add(record.key)
        if record.key in self.seen.accepted:
            level, reason = "info", f"{reason} (accepted)"
        which = ((record.tool, record.id),)
        reason = f"{record.id}: {reason}"
        return AuditFinding(code, level, self.folder, None, record.tool, reason, fix, which)


def _blame_log(found: Iterable[AuditFinding]) -> list[AuditFinding]:
    """Return the findings with the advice for a damaged log, which may have lost its records."""
    return [replace(f, fix=_LOG_FIRST) if f.code == "RECORD_CHANGED" else f for f in found]


def _merge_findings(found: Sequence[AuditFinding]) -> Iterable[AuditFinding]:
    """Yield one finding of each kind: what the log lost is one cause, however many records name
    it.
    """
    kinds: dict[tuple[str, Level], list[AuditFinding]] = {}
    for each in found:
        kinds.setdefault((each.code, each.level), []).append(each)
    for first, *more in kinds.values():
        which = tuple(record for each in (first, *more) for record in each.records)
        named = _list_first([f"{tool} ({revision})" for tool, revision in which[1:]], _NAMED)
        reason = f"{first.reason}; so with {len(more)} more: {named}" if more else first.reason
        yield replace(first, tool=None if more else first.tool, reason=reason, records=which)


def _elsewhere_finding(
    records: Sequence[_Anchored], level: Level, told: str, fix: str
) -> AuditFinding:
    """Return promotions that the log here, if any, does not know, as one finding."""
    which = tuple(sorted((r.tool, r.id) for r in records))
    named = _list_first([f"{tool} ({revision})" for tool, revision in which], _NAMED)
    count = "1 promotion was" if len(records) == 1 else f"{len(records)} promotions were"
    reason = f"{count} {told}: {named}"
    return AuditFinding("LOG_ELSEWHERE", level, None, None, None, reason, fix, which)


def _list_first(found: Sequence[str], first: int = _LISTED) -> str:
    more = f" and {len(found) - first} more" if len(found) > first else ""
    return f"{', '.join(found[:first])}{more}"
