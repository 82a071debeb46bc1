"""A project → its records of approvals: the decision log with the ledger, and what a crash left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsus.approvals.cards.decision_keeper import DecisionKeeper
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.execution_locks import ExecutionLocks
from pulsus.approvals.cards.unfinished_approvals import UnfinishedApprovals
from pulsus.core.storage.state_db.kept_database import KeptDatabase
from pulsus.core.system.state_dir import open_state

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App


def decision_keeper(app: App, kept: KeptDatabase | None = None) -> DecisionKeeper:
    """Return the keeper of the project's decisions. A server gives the database that it has open.

    Raises StateCorrupt, StorageUnwritable.
    """
    state_dir = open_state(app.state_dir).path
    ledger = ExecutionLedger(state_dir, app.project, kept=kept)
    return DecisionKeeper(ledger, state_dir, app.redactor, app.workflows_root)


def unfinished_approvals(app: App) -> UnfinishedApprovals:
    """Return the approvals that a crash left open. Raises StateCorrupt, StorageUnwritable."""
    state_dir = open_state(app.state_dir).path
    ledger = ExecutionLedger(state_dir, app.project)
    return UnfinishedApprovals(ledger, ExecutionLocks(state_dir), decision_keeper(app))
