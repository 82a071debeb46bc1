"""The witness: remember outside the project what this user saw of its decision log (ADR 31).

`$XDG_STATE_HOME/pulsus/logs/` has two files for each state folder, named by the digest of its real
path: the head of its log, and the records of the catalogue that this user approved. A log that was
removed, cut or replaced is found by them, and a log that came from elsewhere approves nothing.
Effect: reads and replaces files in the user's state folder, reads the log.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from pulsus.config.user_state import UserState
from pulsus.core.storage.decision_log import append_position, log_reader, log_record
from pulsus.core.storage.decision_log.log_record import MAX_LINE_BYTES, Head, LogRecord
from pulsus.core.system import jsonl
from pulsus.errors import AuditTampered, PulsusError, UserStateInvalid, storage_errors

Match = Literal["none", "unseen", "same", "ahead", "missing", "shorter", "different"]
"""Result of comparing a log with what this user saw of it.

none: there is no log, and none was seen. unseen: there is one, and this user never wrote to it.
ahead: it goes on behind what was seen. The last three say that it was removed, cut or replaced.
"""

MOVED: frozenset[Match] = frozenset({"missing", "shorter", "different"})

REASONS: Mapping[Match, str] = {
    "missing": "a decision log was kept here, and no file of it is left",
    "shorter": "it ends before the last record that this user wrote to it",
    "different": "it is not the log that this user wrote to",
}

ACCEPT = "pulsus audit --accept-records"
"""The command that accepts records."""

_LOG = logging.getLogger("pulsus")
_NAME_CHARS = 32
_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True, slots=True)
class Seen:
    """The last record that this user wrote, and where its line ends.

    `following` are the records that were about to be written: after a crash the first of them may
    be there, or all, or none.
    """

    head: Head
    segment: str
    size: int
    following: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordApprovals:
    """Keys of the records that this user approved, by tool and oldest first.

    `loose` are keys of acceptances that do not name the tool.
    """

    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    loose: frozenset[str] = frozenset()

    def knows(self, tool: str, key: str) -> bool:
        """True if the user approved this record."""
        return key in self.tools.get(tool, ()) or key in self.loose

    def latest(self, tool: str) -> str | None:
        """Return the key of the last record of the tool that the user approved."""
        found = self.tools.get(tool, ())
        return found[-1] if found else None

    def with_pairs(self, pairs: Iterable[tuple[str | None, str]]) -> RecordApprovals:
        """Return the approvals with more pairs. A repeated key becomes the tool's latest."""
        tools, loose = dict(self.tools), set(self.loose)
        for tool, key in pairs:
            if tool is None:
                loose.add(key)
            else:
                tools[tool] = (*(k for k in tools.get(tool, ()) if k != key), key)
        return RecordApprovals(tools, frozenset(loose))


