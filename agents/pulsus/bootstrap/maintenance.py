"""Removing what is old, and what the decision log is told beside promotions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.telemetry import ids
from pulsus.core.types import JsonValue
from pulsus.errors import Denied
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.core.storage.retention import GcReport
    from pulsus.routing.maintenance.audit_log import LogAudit


@dataclass(frozen=True)
class Maintenance:
    """The housekeeping of one project."""

    ground: ProjectContext

    def gc(self, *, dry_run: bool) -> GcReport:
        """Remove old candidates and logs (spec §16)."""
        from pulsus.core.storage.retention import gc

        settings = self.ground.settings
        return gc(
            workflows_root=self.ground.workflows_root,
            tmp_dirname=settings.tmp.dirname,
            log_dir=self.ground.log_dir,
            state_dir=self.ground.state_dir,
            tmp_days=settings.tmp.retention_days,
            log_days=settings.log.retention_days,
            clock=ids.utc_now,
            dry_run=dry_run,
        )

    def log_refusal(self, refusal: Denied) -> None:
        """Record in the decision log what was refused, and to whom."""
        from pulsus.core.storage.decision_log import decision_log
        from pulsus.core.storage.promotion.promote import os_user

        data: dict[str, JsonValue] = {
            "by": os_user(),
            "code": refusal.code,
            "message": refusal.message,
            "tool": str(refusal.details.get("tool") or "") or None,
        }
        decision_log.append(
            self.ground.state_dir,
            "refuse",
            data,
            clock=ids.utc_now,
            redactor=self.ground.redactor,
            catalogue=self.ground.workflows_root,
        )

    def log_removed(self, report: GcReport) -> None:
        """Record in the decision log what `gc` removed."""
        from pulsus.routing.maintenance.cleanup import log_removed

        ground, clock = self.ground, ids.utc_now
        log_removed(
            ground.state_dir,
            report,
            ground.project,
            clock=clock,
            redactor=ground.redactor,
            catalogue=ground.workflows_root,
        )

    def seal_log(self, *, dry_run: bool) -> Path | None:
        """The segment of the decision log that was sealed; None where none is old enough."""
        from pulsus.routing.maintenance.cleanup import seal

        days = self.ground.settings.audit.seal_days
        return seal(self.ground.state_dir, days=days, clock=ids.utc_now, dry_run=dry_run)

    def accept_break(self, logged: LogAudit, reason: str) -> int:
        """The number of the record with which a damaged decision log goes on."""
        from pulsus.routing.maintenance.cleanup import accept

        ground = self.ground
        return accept(ground.state_dir, logged, reason, clock=ids.utc_now, redactor=ground.redactor)

    def log_starter(self, made: Iterable[Path]) -> None:
        """Record in the decision log which promotions came with the starter tools."""
        from pulsus.routing.maintenance.cleanup import log_starter

        ground = self.ground
        log_starter(ground.state_dir, made, clock=ids.utc_now, redactor=ground.redactor)
