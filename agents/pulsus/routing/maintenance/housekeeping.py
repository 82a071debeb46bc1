"""Retention in one project: `pulsus gc` removes old files and runs, and rotates the log (§16).

The age limits are settings (`tmp`, `log` and `plans.retention_days`). Files are deleted in
`core/storage/retention.py`, runs in `execution/journal/old_runs.py`, and
`core/storage/decision_log/log_rotation.py` seals the log. A log is sealed after `audit.seal_days`.

Effect: deletes old files, and appends to the decision log. Each method raises as
`decision_log.append` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from pulsus.core.storage import retention
from pulsus.core.storage.decision_log import (
    accept_break,
    append_position,
    decision_log,
    log_identity,
    log_rotation,
    verify_log,
)
from pulsus.core.storage.promotion.promote import os_user
from pulsus.core.storage.records import promotion_records, record_key
from pulsus.core.storage.retention import GcReport
from pulsus.core.telemetry import ids
from pulsus.core.types import JsonValue
from pulsus.errors import Denied
from pulsus.execution.journal.old_runs import remove_old_runs
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.maintenance.audit_log import LogAudit

LISTED = 200
"""Most paths that one record of the decision log names; it counts the others."""


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """The housekeeping of one project."""

    project: Project

    def gc(self, *, dry_run: bool) -> GcReport:
        """Remove old candidates, logs and ended runs of plans. Raises StateCorrupt, too."""
        project, settings = self.project, self.project.settings
        before = ids.utc_now() - timedelta(days=settings.plans.retention_days)
        runs = remove_old_runs(project.state_dir, project.project, before=before, dry_run=dry_run)
        report = retention.gc(
            workflows_root=project.workflows_root,
            tmp_dirname=settings.tmp.dirname,
            log_dir=project.log_dir,
            state_dir=project.state_dir,
            tmp_days=settings.tmp.retention_days,
            log_days=settings.log.retention_days,
            clock=ids.utc_now,
            dry_run=dry_run,
        )
        return GcReport(
            (*report.removed, *runs.folders),
            report.remaining + runs.remaining,
            report.bytes + runs.bytes,
        )

    def log_removed(self, report: GcReport) -> None:
        """Log which candidates, logs and runs `gc` removed."""
        root = self.project.project
        shown = [str(p.relative_to(root) if p.is_relative_to(root) else p) for p in report.removed]
        if shown:
            paths: list[JsonValue] = [*shown[:LISTED]]
            data: dict[str, JsonValue] = {
                "removed": len(shown),
                "bytes": report.bytes,
                "paths": paths,
            }
            self._append_decision("gc", data, catalogue=self.project.workflows_root)

    def log_refusal(self, refusal: Denied) -> None:
        """Log that policy refused something."""
        tool = str(refusal.details.get("tool") or "") or None
        data: dict[str, JsonValue] = {"code": refusal.code, "message": refusal.message}
        self._append_decision(
            "refuse", data | {"tool": tool}, catalogue=self.project.workflows_root
        )

    def log_starter(self, made: Iterable[Path], copied: Iterable[Path]) -> None:
        """Log which promotions came with the starter tools; `made` are the files copied now.

        From then on a change of these records shows. `copied` are the starter's record files of
        this catalogue. They count if no log was begun, because an earlier copy was interrupted.
        """
        if log_identity.read_mark(self.project.state_dir / "audit") is None:
            made = dict.fromkeys([*made, *copied])
        files = [path for path in made if path.name == promotion_records.FILE_NAME]
        records = [record for path in files for record in promotion_records.read_records(path)]
        for some in record_key.by_tool(records) if records else ():
            self._append_decision(accept_break.STARTER, {"records": some})

    def seal_log(self, *, dry_run: bool) -> Path | None:
        """Seal the newest segment of the decision log if its first record is old enough.

        Return the segment that was sealed, or would be. Raises AuditTampered for a damaged log,
        because a seal must not vouch for it.
        """
        state_dir, clock = self.project.state_dir, ids.utc_now
        before = clock() - timedelta(days=self.project.settings.audit.seal_days)
        due = log_rotation.seal_segment(state_dir, before=before, clock=clock, dry_run=True)
        if due is None or dry_run:
            return due
        damages = verify_log.check_log(state_dir / "audit").damages
        if damages:
            where = f"{damages[0].path.name}:{damages[0].line or ''}".rstrip(":")
            raise append_position.tampered_error(due, f"is not sealed: {where} {damages[0].reason}")
        return log_rotation.seal_segment(state_dir, before=before, clock=clock)

    def accept_break(self, logged: LogAudit, reason: str) -> int:
        """Go on with a damaged decision log (`audit --accept-break`); return the record's number.

        `logged` is the damage that was found.
        """
        head = accept_break.accept(
            self.project.state_dir,
            by=os_user(),
            reason=reason,
            damages=len(logged.checked.damages) + logged.checked.more,
            records=logged.unknown,
            least=logged.named,
            clock=ids.utc_now,
            redactor=self.project.redactor,
        )
        return head.seq

    def _append_decision(
        self, kind: str, data: Mapping[str, JsonValue], catalogue: Path | None = None
    ) -> None:
        decision_log.append(
            self.project.state_dir,
            kind,
            {"by": os_user(), **data},
            clock=ids.utc_now,
            redactor=self.project.redactor,
            catalogue=catalogue,
        )
