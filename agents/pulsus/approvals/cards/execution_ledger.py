"""Approvals and their executions, written ahead to `state.db` (ADR 49). Effect: database.

A crash loses no approval and doubles none: `started` succeeds once for each card, so an approval
cannot be used twice. A card that was started without an end needs a person, who looks at what
happened and settles it (`interrupted_approvals.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass as plain_dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Final, Literal

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.core.storage.group_commit import GroupCommit
from pulsus.core.storage.state_db import state_db
from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.core.types import JsonValue
from pulsus.errors import ApprovalUnknown
from pulsus.fast_dataclass import dataclass

LedgerState = Literal["approved", "denied", "started", "done", "failed"]

_COLUMNS = (
    "card, state, kind, digest, plan, requester, approver, approved_at, expires_at, "
    "started_at, ended_at, results, settled_by"
)


_MOST_AT_ONCE: Final = 100
"""Changes in one transaction."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One approval on record. Times are ISO 8601 in UTC, empty for what has not happened.

    `settled_by` is the person who said how a started approval ended after a crash.
    """

    card: str
    state: LedgerState
    kind: str
    digest: str
    plan: JsonValue
    requester: str
    approver: str
    approved_at: str
    expires_at: str
    started_at: str = ""
    ended_at: str = ""
    results: tuple[JsonValue, ...] = ()
    settled_by: str = ""


@plain_dataclass(eq=False, slots=True)
class _Change:
    """A change of one card, which waits for a transaction, and why it was refused there."""

    change: Callable[[Connection], None]
    refusal: ApprovalUnknown | None = None


class ExecutionLedger:
    """The approvals of one project. All methods raise Busy, DiskFull, StorageUnwritable and
    StateCorrupt. Any thread may call them: changes at the same time share one transaction.

    Each use opens the database anew, unless it is `shared`, as by a server.
    """

    def __init__(
        self,
        state_dir: Path,
        project: Path,
        clock: Clock = utc_now,
        shared: SharedConnection | None = None,
    ) -> None:
        self._state_dir, self._project, self._clock = state_dir, project, clock
        self._path, self._shared = state_dir / state_db.FILE, shared
        self._changes = GroupCommit(self._commit, _MOST_AT_ONCE)

    def approved(self, card: ApprovalCard) -> None:
        """Record an approval. Raises ApprovalUnknown if the card has a record already, or if its
        stored request was decided elsewhere.
        """
        subject = card.subject
        values = (
            card.id, subject.kind, subject.digest, _to_text(subject.plan), subject.requester,
            card.decided_by, self._now(), card.expires_at,
        )  # fmt: skip

        def change(database: Connection) -> None:
            stored = database.execute(
                "SELECT state FROM requests WHERE card = ?", (card.id,)
            ).fetchone()
            if stored is not None and stored[0] != "pending":
                raise ApprovalUnknown(f"the request {card.id} is {stored[0]} already")
            changed = database.execute(
                "INSERT INTO approvals (card, state, kind, digest, plan, requester, approver, "
                "approved_at, expires_at) VALUES (?, 'approved', ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (card) DO NOTHING",
                values,
            ).rowcount
            if changed != 1:
                raise ApprovalUnknown(f"the request {card.id} was decided already")
            if stored is not None:
                database.execute(
                    "UPDATE requests SET state = 'approved' WHERE card = ?", (card.id,)
                )

        self._change(change)

    def denied(self, card: ApprovalCard) -> None:
        """Void the approval of a card that was not started. A card without one needs no record."""
        now = self._now()

        def change(database: Connection) -> None:
            database.execute(
                "UPDATE approvals SET state = 'denied', ended_at = ? "
                "WHERE card = ? AND state = 'approved'",
                (now, card.id),
            )
            database.execute(
                "UPDATE requests SET state = 'denied' "
                "WHERE card = ? AND state IN ('pending', 'approved')",
                (card.id,),
            )

        self._change(change)

    def started(self, card: ApprovalCard) -> None:
        """Record that the execution starts. Raises ApprovalUnknown if it was started before."""
        self.start(card.id)

    def ended(self, card: ApprovalCard) -> None:
        """Record the end of an execution that was started."""
        state: LedgerState = "done" if card.status == "done" else "failed"
        self._end(card.id, state, card.results, "")

    def start(self, card_id: str) -> None:
        """Record a start by id, as after a crash. Raises ApprovalUnknown but for an approved one.

        The state is compared and set in one statement: of several callers one succeeds.
        """
        self._change_one(
            "UPDATE approvals SET state = 'started', started_at = ? "
            "WHERE card = ? AND state = 'approved'",
            (self._now(), card_id),
            f"the request {card_id} is not approved, or was started before",
        )

    def settle(self, card_id: str, person: str, *, took_effect: bool) -> None:
        """Record a person's word on an execution whose process died. Raises ApprovalUnknown."""
        self._end(card_id, "done" if took_effect else "failed", (), person)

    def void(self, card_id: str, person: str) -> None:
        """Void an approval that never started, on a person's word. Raises ApprovalUnknown."""
        self._change_one(
            "UPDATE approvals SET state = 'denied', ended_at = ?, settled_by = ? "
            "WHERE card = ? AND state = 'approved'",
            (self._now(), person, card_id),
            f"the request {card_id} is not approved, or was started",
        )

    def unfinished(self) -> tuple[LedgerRow, ...]:
        """Return the approvals without an end: "approved" were never started, "started" may have
        taken effect. The oldest first. A project without a database has none.
        """
        if not state_db.has_state_db(self._state_dir):
            return ()
        return self._rows("WHERE state IN ('approved', 'started') ORDER BY number")

    def row(self, card_id: str) -> LedgerRow:
        """Return the record of a card. Raises ApprovalUnknown."""
        found = self._rows("WHERE card = ?", card_id)
        if not found:
            raise ApprovalUnknown(f"there is no record of {card_id!r}")
        return found[0]

    def _end(
        self, card_id: str, state: LedgerState, results: tuple[JsonValue, ...], person: str
    ) -> None:
        self._change_one(
            "UPDATE approvals SET state = ?, ended_at = ?, results = ?, settled_by = ? "
            "WHERE card = ? AND state = 'started'",
            (state, self._now(), _to_text([*results]), person, card_id),
            f"the request {card_id} was not started, or has ended",
        )

    def _change_one(self, statement: str, values: tuple[str, ...], otherwise: str) -> None:
        """Change the record of one card. Raises ApprovalUnknown if its state is another one."""

        def change(database: Connection) -> None:
            if database.execute(statement, values).rowcount != 1:
                raise ApprovalUnknown(otherwise)

        self._change(change)

    def _change(self, change: Callable[[Connection], None]) -> None:
        """Return once the change is on the disk. A change that raises changes nothing."""
        asked = _Change(change)
        self._changes.add(asked)
        if asked.refusal is not None:
            raise asked.refusal

    def _commit(self, changes: Sequence[_Change]) -> None:
        with self._database() as database:
            database.execute("BEGIN IMMEDIATE")
            for each in changes:
                try:
                    each.change(database)
                except ApprovalUnknown as refusal:
                    each.refusal = refusal
            database.execute("COMMIT")

    def _rows(self, condition: str, *values: str) -> tuple[LedgerRow, ...]:
        # `condition` is a constant of this module.
        query = f"SELECT {_COLUMNS} FROM approvals {condition}"
        with self._database() as database:
            return tuple(_to_row(each) for each in database.execute(query, values))

    def _now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")

    @contextmanager
    def _database(self) -> Iterator[Connection]:
        if self._shared is not None:
            with self._shared.use() as database:
                yield database
            return
        with (
            closing(state_db.open_state_db(self._state_dir, self._project)) as database,
            state_db.database_errors(self._path),
        ):
            yield database


def _to_row(found: tuple[str, ...]) -> LedgerRow:
    card, state, kind, digest, plan, requester, approver, approved, expires, *rest = found
    started, ended, results, settled = rest
    return LedgerRow(
        card,
        state,  # type: ignore[arg-type]  # a constraint of the table
        kind,
        digest,
        json.loads(plan),
        requester,
        approver,
        approved,
        expires,
        started or "",
        ended or "",
        tuple(json.loads(results or "[]")),
        settled or "",
    )


def _to_text(value: JsonValue) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
