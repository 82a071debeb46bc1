"""Change the catalogue, one decision at a time (spec §10). Effect: writes files.

Here a promotion, a removal or a rollback waits for the lock (`storage.lock_seconds`,
`config/settings.py`), and fails as busy if another process keeps it. The first process that gets
the lock finishes or undoes an interrupted decision, as `core/storage/records/file_transaction.py`
says. A decision changes its files and the decision log together: the journal carries the log's
entry until it is written.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.storage import file_lock
from pulsus.core.storage.decision_log import decision_log, log_reader, log_record, whole_log
from pulsus.core.storage.decision_log.user_witness import Witness
from pulsus.core.storage.records import file_transaction, promotion_records
from pulsus.core.storage.records.change_set import ChangeSet
from pulsus.core.storage.records.promotion_target import checked_root
from pulsus.core.storage.records.record_key import decision_key as decision_key
from pulsus.core.system.state_dir import open_state
from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.errors import Busy, PulsusError, StateCorrupt
from pulsus.fast_dataclass import dataclass

JOURNAL = "promotion.json"

_LOG = logging.getLogger(__name__)

_POLL_SECONDS = 0.01
"""Seconds between two tries to get the lock: a decision takes some ten milliseconds."""


@dataclass(frozen=True, slots=True)
class CatalogueStore:
    """The catalogue of one project with its decision log, and all that a change needs.

    A change waits `lock_seconds` for another one.
    """

    workflows_root: Path
    state_dir: Path
    clock: Clock
    redactor: Redactor
    lock_seconds: float

    @property
    def log_folder(self) -> Path:
        """The folder of the decision log."""
        return self.state_dir / "audit"

    @contextmanager
    def locked(self) -> Iterator[CatalogueLock]:
        """Finish or undo an interrupted change, and yield the right to change the catalogue.

        Raises WorkflowsMissing, TargetRefused, StateCorrupt, Busy, DiskFull, StorageUnwritable,
        AuditTampered.
        """
        writing = CatalogueLock(checked_root(self.workflows_root), self)
        with _hold_promotion_lock(self.state_dir, self.lock_seconds):
            file_transaction.recover(self.journal, writing.log, writing.root)
            yield writing

    def recover(self) -> None:
        """Finish or undo an interrupted change, unless another process is at work.

        If that fails, a warning is logged: a command that only reads goes on.
        """
        if not self.journal.exists():
            return
        try:
            with suppress(Busy), replace(self, lock_seconds=0).locked():
                _LOG.info("finished or took back an interrupted promotion")
        except PulsusError as failure:
            _LOG.warning("an interrupted promotion is still there: %s; %s", failure, failure.hint)

    def require_whole_log(self) -> None:
        """Raise AuditTampered if the decision log has any damage, or lacks a record.

        The records of the catalogue name the records that the log must have.
        """
        anchors = (
            log_record.parse_anchor(r.log) for r in promotion_records.read_all(self.workflows_root)
        )
        whole_log.require_whole_log(self.log_folder, anchors)

    def log_decision(
        self,
        kind: str,
        data: Mapping[str, JsonValue],
        *,
        key: str | None = None,
        own: bool = True,
    ) -> None:
        """Append a decision to the log. Raises as `decision_log.append`."""
        decision_log.append(
            self.state_dir,
            kind,
            data,
            clock=self.clock,
            redactor=self.redactor,
            key=key,
            catalogue=self.workflows_root,
            own=own,
        )

    @property
    def journal(self) -> Path:
        """The file that carries a change until it is complete."""
        return self.state_dir / JOURNAL


@dataclass(frozen=True, slots=True)
class CatalogueLock:
    """The right to change the catalogue at `root`, held until the lock is given back."""

    root: Path
    store: CatalogueStore

    def now(self) -> datetime:
        """Return the time in UTC."""
        return self.store.clock().astimezone(UTC)

    def anchor(self) -> dict[str, JsonValue]:
        """Return the decision log's head, for the record.

        Raises as `decision_log.anchor`, and AuditTampered for any damage of the log.
        """
        store = self.store
        store.require_whole_log()
        return decision_log.log_anchor(store.state_dir, clock=store.clock, catalogue=self.root)

    def next_revision(self, now: datetime, *pending: promotion_records.PromotionRecord) -> str:
        """Return the next revision of that day, behind `pending` and every one that ever was here.

        One whose record was taken out is still in the decision log: its id is not given again. The
        newest there is the highest of its day, for each was given here. Raises MetadataCorrupt,
        StorageUnwritable.
        """
        there = (record.id for record in (*promotion_records.read_all(self.root), *pending))
        keys = log_reader.keys_starting(
            self.store.log_folder, promotion_records.revision_prefix(now)
        )
        logged = next(keys, "").partition(":")[0]
        return promotion_records.next_revision((*there, logged), now)

    def write(self, ledger: ChangeSet, *records: promotion_records.PromotionRecord) -> None:
        """Change the files, and log the decisions that `records` stand for.

        Raises what `file_transaction.apply` and `decision_log.append` do; then nothing has changed.
        """
        changes = ledger.changes()
        if changes:
            note: file_transaction.Note = {"decisions": [_build_decision(r) for r in records]}
            self._user_witness().expect(map(decision_key, records))
            file_transaction.apply_changes(self.root, changes, self.store.journal, note, self.log)

    def log(self, note: file_transaction.Note) -> None:
        """Log the decisions a journal carries; once each, however often it is called.

        A journal that this user's Pulsus did not write, such as one that came with the repository,
        approves nothing.
        """
        decisions = note.get("decisions")
        for decision in decisions if isinstance(decisions, list) else ():
            match decision:
                case {"key": str(key), "kind": str(kind), "data": dict(data)}:
                    own = self._user_witness().expects(key)
                    self.store.log_decision(kind, data, key=key, own=own)
                case _:
                    raise StateCorrupt(
                        f"the journal {self.store.journal} names a decision that cannot be read",
                        hint=f"check the latest promotion by `git status`, then delete {JOURNAL}",
                    )

    def _user_witness(self) -> Witness:
        return Witness.of(self.store.log_folder)


def _build_decision(record: promotion_records.PromotionRecord) -> dict[str, JsonValue]:
    """Return the entry for the decision log. The key is the record's own: a revision may come again
    from a clone, whose decision log is another one."""
    data: dict[str, JsonValue] = {"revision": record.id, "tool": record.tool_id}
    always = ("version", "tool_hash", "approved_by", "run_id")
    data |= {name: getattr(record, name) for name in always}
    of_status = ("replacement", "sunset") if record.event else ()
    names = ("bump", "restores", "replaces", *of_status, "owner")
    data |= {name: value for name in names if (value := getattr(record, name)) is not None}
    data |= {"model": dict(record.model)} if record.model else {}
    kind = record.event or ("rollback" if record.restores else "promote")
    return {"key": decision_key(record), "kind": kind, "data": data}


@contextmanager
def _hold_promotion_lock(state_dir: Path, seconds: float) -> Iterator[None]:
    path = open_state(state_dir).locks / "promote.lock"
    busy = Busy(
        f"another promotion held {path} for {seconds:g} s",
        hint="try again; set storage.lock_seconds to wait longer",
    )
    with file_lock.hold_lock(path, seconds, _POLL_SECONDS, busy):
        yield
