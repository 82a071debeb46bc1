"""What `pulsus gc` does: old files go, old segments of the decision log are sealed (spec §16).

Effect: deletes and writes files.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from pulsus.core.storage.decision_log import accept_break, decision_log, sealed_segments, verify
from pulsus.core.storage.promotion.promote import os_user
from pulsus.core.storage.records import metadata, record_key
from pulsus.core.storage.retention import GcReport
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.routing.maintenance.audit_log import LogAudit

LISTED = 200
"""Paths the decision log names; beyond it their number has to do."""


def log_removed(
    state_dir: Path,
    report: GcReport,
    project: Path,
    *,
    clock: ids.Clock,
    redactor: Redactor,
    catalogue: Path | None = None,
) -> None:
    """Record which candidates and logs were removed. Raises as `chain.append`."""
    shown = [
        str(p.relative_to(project) if p.is_relative_to(project) else p) for p in report.removed
    ]
    data: dict[str, JsonValue] = {
        "by": os_user(),
        "removed": len(shown),
        "bytes": report.bytes,
        "paths": [*shown[:LISTED]],
    }
    if shown:
        decision_log.append(
            state_dir, "gc", data, clock=clock, redactor=redactor, catalogue=catalogue
        )


def seal(state_dir: Path, *, days: int, clock: ids.Clock, dry_run: bool) -> Path | None:
    """The segment of the decision log that was closed, or would be; None where none is due.

    It is due when its first record is older than `days`. Raises AuditTampered for a damaged log:
    a seal must not vouch for it.
    """
    before = clock() - timedelta(days=days)
    due = sealed_segments.seal(state_dir, before=before, clock=clock, dry_run=True)
    if due is None or dry_run:
        return due
    damages = verify.check(state_dir / "audit").damages
    if damages:
        where = f"{damages[0].path.name}:{damages[0].line or ''}".rstrip(":")
        raise decision_log.tampered(due, f"is not sealed: {where} {damages[0].reason}")
    return sealed_segments.seal(state_dir, before=before, clock=clock)


def accept(
    state_dir: Path, logged: LogAudit, reason: str, *, clock: ids.Clock, redactor: Redactor
) -> int:
    """The number of the record with which the damaged log goes on (`pulsus audit --accept-break`).

    `logged` is what was found. Raises Busy, DiskFull, StorageUnwritable.
    """
    head = accept_break.accept(
        state_dir,
        by=os_user(),
        reason=reason,
        damages=len(logged.checked.damages) + logged.checked.more,
        records=logged.unknown,
        least=logged.named,
        clock=clock,
        redactor=redactor,
    )
    return head.seq


def log_starter(
    state_dir: Path, made: Iterable[Path], *, clock: ids.Clock, redactor: Redactor
) -> None:
    """Record which promotions came with the starter tools; `made` are the files that were copied.

    The log then knows them as they were, and a later change shows. Raises as `chain.append`.
    """
    files = [path for path in made if path.name == metadata.FILE_NAME]
    records = [record for path in files for record in metadata.read(path)]
    for some in record_key.by_tool(records) if records else ():
        data: dict[str, JsonValue] = {"by": os_user(), "records": some}
        decision_log.append(state_dir, accept_break.STARTER, data, clock=clock, redactor=redactor)
