"""`pulsus audit`: check the catalogue, its records and the decision log (spec §10, §17).

The comparisons are `routing/maintenance/audit_catalogue.py`, `routing/maintenance/audit_log.py` and
`core/storage/decision_log/verify_log.py`; with `--strict` a warning fails too. Settings of the
project that are not approved are findings made here. A log that this user saw differently is found
in `routing/maintenance/audit_witness.py`. The reason of `--accept-break` needs two words,
and `audit_break.py` asks. A finding is the error AUDIT_TAMPERED.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.catalogue import audit_break, audit_records
from pulsus.cli.catalogue.tools_check_command import NAMES
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.render.validation_text import relative
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import AuditTampered, UsageError
from pulsus.routing.maintenance.audit_catalogue import AuditFinding, Level

if TYPE_CHECKING:
    from pulsus.bootstrap import App
    from pulsus.bootstrap.project_trust import SettingApproval
    from pulsus.core.storage.decision_log.accept_break import AcceptedBreak
    from pulsus.core.storage.decision_log.damage_report import LogCheck
    from pulsus.routing.maintenance.audit_catalogue import CatalogueAudit
    from pulsus.routing.maintenance.audit_log import LogAudit

EPILOG = page_end(
    "pulsus audit",
    "pulsus audit --strict",
    'pulsus audit --expect-head "$HEAD"   # the head printed earlier',
    'pulsus audit --accept-break "disk replaced, restored from backup"',
    "pulsus audit --accept-records",
    'pulsus audit --accept-records --expect-commit "$COMMIT"  # CI, after review',
    exits={
        0: "as recorded",
        1: "a change, or an unapproved setting (--strict: or a warning)",
        2: "usage, or invalid configuration",
        4: "records or damage wait for a person",
    },
)

_HEX = frozenset("0123456789abcdef")
_WORDS = 2
"""Fewest words of a reason: one word alone tells a later reader nothing."""


@click.command(epilog=EPILOG)
@click.option(
    "--expect-head",
    metavar="HASH",
    help="Exit 1 if the decision log has no record with this hash: the head (last hash) that an "
    "earlier audit printed, and that you keep elsewhere.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Check closed files of the decision log by their hash alone, not record by record.",
)
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
@click.option(
    "--accept-break",
    "reason",
    metavar="REASON",
    help="Show the damage of the log, and the promotions that it does not know, and ask whether to "
    "go on with them. The log records the damage, your user name and REASON.",
)
@click.option(
    "--accept-records",
    is_flag=True,
    help="Show the promotion records that you did not approve on this machine, with commit and "
    "difference, and ask whether to accept them. They come with a pull or a merge.",
)
@click.option(
    "--expect-commit",
    metavar="REV",
    help="With --accept-records: accept without a question if HEAD is this commit (its full id) "
    "and has these records and modules.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="With --accept-break: approve it without a question; your user name is recorded.",
)
@common(inspects=True)
def command(
    session: CommandSession,
    expect_head: str | None,
    quick: bool,
    strict: bool,
    reason: str | None,
    accept_records: bool,
    expect_commit: str | None,
    yes: bool,
) -> None:
    """Check that tools, compositions, archived versions and the decision log are as recorded.

    The decision log (.pulsus/audit/) is a chain of records of promotions, approvals and runs that
    write. Every file is read again. Exit 1 if a promoted file, a step of a composition or a line of
    the log was changed, is missing or is out of order.
    """
    from pulsus.core.storage.decision_log.user_witness import require_place
    from pulsus.routing.maintenance import audit_catalogue, audit_log
    from pulsus.routing.maintenance.audit_changelog import audit_changelogs
    from pulsus.routing.maintenance.audit_signatures import SignedRecordLookup
    from pulsus.routing.maintenance.audit_witness import audit_witness, put_log_first

    _check(expect_head, quick, reason, yes=yes)
    commit = _accepting(accept_records, expect_commit, others=bool(expect_head or quick or reason))
    if accept_records or reason is not None:
        session.inspects = False  # what decides works with approved settings only
    app = session.app
    if accept_records:
        audit_records.run(session, commit)
        return
    found = audit_catalogue.read_records(app.workflows_root)
    catalogued = audit_catalogue.audit_catalogue(app.workflows_root, found, app.catalogue.tools)
    folder = app.state_dir / "audit"
    signed = SignedRecordLookup(app.record_check().signatures)
    logged = audit_log.audit_log(
        folder, found.records, quick=quick, expected=expect_head, is_signed=signed
    )
    seen = list(audit_witness(folder, found, signed))
    moved = any(finding.level == "error" for finding in seen)
    broken = bool(logged.checked.damages or logged.unknown or moved)
    if reason is not None and not broken:
        console.note(
            "nothing to accept: there is no damage, and no promotion that the log does not know"
        )
    if reason is not None and broken:
        require_place(folder)  # without one, the new log would be no log of this user
        if not yes:
            told = _merge_seen(logged, seen)
            audit_break.require_approval(session, told, logged.checked.more, reason)
        app.housekeeping.accept_break(logged, reason)
        logged = audit_log.audit_log(folder, found.records, is_signed=signed)
        seen = list(audit_witness(folder, found, signed))
    findings = sorted(
        (
            *catalogued.findings,
            *audit_changelogs(app.workflows_root, found),
            *put_log_first(_merge_seen(logged, seen), folder),
            *settings_findings(app),
        ),
        key=lambda f: (audit_catalogue.LEVELS.index(f.level), f.code, str(f.path), f.line or 0),
    )
    refusal = _refusal(findings, strict=strict)
    if session.json:
        body = _document(session, catalogued, logged, findings)
        console.end_document({"ok": True, **body}, refusal)
    _tell(session, catalogued, logged, findings)
    console.leave(refusal)


def _merge_seen(logged: LogAudit, seen: Sequence[AuditFinding]) -> tuple[AuditFinding, ...]:
    """Return the findings on the log; one cause is told once."""
    told = {finding.code for finding in logged.findings if finding.level == "error"}
    return (*logged.findings, *(finding for finding in seen if finding.code not in told))


def _accepting(accept: bool, commit: str | None, *, others: bool) -> str | None:
    """Return the commit to accept records of.

    Raises UsageError for options that do not go together.
    """
    if commit is not None and not accept:
        raise UsageError(
            "--expect-commit says which commit's records to accept",
            hint="add --accept-records, or leave it out",
        )
    if accept and others:
        raise UsageError(
            "--accept-records goes with no other check",
            hint="run `pulsus audit` with the other options on its own",
        )
    return audit_records.checked_commit(commit) if commit is not None else None


def _check(expected: str | None, quick: bool, reason: str | None, *, yes: bool) -> None:
    if yes and reason is None:
        raise UsageError("--yes approves --accept-break only", hint="leave it out")
    if reason is not None and (expected or quick):
        raise UsageError(
            "--accept-break looks at everything, and goes with no other check",
            hint="leave out --expect-head and --quick",
        )
    if reason is not None and len(reason.split()) < _WORDS:
        raise UsageError(
            f"--accept-break {reason!r} does not say why: a reason has at least {_WORDS} words",
            hint="give the reason in a few words: it is kept in the decision log",
        )
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


def _refusal(findings: Sequence[AuditFinding], *, strict: bool) -> AuditTampered | None:
    levels = ("error", "warning") if strict else ("error",)
    wrong = [f for f in findings if f.level in levels]
    if not wrong:
        return None
    return AuditTampered(
        f"{console.counted(len(wrong), 'finding')}: not everything is as it was recorded",
        hint="`findings` say what, and what to do; docs/guides/audit.md of Pulsus",
    )


def _document(
    session: CommandSession,
    catalogued: CatalogueAudit,
    logged: LogAudit,
    findings: Sequence[AuditFinding],
) -> dict[str, Any]:
    log, head = logged.checked, logged.checked.head
    accepted = "seq=record.seq at=record.ts by reason damages promotions"
    return {
        "catalogue": console.json_fields(catalogued, "promoted compositions versions"),
        "log": {
            **console.json_fields(log, "records unread segments sealed"),
            "head": console.json_fields(head, "log seq hash") if head else None,
            **console.json_fields(logged, "expected_seq=expected_at elsewhere"),
            "notes": list(log.notes),
            "accepted": [console.json_fields(each, accepted) for each in log.accepted],
        },
        "findings": [
            {
                **console.json_fields(f, "code level"),
                "path": relative(f.path, session.project) if f.path else "",
                **console.json_fields(f, "line tool reason fix"),
                "records": [{"tool": tool, "revision": revision} for tool, revision in f.records],
            }
            for f in findings
        ],
        "more": log.more,
    }


def _tell(
    session: CommandSession,
    catalogued: CatalogueAudit,
    logged: LogAudit,
    findings: Sequence[AuditFinding],
) -> None:
    """Print the findings, what to do about each kind, and what was compared."""
    counts = Counter(f.level for f in findings)
    shown = [f for f in findings if f.level != "info" or session.verbosity > 0]
    if shown:
        rows = [(NAMES[f.level], f.code, _where(f, session), f.reason) for f in shown]
        console.table(("level", "code", "where", "reason"), rows)
        if logged.checked.more:
            console.echo(
                f"and {console.counted(logged.checked.more, 'more line')} of the decision log"
            )
        click.echo()
        # Errors come first: what is done about a warning may depend on them.
        console.table(("code", "what to do"), list(dict.fromkeys((f.code, f.fix) for f in shown)))
        click.echo()
    for note in logged.checked.notes:
        console.echo(f"note: {note}")
    for each in logged.checked.accepted:
        console.echo(
            f"accepted by {one_line(each.by)} on {each.record.ts[:10]} (record {each.record.seq}): "
            f"{_accepted(each)}; {one_line(each.reason)}"
        )
    console.echo(
        f"catalogue: {console.counted(catalogued.promoted, 'promoted tool')}, "
        f"{console.counted(catalogued.compositions, 'composition')}, "
        f"{console.counted(catalogued.versions, 'archived version')}"
    )
    console.echo(_log(logged))
    more = "" if session.verbosity > 0 or not counts["info"] else " (-v lists them)"
    totals = (console.counted(counts[level], name) for level, name in NAMES.items())
    console.echo(f"{', '.join(totals)}{more}")


def _accepted(found: AcceptedBreak) -> str:
    """Return what was accepted; a log that is missing or replaced has neither of the two."""
    parts = [console.counted(found.damages, "damage")] * bool(found.damages)
    if found.promotions:
        parts.append(f"{console.counted(found.promotions, 'promotion')} that the log does not know")
    return " and ".join(parts) or "the log as it is"


def _log(logged: LogAudit) -> str:
    found = logged.checked
    if found.head is None and not found.segments:
        return "decision log: none"
    if found.head is None:
        return (
            f"decision log: {_records(found)}, and no head: "
            "nothing shows whether records are missing at its end"
        )
    unread = f", {found.unread} by their seals only" if found.unread else ""
    known = f"; the expected head is record {logged.expected_at}" if logged.expected_at else ""
    return (
        f"decision log: {_records(found)}, "
        f"{found.sealed} sealed{unread}{known}\n"
        f"head: record {found.head.seq} {found.head.hash}"
    )


def _records(found: LogCheck) -> str:
    records = console.counted(found.records, "record")
    return f"{records} in {console.counted(found.segments, 'segment')}"


def _where(finding: AuditFinding, session: CommandSession) -> str:
    where = relative(finding.path, session.project) if finding.path else finding.tool or ""
    return f"{where}:{finding.line}" if finding.line else where


def settings_findings(app: App) -> Iterator[AuditFinding]:
    """Yield one finding for each value of a project file that widens what may run or leave.

    A setting that is not approved is an error: no command runs with it. The project's tables of
    commands are a warning, because only commands of their programs are refused.
    """
    for each in app.standings:
        yield _setting_finding(app, each)


def _setting_finding(app: App, each: SettingApproval) -> AuditFinding:
    from pulsus.bootstrap.project_trust import TABLES, shorten_json

    place = app.project / each.found.file
    line = each.found.line or None
    value = shorten_json(app.redactor.redact_value(each.value))
    if each.state == "approved" and each.approved is not None:
        when = each.approved.approved_at[:10]
        reason = f"{each.key} = {value} was approved on this machine on {when}"
        fix = "`pulsus config trust --revoke KEY` takes an approval back"
        return AuditFinding("SETTING_APPROVED", "info", place, line, None, reason, fix)
    reason = f"{each.key} = {value} widens what may run or leave, and is not approved here"
    if app.trust_failure:
        reason += f": {app.trust_failure}"
    fix = "`pulsus config trust KEY` shows and asks; in CI set the variable of the setting"
    level: Level = "warning" if each.key == TABLES else "error"
    return AuditFinding("SETTING_UNAPPROVED", level, place, line, None, reason, fix)
