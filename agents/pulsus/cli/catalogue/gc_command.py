"""`pulsus gc`: remove old candidates, logs and runs (retention, spec §16).

`routing/maintenance/housekeeping.py` and `core/storage/retention.py` decide if a file is old
enough.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.render.validation_text import relative
from pulsus.errors import PulsusError

if TYPE_CHECKING:
    from pulsus.core.storage.retention import GcReport

EPILOG = page_end(
    "pulsus gc --dry-run",
    "pulsus gc",
    exits={
        0: "removed, or nothing to remove",
        1: "the decision log is damaged",
        2: "usage or settings",
    },
)


@click.command(epilog=EPILOG)
@click.option("--dry-run", is_flag=True, help="List what would be removed, and remove nothing.")
@common()
def command(session: CommandSession, dry_run: bool) -> None:
    """Remove candidates and logs older than tmp.retention_days and log.retention_days.

    Runs of plans that ended plans.retention_days ago are removed too. Unfinished runs, promoted
    tools and the decision log (.pulsus/audit/) are never removed. If the newest file of the log is
    older than audit.seal_days, it is closed (sealed with its hash), and a new one begins.
    """
    report = session.app.housekeeping.gc(dry_run=dry_run)
    sealed, failure = None, None
    try:
        sealed = _sealed(session, report, dry_run=dry_run)
    except PulsusError as damaged:
        failure = damaged  # what was removed is told all the same
    if session.json:
        body = _document(session, report, sealed, dry_run=dry_run)
        console.end_document(body, failure)
    _tell(session, report, sealed, dry_run=dry_run)
    if failure:
        raise failure


def _sealed(session: CommandSession, report: GcReport, *, dry_run: bool) -> Path | None:
    if not dry_run:
        session.app.housekeeping.log_removed(report)
    return session.app.housekeeping.seal_log(dry_run=dry_run)


def _document(
    session: CommandSession, report: GcReport, sealed: Path | None, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        **console.json_fields(report, "removed kept=remaining bytes", session.project),
        "sealed": relative(sealed, session.project) if sealed else None,
    }


def _tell(session: CommandSession, report: GcReport, sealed: Path | None, *, dry_run: bool) -> None:
    for path in report.removed:
        console.echo(relative(path, session.project))
    done = "would be" if dry_run else "was"
    if sealed:
        console.echo(f"{relative(sealed, session.project)} {done} sealed")
    removed = f"{'would be ' if dry_run else ''}removed"
    old = console.counted(
        len(report.removed), "old candidate, log or run", "old candidates, logs or runs"
    )
    console.echo(
        f"{old} {removed} ({report.bytes} bytes); {report.remaining} younger ones are kept"
    )