@dataclass(frozen=True, slots=True)
class Witness:
    """The user's files for one state folder. `user_files` is None if this user can have none."""

    folder: Path
    user_files: UserState | None
    name: str

    @classmethod
    def of(cls, folder: Path) -> Witness:
        """Return the witness of the log in `folder` (`.pulsus/audit/`)."""
        state_dir = os.path.realpath(folder.parent)
        name = hashlib.sha256(os.fsencode(state_dir)).hexdigest()[:_NAME_CHARS]
        try:
            return cls(folder, require_place(folder), name)
        except UserStateInvalid as failure:
            _warn_not_kept(failure)
            return cls(folder, None, name)

    def seen(self) -> Seen | None:
        """Return the last record that this user wrote. Raises UserStateInvalid."""
        return self._load_file("json", _parse_seen)

    def approvals(self) -> RecordApprovals:
        """Return the records that this user approved. Raises UserStateInvalid."""
        return self._load_file("records.json", _parse_approvals) or RecordApprovals()

    def expect(self, keys: Iterable[str]) -> None:
        """Keep which decisions this user is about to make: a journal alone proves none."""
        self._write_file("expected.json", {"keys": sorted(keys)})

    def expects(self, key: str) -> bool:
        """True if this user was about to make the decision. Raises UserStateInvalid."""
        return self._load_file("expected.json", lambda row: key in row["keys"]) or False

    def intend(
        self,
        records: Sequence[LogRecord],
        before: Head | None,
        at: tuple[str, int],
        log: str,
        *,
        own: bool = True,
    ) -> None:
        """Keep what is approved by records that are about to be written, and that they come.

        `before` is the head now, and `at` the segment and the size where its line ends. What is not
        this user's `own` decision approves nothing. Accepted records have no other effect than
        their approvals: raises as `UserState.write` if these cannot be kept.
        """
        from pulsus.core.storage.decision_log.approved_record_keys import RECORDS, approved_keys

        pairs = tuple(pair for each in records for pair in approved_keys(each)) if own else ()
        if pairs:
            required = any(each.kind == RECORDS for each in records)
            self._keep_approvals(self.approvals().with_pairs(pairs), required=required)
        head = before or Head(log, 0, log_record.GENESIS)
        self._keep_seen(Seen(head, *at, tuple(each.hash for each in records)))

    def settle(self, head: Head, segment: str, size: int) -> None:
        """Keep the head of the log after the record was written."""
        self._keep_seen(Seen(head, segment, size))

    def match(self) -> Match:
        """Compare the log with what this user saw of it.

        Raises UserStateInvalid, StorageUnwritable. A reader needs no lock: the user's file is read
        before the log, which only grows.
        """
        seen = self.seen()
        with storage_errors(self.folder):
            segments = log_reader.segments(self.folder)
            if seen is None:
                return "unseen" if segments else "none"
            return _match_segments(self.folder, seen, segments)

    def has_changed_head(self) -> bool:
        """Return True if `head.json` is not as this user left it. Other lines are not read.

        An append that is under way, or that a crash interrupted, is no change.
        """
        seen = self.seen()
        if seen is None or seen.following or not seen.head.seq:
            return False
        try:
            head = append_position.read_head(self.folder)
        except AuditTampered:
            return True
        return head is None or (head.seq <= seen.head.seq and head != seen.head)

    def _load_file(self, suffix: str, parse: Callable[[Any], _Parsed]) -> _Parsed | None:
        """Return the parsed content of a file, or None if it is missing."""
        name = f"logs/{self.name}.{suffix}"
        data = self.user_files.read(name) if self.user_files else None
        if data is None or self.user_files is None:
            return None
        try:
            return parse(jsonl.STRICT.decode(data.decode("utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as failure:
            path = self.user_files.folder / name
            raise UserStateInvalid(
                f"{path} is not as Pulsus wrote it: {failure}",
                hint="move it away, look at `pulsus audit`, then: pulsus audit --accept-records",
                path=str(path),
            ) from failure

    def _keep_seen(self, seen: Seen) -> None:
        row = asdict(seen)
        # One hash is written as Pulsus always did: many is what an older one cannot know.
        many = list(row.pop("following"))
        row["following"] = many if len(many) > 1 else next(iter(many), None)
        self._write_file("json", {"path": str(self.folder.parent), **row.pop("head"), **row})

    def _keep_approvals(self, approvals: RecordApprovals, *, required: bool) -> None:
        tools = {tool: list(keys) for tool, keys in approvals.tools.items()}
        row = {"tools": tools, "loose": sorted(approvals.loose)}
        self._write_file("records.json", row, required=required)

    def _write_file(
        self, suffix: str, row: Mapping[str, object], *, required: bool = False
    ) -> None:
        """Keep a file. Without it the log counts as unseen, which never permits more runs."""
        if self.user_files is None:
            return
        try:
            data = json.dumps(row, separators=(",", ":")).encode("ascii")
            self.user_files.write(f"logs/{self.name}.{suffix}", data + b"\n")
        except PulsusError as failure:
            if required:
                raise
            _warn_not_kept(failure)


def require_place(folder: Path) -> UserState:
    """Return the place of this user's approvals for the log in `folder`.

    Raises UserStateInvalid if the environment names none, or one in the project.
    """
    return UserState.of(Path(os.path.realpath(folder.parent)))


def how_to_accept(folder: Path) -> str:
    """Return what to do so that records count for this user: without a place none can."""
    try:
        require_place(folder)
    except UserStateInvalid as failure:
        return f"{failure.hint}: your approvals are kept there"
    return f"look at the records and accept them: {ACCEPT}"


def _parse_seen(row: Any) -> Seen:
    head = Head(str(row["log"]), int(row["seq"]), str(row["hash"]))
    following = row["following"]
    many = following if isinstance(following, list) else [following] if following else []
    return Seen(head, str(row["segment"]), int(row["size"]), tuple(map(str, many)))


def _parse_approvals(row: Any) -> RecordApprovals:
    tools = {str(tool): tuple(map(str, keys)) for tool, keys in row["tools"].items()}
    return RecordApprovals(tools, frozenset(map(str, row["loose"])))


def _warn_not_kept(failure: PulsusError) -> None:
    _LOG.warning(
        "what you approve is not kept for you outside the project: %s; %s",
        failure.message,
        failure.hint,
    )


def _match_segments(folder: Path, seen: Seen, segments: tuple[Path, ...]) -> Match:
    if not segments:
        return "none" if seen.head.seq == 0 else "missing"
    if _is_untouched(folder, seen, segments):
        return "same"
    first = log_reader.read_first(segments[0])
    if first and first.seq == 1 and first.hash != seen.head.log:
        return "different"
    if seen.head.seq == 0:
        return "same" if _has_only_expected_records(segments, seen) else "ahead"
    line = _read_line_before(folder / seen.segment, seen.size)
    if line is None:
        return "shorter"
    record = log_record.parse_valid(line)
    if record is None or (record.seq, record.hash) != (seen.head.seq, seen.head.hash):
        return "different"
    return "same" if _has_only_expected_records(segments, seen) else "ahead"


def _is_untouched(folder: Path, seen: Seen, segments: tuple[Path, ...]) -> bool:
    """Return True if head file and newest segment are exactly as this user left them."""
    newest = segments[-1]
    if newest.name != seen.segment or newest.stat().st_size != seen.size:
        return False
    try:
        with log_reader.open_file(folder / log_record.HEAD_NAME) as file:
            return file.read(MAX_LINE_BYTES) == log_record.head_bytes(seen.head)
    except FileNotFoundError:
        return False


def _has_only_expected_records(segments: tuple[Path, ...], seen: Seen) -> bool:
    """Return True if no other records follow than those that were about to be written."""
    unseen = islice(_list_unseen_records(segments, seen), len(seen.following) + 1)
    rest = tuple(record.hash for record in unseen)
    return rest == seen.following[: len(rest)]


def _list_unseen_records(segments: tuple[Path, ...], seen: Seen) -> Iterator[LogRecord]:
    """Yield the valid records that follow those that this user saw."""
    for path in segments:
        if path.name >= seen.segment:
            start = seen.size if path.name == seen.segment else 0
            yield from log_reader.read_records(path, start=start)


def _read_line_before(path: Path, size: int) -> bytes | None:
    """Return the line that ends at `size`; None if the file is shorter or missing."""
    try:
        with log_reader.open_file(path) as file:
            if os.fstat(file.fileno()).st_size < size:
                return None
            start = max(0, size - MAX_LINE_BYTES - 1)
            data = os.pread(file.fileno(), size - start, start)
    except FileNotFoundError:
        return None
    return data[:-1].rpartition(b"\n")[2] if data.endswith(b"\n") else b""
