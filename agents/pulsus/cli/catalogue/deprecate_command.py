"""`pulsus deprecate`: mark a tool as replaced by another (spec §10).

The record is written in `core/storage/promotion/deprecate.py`. A tool past its sunset is left out
of the search in `routing/search/deprecations.py`. A deprecation needs a replacement and a sunset:
checked here.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.errors import ApprovalNeeded, UsageError

if TYPE_CHECKING:
    from pulsus.core.storage.records.promotion_records import PromotionRecord
    from pulsus.core.storage.records.promotion_target import Target


class _Day(click.DateTime):
    """A day; the message on another text names the form as a reader writes it."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the day. Raises BadParameter."""
        try:
            day: datetime = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no day: write it as YYYY-MM-DD", param, ctx)
        return day


EPILOG = page_end(
    "pulsus deprecate network/latency/tcp_latency \\\n"
    "      --replacement network/ports/check_port --sunset 2030-01-31",
    "pulsus deprecate network/latency/tcp_latency --undo --yes",
    exits={
        0: "recorded, or already so",
        2: "usage, settings, or no such tool",
        4: "not approved",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("tool", metavar="ID", shell_complete=complete_tools)
@click.option(
    "--replacement",
    metavar="ID",
    shell_complete=complete_tools,
    help="The promoted tool to use instead.",
)
@click.option(
    "--sunset",
    type=_Day(formats=["%Y-%m-%d"]),
    metavar="DATE",
    help="The last day (UTC) on which the tool may still be selected, as YYYY-MM-DD.",
)
@click.option("--undo", is_flag=True, help="Take the deprecation back.")
@click.option("--yes", is_flag=True, help="Approve it; your user name is recorded.")
@common()
def command(
    session: CommandSession,
    tool: str,
    replacement: str | None,
    sunset: datetime | None,
    undo: bool,
    yes: bool,
) -> None:
    """Replace the tool ID by another one. After the sunset day ID is no longer selected.

    Until then ID is selected only if nothing else fits. `pulsus run ID` keeps working. It adds a
    line to metadata.jsonl and an entry to CHANGELOG.md. The module stays as it is.
    """
    from pulsus.core.storage.promotion import deprecate, rollback
    from pulsus.core.storage.promotion.promote import os_user

    app = session.app
    until = _checked(replacement, sunset, undo=undo)
    target = rollback.find_promoted(app.workflows_root, tool)
    other = rollback.find_promoted(app.workflows_root, replacement) if replacement else None
    app.promoter().require_log()  # before anything is asked
    latest = deprecate.record_to_change(target, replacement=other, sunset=until, store=app.store)
    if latest and not yes:
        _ask(session, latest, other, until)
    record, created = deprecate.deprecate(
        target, replacement=other, sunset=until, store=app.store, approved_by=os_user()
    )
    _tell(session, record, created=created)


def _ask(
    session: CommandSession, latest: PromotionRecord, other: Target | None, until: date | None
) -> None:
    """Ask the person. Raises ApprovalNeeded for no, and if no person can be asked."""
    from pulsus.cli.prompts.questions import confirm

    unchanged = (
        f"{latest.tool_id} is not deprecated" if other else f"{latest.tool_id} stays deprecated"
    )
    if not session.interactive:
        raise ApprovalNeeded(
            f"{unchanged}: nothing approved it, and this run is non-interactive",
            hint="approve with --yes",
            tool=latest.tool_id,
        )
    about = f"{latest.tool_id} {latest.version}"
    if other:
        console.note(f"{about}: use {other.tool_id} instead; not selected after {until}")
        agreed = confirm("Deprecate it?")
    else:
        console.note(f"{about} is deprecated: use {latest.replacement}")
        agreed = confirm("Take that back?")
    if not agreed:
        raise ApprovalNeeded(
            f"{unchanged}: you did not approve it", hint="nothing was changed", tool=latest.tool_id
        )


def _checked(replacement: str | None, sunset: datetime | None, *, undo: bool) -> date | None:
    """Return the sunset. Raises UsageError for flags that do not go together."""
    if undo and (replacement or sunset):
        raise UsageError(
            "--undo goes without --replacement and --sunset", hint="give the one or the others"
        )
    lacking = {"--replacement": "the tool to use instead"} if not replacement else {}
    lacking |= {"--sunset": "a day as YYYY-MM-DD"} if not sunset else {}
    if not undo and lacking:
        raise UsageError(
            f"a deprecation needs {' and '.join(lacking)}",
            hint=f"name {' and '.join(lacking.values())}, or give --undo",
        )
    return sunset.date() if sunset else None


def _tell(session: CommandSession, record: PromotionRecord, *, created: bool) -> None:
    if session.json:
        names = "tool=tool_id status replacement sunset version revision=id"
        console.document(console.json_fields(record, names) | {"created": created})
        return
    from pulsus.cli.render.validation_text import TAG

    said = "is deprecated" if record.deprecated else "is not deprecated"
    already = "" if created else "already: "
    console.echo(f"{TAG} {already}{record.tool_id} {said} (revision={record.id})")
    if record.deprecated:
        until = f"; not selected after {record.sunset}" if record.sunset else ""
        console.echo(f"{TAG}   use {record.replacement}{until}")
