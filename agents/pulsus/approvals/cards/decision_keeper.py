"""Keep each decision in the decision log, and from the approval on in the ledger (ADR 49).

The log comes first: what is not on record there never runs. Effects: appends, writes the database.
"""

from __future__ import annotations

from pathlib import Path

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.core.storage.decision_log import decision_log
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue


class DecisionKeeper:
    """Keeps the decisions of one project. Every method raises what the log and the ledger raise."""

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

    def approved(self, card: ApprovalCard) -> None:
        """Record an approval in the log, then in the ledger."""
        self._log(card, "approved")
        self._ledger.approved(card)

    def denied(self, card: ApprovalCard) -> None:
        """Record a denial; an approval in the ledger is void."""
        self._ledger.denied(card)
        self._log(card, "denied")

    def started(self, card: ApprovalCard) -> None:
        """Record that the execution starts."""
        self._ledger.started(card)

    def ended(self, card: ApprovalCard) -> None:
        """Record how the execution ended, in the ledger and in the log."""
        self._ledger.ended(card)
        self._log(card, card.status)

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
        decision_log.append(
            self._state_dir,
            "approval",
            data,
            clock=self._clock,
            redactor=self._redactor,
            key=f"{card.id}:{decision}",
            catalogue=self._catalogue,
        )
