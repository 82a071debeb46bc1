"""Verify the hash chain of the decision log, line by line (§10, §17). Effect: reads files.

A line that was edited, deleted, reordered or cut off is found here. `whole_log.py` then refuses new
decisions, and `pulsus audit` (`routing/maintenance/audit_log.py`) shows the damages. Needs no lock:
the head is read first, so whatever is appended meanwhile lies behind it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from pulsus.core.storage.decision_log import (
    accept_break,
    append_position,
    log_identity,
    log_reader,
    log_record,
    log_rotation,
)
from pulsus.core.storage.decision_log.accept_break import AcceptedBreak
from pulsus.core.storage.decision_log.damage_report import Damage, LogCheck, join_damages
from pulsus.core.storage.decision_log.log_record import GENESIS, HEAD_NAME, Head, LogRecord
from pulsus.errors import AuditTampered, storage_errors

MAX_DAMAGES = 100
"""More are only counted: one cut can spoil every line behind it."""


def check_log(
    folder: Path, *, quick: bool = False, each: Callable[[LogRecord], None] | None = None
) -> LogCheck:
    """Every damage of the log in `folder`. `each` is called for every record that is whole.

    `quick` compares a sealed segment with its seal and does not read its records, unless the log
    goes on behind damages that were accepted.
    """
    begun = log_identity.read_mark(folder)  # before the head: a new log gets its mark last
    walk = _LogWalk(each)
    head = _read_head(folder, walk)
    walk.named = head.seq if head else 0
    with storage_errors(folder):
        found = log_reader.segments(folder)
    firsts = [log_rotation.first_record(path) for path in found]
    seals = [log_rotation.parse_seal(record) if record else None for record in firsts]
    taken = [accept_break.parse_break(record) for record in firsts]
    for at, (path, following) in enumerate(zip_longest(found, firsts[1:])):
        seal = seals[at + 1] if following else None
        if following and not (seal or taken[at + 1]):
            walk.damage("UNSEALED", path, None, "the segment after it does not begin with its seal")
        accepted = taken[at]
        if accepted:
            walk.accept(accepted, path, found[:at])
        walk.segment(path, seal, quick=quick and not any(taken))
    newest = found[-1] if found else log_reader.segment_path(folder, 1)
    walk.end(newest, head, begun, lambda: _read_current_number(folder))
    damages = join_damages(walk.damages)
    return LogCheck(
        head=head,
        records=walk.records + walk.unread,
        segments=len(found),
        sealed=sum(1 for seal in seals if seal),
        unread=walk.unread,
        damages=tuple(damages[:MAX_DAMAGES]),
        notes=tuple(walk.notes),
        accepted=tuple(walk.accepted),
        set_back=tuple(walk.set_back[:MAX_DAMAGES]),
        more=max(0, len(damages) - MAX_DAMAGES),
    )


@dataclass
class _LogWalk:
    """The state of a check: the last number, and the hashes that the next record may name."""

    each: Callable[[LogRecord], None] | None
    seq: int = 0
    links: frozenset[str] = frozenset({GENESIS})
    records: int = 0
    unread: int = 0
    named: int = 0
    hash_named: str | None = None
    first: str | None = None
    number: int = 0
    spoilt: Damage | None = None
    sure: int = 0
    unreadable: bool = False
    damages: list[Damage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    accepted: list[AcceptedBreak] = field(default_factory=list)
    clock: datetime | None = None
    ts: str = ""
    same_ts: int = 0
    set_back: list[Damage] = field(default_factory=list)

    def accept(self, accepted: AcceptedBreak, path: Path, before: Sequence[Path]) -> None:
        """Go on behind accepted damages if the segments are still the same."""
        self._check_segment_number(path)
        try:
            same = accept_break.read_contents(before) == accepted.contents
        except OSError:
            same = False
        if same:
            self.damages = [d for d in self.damages if d.path.name == HEAD_NAME]
            self.accepted.append(accepted)
        else:
            reason = f"the segments before it are not those that {accepted.by} accepted"
            self.damage("SEAL_BROKEN", path, 1, reason)
        self.seq, self.links = accepted.record.seq - 1, frozenset({accepted.record.prev})
        self.first = None

    def segment(self, path: Path, seal: log_rotation.Seal | None, *, quick: bool) -> None:
        """Read one segment, or only compare it with its seal."""
        self._check_segment_number(path)
        if quick and seal and self._is_seal_valid(path, seal):
            return
        digest, size = hashlib.sha256(), 0
        try:
            with log_reader.open_file(path) as file:
                for number, line in enumerate(_list_lines(file), start=1):
                    if seal:
                        digest.update(line)
                        size += len(line)
                    self._check_line(path, number, line)
        except OSError as failure:
            self.damage("UNREADABLE", path, None, failure.strerror or str(failure))
            return
        if seal and seal.content != (path.name, size, digest.hexdigest()):
            self.damage("SEAL_BROKEN", path, None, "it is not what its seal was made for")

    def end(
        self, newest: Path, head: Head | None, begun: str | None, later: Callable[[], int]
    ) -> None:
        """Compare what was read with the head, and the log with the one that was `begun`."""
        file = newest.parent / HEAD_NAME
        self._check_identity(newest.parent, head, begun)
        self._drop_interrupted_append(newest, later)
        if self.named > max(self.seq, 0):
            first = max(self.seq, 0) + 1
            several = f"records {first} to {self.named} are"
            missing = several if first < self.named else f"record {first} is"
            self.damage("TRUNCATED", newest, None, f"{missing} missing at its end")
        if head is None:
            if (self.seq > 1 or (begun and self.seq)) and not self.unreadable:
                reason = f"it is gone, and with it the proof that record {self.seq} is the last"
                self.damage("HEAD_MISSING", file, None, reason)
            return
        if self.hash_named not in (None, head.hash) or self.first not in (None, head.log):
            self.damage("HEAD_DIFFERS", file, None, f"record {head.seq} of the log is another one")
        behind = self.sure - self.named
        if behind > self._most_behind() and self.sure - later() > self._most_behind():
            reason = (
                f"it names record {head.seq} and the log ends with {self.sure}: it was set back"
            )
            self.damage("HEAD_BEHIND", file, None, reason)
        elif 0 < behind <= self._most_behind() and self.sure == self.seq > later():
            soon = "" if self.damages else "; the next append puts it right"
            count = "one record" if behind == 1 else f"{behind} records"
            self.notes.append(f"{file.name}: {count} behind{soon}")

    def _check_identity(self, folder: Path, head: Head | None, log_name: str | None) -> None:
        mark = log_identity.path(folder)
        if log_name and not head and not self.number:
            reason = f"the log {log_name[:12]}… was begun here, and no file of it is left"
            self.damage("LOG_MISSING", folder, None, reason)
        elif log_name and head and head.log != log_name:
            reason = (
                f"the log {log_name[:12]}… was begun here, and {folder.name}/ holds another one"
            )
            self.damage("LOG_REPLACED", mark, None, reason)

    def _drop_interrupted_append(self, newest: Path, later: Callable[[], int]) -> None:
        """Drop the damage of an interrupted append: a last line that the head never named."""
        last = self.spoilt
        if last is None or last.path != newest:
            return
        behind = self.seq - 1 - self.named
        if self.named < self.seq <= later():  # it was being written while it was read
            self.damages.remove(last)
            self.seq -= 1
        elif behind == 0 or 0 < behind <= self._most_behind(is_cut=True):
            self.damages.remove(last)
            self.seq -= 1
            soon = "" if self.damages else "; the next one clears it"
            self.notes.append(f"{newest.name}:{last.line}: an append was interrupted{soon}")

    def _most_behind(self, *, is_cut: bool = False) -> int:
        """Return how many records a crash can have left behind the head: those of one append.

        Only an append of several records leaves whole ones before a line that `is_cut`.
        """
        if log_record.is_time_of_several(self.ts):
            return min(self.same_ts, log_record.MOST_AT_ONCE)
        return 0 if is_cut else 1

    def _check_segment_number(self, path: Path) -> None:
        number = log_reader.segment_number(path)
        for missing in range(self.number + 1, number):
            missing_path = log_reader.segment_path(path.parent, missing)
            self.damage("SEGMENT_MISSING", missing_path, None, "there is no such file")
            self.seq, self.links = -1, frozenset()
        self.number = number

    def _is_seal_valid(self, path: Path, seal: log_rotation.Seal) -> bool:
        """Return True if the bytes match the seal and the seal follows the record before it."""
        try:
            same = log_reader.read_content(path) == seal.content
        except OSError:
            return False
        if not same or seal.first != self.seq + 1:
            return False
        if seal.first == 1:
            record = log_rotation.first_record(path)
            self.first = record.hash if record else None
        self.unread += seal.records
        self.seq, self.links = seal.last, frozenset({seal.hash})
        self.sure = self.seq
        if seal.last == self.named:
            self.hash_named = seal.hash
        return True

    def _check_line(self, path: Path, number: int, line: bytes) -> None:
        self.spoilt = None
        try:
            if not line.endswith(b"\n"):
                raise ValueError("the line is cut short")
            if line.endswith(b"\r\n"):
                raise ValueError("it ends in CR LF: something converted the file's line ends")
            record, actual = log_record.decode(line[:-1])
        except (ValueError, RecursionError) as failure:
            self._note_spoilt_line("UNREADABLE", path, number, str(failure))
            self.spoilt = self.damages[-1] if log_record.is_interrupted(line) else None
            return
        if record.hash != actual:
            self._note_spoilt_line(
                "ALTERED", path, number, f"{record.kind} of {record.ts} was changed"
            )
            self.links = frozenset({actual, record.hash})
            return
        self._check_sequence(path, number, record)
        self._check_time(path, number, record)
        self.sure = self.seq
        self.records += 1
        if record.seq == 1:
            self.first = record.hash
        if record.seq == self.named:
            self.hash_named = record.hash
        if self.each:
            self.each(record)

    def _check_sequence(self, path: Path, number: int, record: LogRecord) -> None:
        """Note damage if the record is not the next one."""
        expected = self.seq + 1 if self.seq >= 0 else record.seq
        links, self.links = self.links, frozenset({record.hash})
        if record.seq > expected:
            missing = f"{expected} to {record.seq - 1}"
            self.damage("DROPPED", path, number, f"records {missing} are missing before it")
        elif record.seq < expected:
            self.damage("MISPLACED", path, number, f"record {record.seq} stands out of order")
            self.links = frozenset()
        elif links and record.prev not in links:
            self.damage("REPLACED", path, number, "the record before it is not the one it names")
        self.seq = max(expected - 1, record.seq)

    def _check_time(self, path: Path, number: int, record: LogRecord) -> None:
        self.same_ts = self.same_ts + 1 if record.ts == self.ts else 1
        self.ts = record.ts
        now = datetime.fromisoformat(record.ts)
        if self.clock and now < self.clock:
            reason = f"{record.ts}, and the record before it is of {self.clock.isoformat()}"
            self.set_back.append(Damage("CLOCK_SET_BACK", path, number, reason))
        self.clock = now

    def _note_spoilt_line(self, code: str, path: Path, number: int, reason: str) -> None:
        """Note damage of a line, and count the line as one record."""
        self.damage(code, path, number, reason)
        if self.seq >= 0:
            self.seq += 1
        self.links = frozenset()

    def damage(self, code: str, path: Path, line: int | None, reason: str) -> None:
        """Note one damage."""
        self.damages.append(Damage(code, path, line, reason))


def _read_head(folder: Path, walk: _LogWalk) -> Head | None:
    try:
        return append_position.read_head(folder)
    except AuditTampered as failure:
        walk.unreadable = True
        reason = failure.message.rpartition(f"{HEAD_NAME} ")[2]
        walk.damage("HEAD_UNREADABLE", folder / HEAD_NAME, None, reason)
        return None


def _read_current_number(folder: Path) -> int:
    """Return the number that the head names now, or 0."""
    with suppress(AuditTampered):
        if head := append_position.read_head(folder):
            return head.seq
    return 0


def _list_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines with their ends; one that is far too long is the last. Raises OSError."""
    while line := file.readline(log_record.MAX_LINE_BYTES + 1):
        yield line
        if len(line) > log_record.MAX_LINE_BYTES:
            return
