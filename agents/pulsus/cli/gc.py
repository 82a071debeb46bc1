"""`pulsus gc` (routing spec §16)."""

from __future__ import annotations

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.cli.render import relative


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would go; remove nothing.")
@common()
def command(session: Session, dry_run: bool) -> None:
    """Remove candidates and logs older than tmp.retention_days and log.retention_days.

    Promoted tools and .pulsus/audit/ are never touched.
    """
    report = session.app.gc(dry_run=dry_run)
    removed = [relative(path, session.project) for path in report.removed]
    if session.json:
        output.document(
            {"dry_run": dry_run, "removed": removed, "kept": report.kept, "bytes": report.bytes}
        )
        return
    for path in removed:
        click.echo(path)
    verb = "would be removed" if dry_run else "removed"
    click.echo(f"{len(removed)} {verb} ({report.bytes} bytes), {report.kept} kept")
