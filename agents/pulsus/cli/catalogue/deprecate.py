"""`pulsus deprecate` (routing spec §10)."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.core.storage.records.promotion_records import PromotionRecord


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
    "pulsus deprecate network/latency/tcp_latency --undo",
    exits={
        0: "recorded, or already so",
        2: "usage, settings, or no such tool",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("tool", metavar="ID")
@click.option("--replacement", metavar="ID", help="The promoted tool to use instead.")
@click.option(
    "--sunset",
    type=_Day(formats=["%Y-%m-%d"]),
    metavar="DATE",
    help="The last day (UTC) on which the tool may still be selected, as YYYY-MM-DD.",
)
@click.option("--undo", is_flag=True, help="Take the deprecation back.")
@common()
def command(
    session: CommandSession, tool: str, replacement: str | None, sunset: datetime | None, undo: bool
) -> None:
    """Replace the tool ID by another one. After the sunset day ID is no longer selected.

    Until then ID is selected only if nothing else fits. `pulsus run ID` keeps working. It adds a
    line to metadata.jsonl and an entry to CHANGELOG.md. The module stays as it is.
    """
    from pulsus.core.storage.promotion import archived_version, deprecate
    from pulsus.core.storage.promotion.promote import os_user

    app = session.app
    until = _checked(replacement, sunset, undo=undo)
    record, created = deprecate.deprecate(
        archived_version.find_promoted(app.workflows_root, tool),
        replacement=archived_version.find_promoted(app.workflows_root, replacement)
        if replacement
        else None,
        sunset=until,
        store=app.store,
        approved_by=os_user(),
    )
    _tell(session, record, created=created)


def _checked(replacement: str | None, sunset: datetime | None, *, undo: bool) -> date | None:
    """Return the sunset. Raises UsageError for flags that do not go together."""
    if undo and (replacement or sunset):
        raise UsageError(
            "--undo goes without --replacement and --sunset", hint="give the one or the others"
        )
    if not undo and not (replacement and sunset):
        raise UsageError(
            "a deprecation needs --replacement and --sunset",
            hint="name the tool to use instead and a day as YYYY-MM-DD, or give --undo",
        )
    return sunset.date() if sunset else None


def _tell(session: CommandSession, record: PromotionRecord, *, created: bool) -> None:
    if session.json:
        names = "tool=tool_id status replacement sunset version revision=id"
        console.document(console.json_fields(record, names) | {"created": created})
        return
    from pulsus.cli.render.validation_text import TAG

    said = "is not deprecated"
    if record.deprecated:
        said = f"is deprecated: use {record.replacement}"
        said += f"; not selected after {record.sunset}" if record.sunset else ""
    already = "" if created else "already: "
    click.echo(f"{TAG} {already}{record.tool_id} {said} (revision={record.id})")
