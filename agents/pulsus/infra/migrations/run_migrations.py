"""Carry out the actions of an approved plan in their order, and report each (§32.4, contracts).

An action counts as done only after its node has reported the guest. A failed action is not retried:
after a failure the rest is skipped, or only what depends on it if the settings say so. The commands
are in `proxmox_executor.py`. The schema of the database is migrated in
`core/storage/state_db/state_db.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pulsus.core.types import JsonValue
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.placement.cluster import PlacementAction


@dataclass(frozen=True, slots=True)
class ActionReport:
    """The end of one action. `verified` means that the node reported the guest there."""

    action: PlacementAction
    ok: bool
    verified: bool
    message: str = ""

    @property
    def line(self) -> str:
        """Return the line of the report (contracts: `results`)."""
        vmid = self.action.vmid
        if self.ok:
            return f"OK vmid={vmid} -> {self.action.target}"
        return f"FAILED vmid={vmid}: {self.message}"

    def to_json(self) -> dict[str, JsonValue]:
        """Return the report as the contracts have it (`actions`)."""
        return {
            "vmid": self.action.vmid,
            "ok": self.ok,
            "verified": self.verified,
            "message": self.message,
        }


class MigrationExecutor(Protocol):
    """The means to carry out actions: the commands of this machine, or none (a dry run)."""

    @property
    def dry(self) -> bool:
        """True if nothing is carried out."""
        ...

    def carry_out(self, action: PlacementAction, cancellation: Cancellation) -> str:
        """Carry out one action. Return why it failed, or an empty text."""
        ...

    def is_there(self, action: PlacementAction, cancellation: Cancellation) -> str:
        """Ask the target node for the guest. Return why it is not verified, or an empty text."""
        ...


ReportProgress = Callable[[int, int, PlacementAction, bool | None], None]
"""Takes index from 0, total, the action, and True or False at its end (None at its start)."""


def run_migrations(
    actions: Sequence[PlacementAction],
    executor: MigrationExecutor,
    cancellation: Cancellation,
    progress: ReportProgress,
    *,
    stop_on_failure: bool = True,
) -> tuple[ActionReport, ...]:
    """Carry out all actions, and return a report for each, in their order."""
    reports: list[ActionReport] = []
    failed: list[PlacementAction] = []
    for index, action in enumerate(actions):
        because = _skip_reason(action, failed, cancellation, stop_on_failure=stop_on_failure)
        if because:
            reports.append(ActionReport(action, ok=False, verified=False, message=because))
            failed.append(action)
            continue
        progress(index, len(actions), action, None)
        report = _run(action, executor, cancellation)
        progress(index, len(actions), action, report.ok)
        reports.append(report)
        if not report.ok:
            failed.append(action)
    return tuple(reports)


def _run(
    action: PlacementAction, executor: MigrationExecutor, cancellation: Cancellation
) -> ActionReport:
    failure = executor.carry_out(action, cancellation)
    if failure:
        return ActionReport(action, ok=False, verified=False, message=failure)
    if executor.dry:
        return ActionReport(action, ok=True, verified=False, message="dry run: nothing was done")
    missing = executor.is_there(action, cancellation)
    if missing:
        return ActionReport(action, ok=False, verified=False, message=f"not verified: {missing}")
    return ActionReport(action, ok=True, verified=True)


def _skip_reason(
    action: PlacementAction,
    failed: Sequence[PlacementAction],
    cancellation: Cancellation,
    *,
    stop_on_failure: bool,
) -> str:
    if cancellation.is_cancelled:
        return "skipped: it was cancelled"
    for earlier in failed:
        if stop_on_failure or _depends(action, earlier):
            return f"skipped: vmid {earlier.vmid} before it failed"
    return ""


def _depends(later: PlacementAction, earlier: PlacementAction) -> bool:
    """Return True if `later` moves the same guest, or needs the room that `earlier` makes."""
    return later.vmid == earlier.vmid or later.target == earlier.source
