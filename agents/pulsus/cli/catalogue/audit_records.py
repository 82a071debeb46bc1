"""`pulsus audit --accept-records`: approve records that came with a pull (ADR 31).

The records are accepted in `routing/maintenance/accept_records.py`; a person has to answer, or name
the full commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.prompts.questions import confirm
from pulsus.cli.render.validation_text import relative
from pulsus.core.telemetry import ids
from pulsus.core.telemetry.sanitize import one_line, strip_controls
from pulsus.errors import RecordUnknown, UsageError

if TYPE_CHECKING:
    from pulsus.routing.maintenance.accept_records import PendingRecords

_FULL = (40, 64)
_MOST_LINES = 100
"""Lines of differences that are shown at once; more of them are shown on demand."""
_MOST_TOOLS = 20
"""Rows of the table that stands for the differences. Tools that write come first."""
_LINE_CHARS = 100
"""Width of the list of the other tools where no terminal has one."""
_HEX = frozenset("0123456789abcdef")


def checked_commit(commit: str) -> str:
    """Return the commit id. Raises UsageError unless it is written in full.

    A branch or a short id may name another commit than the one that was reviewed.
    """
    if len(commit) not in _FULL or not _HEX.issuperset(commit.lower()):
        raise UsageError(
            f"--expect-commit {commit!r} is no full commit id",
            hint="give the 40 (or 64) hex digits that `git rev-parse HEAD` prints",
        )
    return commit.lower()


def run(session: CommandSession, commit: str | None) -> None:
    """Show the records that this user did not approve, and accept them if the answer is yes.

    Raises RecordUnknown if no person can be asked and no commit is given, or a person says no.
    """
    from pulsus.routing.maintenance import accept_records

    app = session.app
    found = accept_records.pending_records(app.workflows_root, app.state_dir)
    if commit is not None:
        accept_records.require_commit(found, app.workflows_root, commit)
    many = sum(len(each.difference) for each in found) > _MOST_LINES
    asks = bool(found) and commit is None
    brief = many and session.verbosity <= 0
    if not session.json:
        _show(session, found, brief=brief)
    if asks:
        _ask(session, found, brief=brief)
    count = accept_records.accept_records(
        found,
        app.workflows_root,
        app.state_dir,
        commit=accept_records.checked_out(app.workflows_root),
        clock=ids.utc_now,
        redactor=app.redactor,
    )
    if session.json:
        console.document({"ok": True, "accepted": [_row(session, each) for each in found]})
    else:
        console.echo(
            f"accepted {console.counted(count, 'record')} of {_tools(found)}"
            if found
            else "no record waits for you: you made or accepted each, or it was here when your "
            "log began"
        )


def _ask(session: CommandSession, found: Sequence[PendingRecords], *, brief: bool) -> None:
    if not session.interactive:
        raise RecordUnknown(
            f"the records of {_tools(found)} wait for a person, and no person can be asked here",
            hint="run it on a terminal; in CI: pulsus audit --accept-records --expect-commit REV",
            tools=[each.tool for each in found],
        )
    if brief:
        console.note("d shows each record with its difference")
    details = partial(_show, session, found, brief=False) if brief else None
    if not confirm(f"accept these records of {_tools(found)}?", details):
        runs = "run with a warning" if _is_without_log(session) else "do not run"
        raise RecordUnknown(
            "nothing was accepted", hint=f"their tools {runs} until you accept the records"
        )


def _is_without_log(session: CommandSession) -> bool:
    """Return True in a new clone: without a decision log, unapproved tools run with a warning."""
    from pulsus.core.storage.decision_log.user_witness import Witness

    return Witness.of(session.app.state_dir / "audit").match() == "none"


def _tools(found: Sequence[PendingRecords]) -> str:
    return console.counted(len(found), "tool")


def _show(session: CommandSession, found: Sequence[PendingRecords], *, brief: bool) -> None:
    """Show each record with its difference; `brief` gives counts and the first tools in a table.

    The ids of the other tools follow, because a record can call its tool a read to stand last.
    """
    if brief:
        kinds = {each.tool: _kind(session, each) for each in found}
        first = sorted(found, key=lambda each: kinds[each.tool] in ("read", "resolve"))
        rows = [
            (
                each.tool,
                each.latest.version,
                kinds[each.tool],
                (each.commit or "none")[:12],
                "removed" if each.latest.removed else console.counted(len(each.difference), "line"),
            )
            for each in first[:_MOST_TOOLS]
        ]
        counts = Counter(kinds[each.tool] for each in first)
        of_each = ", ".join(f"{counts[kind]} {kind}" for kind in counts)
        for each in found:
            if each.status.is_older or each.status.status == "contradicted":
                console.echo(f"{each.tool}: {one_line(each.status.reason)}", hanging=2)
        count = console.counted(sum(len(each.difference) for each in found), "line")
        console.echo(f"the records of {_tools(found)} are not in your decision log ({of_each}):")
        console.table(("tool", "version", "kind", "commit", "difference"), rows)
        if more := [each.tool for each in first[_MOST_TOOLS:]]:
            count_more = console.counted(len(more), "more tool")
            named = ", ".join(map(one_line, more))
            columns = console.width() or _LINE_CHARS
            console.echo(f"and {count_more}: {named}", columns, hanging=2)
        console.note(f"the differences have {count}: -v shows them for each tool")
        return
    for each in found:
        latest = each.latest
        kind = latest.kind or "kind unknown"
        console.echo(f"{each.tool} {latest.version} ({latest.id}, {kind}): {each.status.reason}")
        console.echo(f"  file {relative(each.module, session.project)}")
        console.echo(f"  commit {each.commit or 'none: the record is not committed'}")
        by = latest.approved_by or "an unnamed user"
        console.echo(f"  approved by {one_line(by)} on {latest.created_at}, says the record")
        for line in each.difference:
            console.echo(f"  {strip_controls(line)}")
        click.echo()


def _kind(session: CommandSession, each: PendingRecords) -> str:
    """Return the kind that the tool would run with: a record may claim less than its module."""
    tool = session.app.catalogue.get(each.tool)
    return tool.kind if tool else each.latest.kind or "unknown"


def _row(session: CommandSession, each: PendingRecords) -> dict[str, Any]:
    names = "tool revision=latest.id version=latest.version path=module commit reason=status.reason"
    return console.json_fields(each, names, session.project) | {"records": len(each.records)}
