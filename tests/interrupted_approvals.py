"""Approvals as a kill leaves them: started without an end, or approved and never started."""

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from tests.approval_cards import SUBJECT


def leave_approval_open(folder, card_id, *, started=True):
    """Leave an approval of a migration in a project without an end. Return the ledger."""
    (folder / ".pulsus").mkdir(exist_ok=True)
    ledger = ExecutionLedger(folder / ".pulsus", folder)
    now = "2026-07-01T03:00:00+00:00"
    ledger.approved(ApprovalCard(card_id, SUBJECT, "high", "why", now, now, decided_by="bert"))
    if started:
        ledger.start(card_id)
    return ledger
