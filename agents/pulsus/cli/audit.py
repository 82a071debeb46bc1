"""`pulsus audit` (routing spec §10, §17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import AuditTampered, UsageError

if TYPE_CHECKING:
    from pulsus.routing.audit import Catalogued, Finding
    from pulsus.routing.audit_log import Logged

EPILOG = """\b
Examples:
  pulsus audit
  pulsus audit --expect-head 3f6a...   (the head an earlier audit printed)
\b
Exit codes: 0 as it was recorded · 1 something was changed
"""

_HEX = frozenset("0123456789abcdef")


@click.command(epilog=EPILOG)
@click.option(
    "--expect-head",
    metavar="HASH",
    help="The decision log must hold the record with this hash, kept elsewhere.",
)
@click.option("--quick", is_flag=True, help="Compare sealed segments with their seals only.")
@common()
def command(session: Session, expect_head: str | None, quick: bool) -> None:
    """Say whether tools, compositions, kept versions and the decision log are as recorded.

    Every file is read anew. Exit 1 when a promoted file, a step of a composition or a line of the
    log was changed, is missing or stands out of order.
    """
    from pulsus.routing import audit, audit_log

    _check(expect_head, quick)
    app = session.app
    found = audit.recorded(app.workflows_root)
    catalogued = audit.catalogue(app.workflows_root, found, app.catalogue.tools)
    folder = app.state_dir / "audit"
    logged = audit_log.log(folder, found.records, quick=quick, expected=expect_head)
    findings = sorted(
        (*catalogued.findings, *logged.findings),
        key=lambda f: (audit.LEVELS.index(f.level), f.code, str(f.path), f.line or 0),
    )
    refusal = _refusal(findings)
    if session.json:
        body = _document(session, catalogued, logged, findings)
        output.document({"ok": True, **body} | (output.error_body(refusal) if refusal else {}))
    else:
        _tell(session, catalogued, logged, findings)
    raise SystemExit(refusal.exit_status if refusal else 0)


def _check(expected: str | None, quick: bool) -> None:
    if expected is None:
        return
    if len(expected) != 64 or not _HEX.issuperset(expected):
        raise UsageError(
            f"--expect-head {expected!r} is no hash of a record",
            hint="give the 64 hex digits that `pulsus audit` printed as head",
        )
    if quick:
        raise UsageError(
            "--expect-head needs every record, and --quick leaves sealed ones unread",
            hint="leave out --quick",
        )


def _refusal(findings: Sequence[Finding]) -> AuditTampered | None:
    wrong = [f for f in findings if f.level == "error"]
    if not wrong:
        return None
    return AuditTampered(
        f"{len(wrong)} findings: something is not as it was recorded",
        hint="`findings` say what, and what to do; docs/guides/audit.md",
    )


def _document(
    session: Session, catalogued: Catalogued, logged: Logged, findings: Sequence[Finding]
) -> dict[str, Any]:
    from pulsus.cli.render import relative

    log, head = logged.checked, logged.checked.head
    return {
        "catalogue": {
            "promoted": catalogued.promoted,
            "compositions": catalogued.compositions,
            "versions": catalogued.versions,
        },
        "log": {
            "records": log.records,
            "unread": log.unread,
            "segments": log.segments,
            "sealed": log.sealed,
            "head": {"log": head.log, "seq": head.seq, "hash": head.hash} if head else None,
            "expected_seq": logged.expected_at,
            "elsewhere": logged.elsewhere,
            "notes": list(log.notes),
        },
        "findings": [
            {
                "code": f.code,
                "level": f.level,
                "path": relative(f.path, session.project) if f.path else "",
                "line": f.line,
                "tool": f.tool,
                "reason": f.reason,
                "fix": f.fix,
            }
            for f in findings
        ],
        "more": log.more,
    }


def _tell(
    session: Session, catalogued: Catalogued, logged: Logged, findings: Sequence[Finding]
) -> None:
    """What was found, what to do about each kind, and what was compared."""
    counts = Counter(f.level for f in findings)
    shown = [f for f in findings if f.level != "info" or session.verbosity > 0]
    if shown:
        rows = [(f.level, f.code, _where(f, session), f.reason) for f in shown]
        output.table(("level", "code", "where", "reason"), rows)
        if logged.checked.more:
            click.echo(f"and {logged.checked.more} more lines of the decision log")
        click.echo()
        output.table(("code", "what to do"), sorted({(f.code, f.fix) for f in shown}))
        click.echo()
    for note in logged.checked.notes:
        click.echo(f"note: {note}")
    click.echo(
        f"catalogue: {catalogued.promoted} promoted tools, {catalogued.compositions} of them "
        f"compositions, {catalogued.versions} kept versions"
    )
    click.echo(_log(logged))
    more = "" if session.verbosity > 0 or not counts["info"] else " (-v lists them)"
    click.echo(
        f"{counts['error']} errors, {counts['warning']} warnings, {counts['info']} notes{more}"
    )


def _log(logged: Logged) -> str:
    found = logged.checked
    if found.head is None:
        return "decision log: none"
    unread = f", {found.unread} by their seals only" if found.unread else ""
    known = f"; the expected head is record {logged.expected_at}" if logged.expected_at else ""
    return (
        f"decision log: {found.records} records in {found.segments} segments, "
        f"{found.sealed} sealed{unread}{known}\n"
        f"head: record {found.head.seq} {found.head.hash}"
    )


def _where(finding: Finding, session: Session) -> str:
    from pulsus.cli.render import relative

    where = relative(finding.path, session.project) if finding.path else finding.tool or ""
    return f"{where}:{finding.line}" if finding.line else where
