"""Cards of migrations of agent runs, carried out once a person approved (tool calling §32.4).

A plan is checked against the facts of now when it is proposed, and again when it is approved and
when it starts. If it no longer holds, it is refused (PlanMoved). One plan runs at a time, in the
thread of the approval. The check is `infra/migrations/check_migrations.py`, and the actions run in
`infra/migrations/run_migrations.py`. Effects: those of the executor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from pulsus.agent.tool_protocol import Suspension
from pulsus.approvals.cards.approval_card import ApprovalCard, ApprovalSubject
from pulsus.approvals.cards.card_events import EmitCardEvent
from pulsus.approvals.cards.waiting_approvals import WaitingApprovals
from pulsus.core.types import JsonValue
from pulsus.errors import PlanMoved
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.infra.migrations.check_migrations import check_actions
from pulsus.infra.migrations.migration_plan import plan_rows
from pulsus.infra.migrations.run_migrations import ActionReport, MigrationExecutor, run_migrations
from pulsus.kb.fact_base import FactView
from pulsus.placement.cluster import PlacementAction

_CLOSE_SECONDS: Final = 10.0
_MOST_KEPT: Final = 2000
"""Proposals; far fewer wait at a time."""
DRY_RUN: Final = "dry-run"
_DRY_NOTE: Final = "dry run: nothing was moved"


@dataclass(frozen=True, slots=True)
class MigrationRules:
    """The settings of migrations. `facts` reads the facts of now, `seconds` is a card's time."""

    facts: Callable[[], FactView]
    executor: MigrationExecutor
    seconds: float
    stop_on_failure: bool = True
    executor_name: str = DRY_RUN


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """An approved migration after its execution: the card, and a report for each action."""

    card: ApprovalCard
    reports: tuple[ActionReport, ...]
    dry_run: bool

    def to_json(self) -> dict[str, JsonValue]:
        """Return the answer to the approval (contracts)."""
        return {
            "executed": sum(each.ok for each in self.reports),
            "results": [each.line for each in self.reports],
            "actions": [each.to_json() for each in self.reports],
            "status": self.card.status,
            "dry_run": self.dry_run,
        }


class MigrationCards:
    """The migrations of one server. Safe for use by several threads."""

    def __init__(
        self, approvals: WaitingApprovals, emit: EmitCardEvent, rules: MigrationRules
    ) -> None:
        self._approvals, self._emit, self._rules = approvals, emit, rules
        # The actions as they were proposed; those of a card could be edited.
        self._proposed: dict[str, tuple[PlacementAction, ...]] = {}
        self._cancellation = Cancellation()
        self._running = threading.Semaphore(1)

    def propose(
        self, requester: str, actions: tuple[PlacementAction, ...], reason: str
    ) -> Suspension:
        """Make the card of a checked plan. Raises TooManyApprovals."""
        subject = self._subject(requester, actions)
        card = self._approvals.propose(
            subject, risk="high", reason=reason, seconds=self._rules.seconds
        )
        self._proposed[card.id] = actions
        for old in [*self._proposed][:-_MOST_KEPT]:
            del self._proposed[old]
        count = len(actions)
        actions_word = "action" if count == 1 else "actions"
        message = f"a plan of {count} {actions_word} waits for a person to approve: {card.id}"
        return Suspension(card.id, count, message)

    def approve(self, token: str, approver: str, card_id: str | None) -> CarriedOut:
        """Approve a migration, carry it out, and return the result.

        Raises what `WaitingApprovals.approve` raises, and PlanMoved if a step no longer holds. In
        each case nothing runs.
        """
        card = self._approvals.opened_by(token, approver, card_id=card_id)
        actions = self._proposed[card.id]
        self._require_current(card.id, actions)
        approved = self._approvals.approve(token, approver, self._digest_now, card_id=card.id)
        return self._carry_out(approved, actions)

    def close(self) -> None:
        """End what runs: no further action begins. Waits some seconds for the record of the end."""
        self._cancellation.cancel("the server ends")
        if self._running.acquire(timeout=_CLOSE_SECONDS):
            self._running.release()

    def _subject(self, requester: str, actions: tuple[PlacementAction, ...]) -> ApprovalSubject:
        names = [name for each in actions for name in (each.source, each.target) if name]
        targets = (*(f"vm:{each.vmid}" for each in actions), *(f"node:{name}" for name in names))
        return ApprovalSubject(
            "migration",
            plan_rows(actions),
            requester,
            tuple(dict.fromkeys(targets)),
            policy_version="stop" if self._rules.stop_on_failure else "continue",
            executor=self._rules.executor_name,
        )

    def _digest_now(self, card: ApprovalCard) -> str:
        """Return the digest of what was proposed, with the executor and rules of now."""
        return self._subject(card.subject.requester, self._proposed[card.id]).digest

    def _require_current(self, card_id: str, actions: tuple[PlacementAction, ...]) -> None:
        check = check_actions(actions, self._rules.facts())
        faults = [*(f"no fresh fact knows {name}" for name in check.unknown), *check.violations]
        if faults or check.actions != actions:
            why = faults[0] if faults else "a VM is no longer on its host"
            raise PlanMoved(
                f"the plan of {card_id} no longer holds: {why}",
                hint="deny it, and ask for a plan of the cluster as it is now",
            )

    def _carry_out(
        self, approved: ApprovalCard, actions: tuple[PlacementAction, ...]
    ) -> CarriedOut:
        # One migration plan at a time: two that hold alone may not hold together.
        with self._running:
            self._require_startable(approved, actions)
            started = self._approvals.start(approved.id)
            try:
                reports = run_migrations(
                    actions,
                    self._rules.executor,
                    self._cancellation,
                    lambda *step: self._report(started.id, *step),
                    stop_on_failure=self._rules.stop_on_failure,
                )
            except BaseException as fault:
                rows = (f"FAILED: the execution ended with {type(fault).__name__}",)
                self._approvals.finish(started.id, rows, ok=False)
                raise
            lines = [each.line for each in reports]
            dry = self._rules.executor.dry
            rows = (*lines, *((_DRY_NOTE,) if dry else ()))
            ok = all(each.ok for each in reports)
            return CarriedOut(self._approvals.finish(started.id, rows, ok=ok), reports, dry)

    def _require_startable(
        self, approved: ApprovalCard, actions: tuple[PlacementAction, ...]
    ) -> None:
        """Withdraw an approval whose plan ceased to hold meanwhile. Raises PlanMoved."""
        try:
            self._require_current(approved.id, actions)
        except PlanMoved as moved:
            self._approvals.withdraw(approved.id, approved.decided_by, moved.message)
            raise

    def _report(
        self, card_id: str, index: int, total: int, action: PlacementAction, ok: bool | None
    ) -> None:
        way = f"{action.source} -> {action.target}" if action.source else action.target
        self._emit(
            "execution_progress",
            {
                "id": card_id,
                "index": index,
                "total": total,
                "action": f"{action.action} vmid {action.vmid}: {way}",
                "ok": ok,
            },
        )
