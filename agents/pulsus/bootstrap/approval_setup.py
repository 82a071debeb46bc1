"""Wire the approvals of a project: its decisions on cards, and those that a crash interrupted.

The approvals themselves are in `approvals/cards/waiting_approvals.py` and
`approvals/cards/execution_ledger.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.execution_locks import ExecutionLocks
from pulsus.approvals.cards.interrupted_approvals import InterruptedApprovals
from pulsus.approvals.cards.record_card_decisions import CardDecisions
from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.core.system.state_dir import open_state

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App


def card_decisions(app: App, shared: SharedConnection | None = None) -> CardDecisions:
    """Return the record of the project's decisions. A server gives the database that it has open.

    Raises StateCorrupt, StorageUnwritable.
    """
    state_dir = open_state(app.state_dir).path
    ledger = ExecutionLedger(state_dir, app.project, shared=shared)
    return CardDecisions(ledger, state_dir, app.redactor, app.workflows_root)


def interrupted_approvals(app: App) -> InterruptedApprovals:
    """Return the approvals that a crash left open. Raises StateCorrupt, StorageUnwritable."""
    state_dir = open_state(app.state_dir).path
    ledger = ExecutionLedger(state_dir, app.project)
    return InterruptedApprovals(ledger, ExecutionLocks(state_dir), card_decisions(app))
