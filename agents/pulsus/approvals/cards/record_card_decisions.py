"""Record each decision on a card in the decision log, and from the approval on in the ledger.

The log comes first: what is not on record there never runs (ADR 49). The cards themselves are in
`waiting_approvals.py`, which also refuses that a person approves the own request (four eyes); the
log is `core/storage/decision_log/decision_log.py`. Effects: appends,
writes the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger, LedgerRow
from pulsus.approvals.cards.execution_locks import ExecutionLocks
from pulsus.approvals.cards.stored_requests import REQUEST_KINDS
from pulsus.core.storage.decision_log import decision_log
from pulsus.core.storage.decision_log.decision_log import Decision
from pulsus.core.storage.decision_log.log_record import MOST_AT_ONCE
from pulsus.core.storage.group_commit import GroupCommit
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue


class CardDecisions:
    """Records the decisions of one project. Each method raises what the log and the ledger raise.

    Any thread may call them. Each returns once its own decision is on the disk.
    """

    def __init__(
        self,
        ledger: ExecutionLedger,
        state_dir: Path,
        redactor: Redactor,
        catalogue: Path,
        clock: Clock = utc_now,
    ) -> None:
        self._ledger, self._state_dir, self._redactor = ledger, state_dir, redactor
        self._catalogue, self._clock = catalogue, clock
        self._locks = ExecutionLocks(state_dir)
        self._records = GroupCommit(self._write_records, MOST_AT_ONCE)
        # After a failed write it is unknown if these are in the log.
        self._unsure: set[str] = set()

    def approved(self, card: ApprovalCard) -> None:
        """Record an approval in the log, then in the ledger."""
        self._log(card, "approved")
        self._ledger.approved(card)

    def denied(self, card: ApprovalCard) -> None:
        """Record a denial; an approval in the ledger is void."""
        self._ledger.denied(card)
        self._log(card, "denied")

    def started(self, card: ApprovalCard) -> None:
        """Record that the execution starts. Until its end this process holds its lock."""
        self._locks.hold(card.id)
        try:
            self._ledger.started(card)
        except BaseException:
            self._locks.release(card.id)
            raise

    def ended(self, card: ApprovalCard) -> None:
        """Record how the execution ended, in the ledger and in the log."""
        self._ledger.ended(card)
        self._locks.release(card.id)
        self._log(card, card.status)

    def settled(self, row: LedgerRow, person: str, reason: str, *, took_effect: bool) -> None:
        """Record what a person found of an approval that a crash left open, log first."""
        found = "done" if took_effect else "not done"
        data: dict[str, JsonValue] = {
            "card": row.card,
            "decision": f"settled: {found}",
            "kind": row.kind,
            "plan_hash": row.digest,
            "plan": row.plan,
            "requester": row.requester,
            "approved_by": row.approver,
            "started_at": row.started_at,
            "decided_by": person,
            "note": reason,
        }
        self._append(data, f"{row.card}:settled:{found}")
        if row.state == "approved":
            self._ledger.void(row.card, person)
        else:
            self._ledger.settle(row.card, person, took_effect=took_effect)

    def _log(self, card: ApprovalCard, decision: str) -> None:
        subject = card.subject
        data: dict[str, JsonValue] = {
            "card": card.id,
            "decision": decision,
            "kind": subject.kind,
            "plan_hash": subject.digest,
            "plan": subject.plan,
            "targets": [*subject.targets],
            "executor": subject.executor,
            "requester": subject.requester,
            "decided_by": card.decided_by,
            "note": card.note,
            "results": [*card.results],
        }
        # An earlier process may have recorded a request that was stored. The ids of all other cards
        # are new, and to search the whole log for them takes as long as to write.
        self._append(data, f"{card.id}:{decision}", search=subject.kind in REQUEST_KINDS)

    def _append(self, data: dict[str, JsonValue], key: str, *, search: bool = True) -> None:
        """Return once the record is on the disk. Records at the same time share the writes."""
        search = search or key in self._unsure
        try:
            self._records.add(
                decision_log.make_decision("approval", data, self._redactor, key, search=search)
            )
        except BaseException:
            self._unsure.add(key)
            raise

    def _write_records(self, decisions: Sequence[Decision]) -> None:
        decision_log.append_all(
            self._state_dir, decisions, clock=self._clock, catalogue=self._catalogue
        )
