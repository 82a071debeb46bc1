"""`pulsus tools remove`: take a tool out of the catalogue (spec §10).

A tool that others use is refused in `routing/maintenance/tool_users.py`; the files change in
`core/storage/promotion/remove.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.errors import ApprovalNeeded

if TYPE_CHECKING:
    from pulsus.core.storage.records.promotion_records import PromotionRecord
    from pulsus.core.storage.records.promotion_target import Target
    from pulsus.routing.maintenance.tool_users import ToolUsers


EPILOG = page_end(
    "pulsus tools remove network/latency/tcp_latency",
    "pulsus tools remove network/latency/tcp_latency --yes",
    exits={
        0: "removed, or removed before",
        2: "usage, settings, or no such tool",
        4: "not approved",
        6: "needed by promoted tools, or changed",
        75: "try again",
    },
)

_BROKEN_CALL = "its runs end unverified, or cannot be undone"


@click.command(epilog=EPILOG)
@click.argument("tool", metavar="ID", shell_complete=complete_tools)
@click.option("--yes", is_flag=True, help="Approve it; your user name is recorded.")
@click.option("--force", is_flag=True, help="Remove it although promoted tools need it.")
@common()
def remove(session: CommandSession, tool: str, yes: bool, force: bool) -> None:
    """Take the promoted tool ID out of the catalogue. `pulsus rollback ID` brings it back.

    The module is deleted, and its bytes stay in `.versions/`. The command adds a line to
    metadata.jsonl and an entry to CHANGELOG.md. A tool that a promoted composition uses stays,
    unless it is deprecated. So does one that the `Verify:` or `Undo:` of a promoted tool names.
    """
    from pulsus.core.storage.promotion import remove as removal
    from pulsus.core.storage.promotion import rollback
    from pulsus.core.storage.promotion.promote import os_user
    from pulsus.core.storage.records.current_revision import CurrentRevision
    from pulsus.core.storage.records.promotion_target import checked_root
    from pulsus.routing.maintenance import tool_users

    app = session.app
    target = rollback.find_promoted(app.workflows_root, tool)
    root = checked_root(app.workflows_root)
    promoter = app.promoter()
    promoter.require_log()  # before anything is asked
    latest = removal.require_removable(CurrentRevision.read(root, target, promoter.find))
    require_unused = tool_users.refuse_if_used(target.tool_id, allowed=force)
    users = tool_users.find_users(root, target.tool_id)
    if not latest.removed:
        require_unused(root)
        if not yes:
            _ask(session, latest, users)
    record, created = removal.remove(
        target,
        store=app.store,
        approved_by=os_user(),
        require_unused=require_unused,
        find=promoter.find,
        manifest=_manifest(session, target),
    )
    _tell(session, record, users, created=created)


def _ask(session: CommandSession, latest: PromotionRecord, users: ToolUsers) -> None:
    """Ask the person. Raises ApprovalNeeded for no, and if no person can be asked."""
    from pulsus.cli.prompts.questions import confirm

    if not session.interactive:
        raise ApprovalNeeded(
            f"{latest.tool_id} is not removed: nothing approved it, and this run is "
            "non-interactive",
            hint="approve with --yes",
            tool=latest.tool_id,
        )
    for reason in users.reasons():
        console.warn(f"{latest.tool_id}: {reason}")
    if not confirm(f"remove {latest.tool_id} {latest.version} ({latest.id})?"):
        raise ApprovalNeeded(
            f"{latest.tool_id} is not removed: you did not approve it",
            hint="nothing was changed",
            tool=latest.tool_id,
        )


def _manifest(session: CommandSession, target: Target) -> str | None:
    """Return the name of the tool's manifest, if it has one that is in use."""
    tools = {tool.id: tool for tool in session.app.catalogue.tools}
    found = tools.get(target.tool_id)
    return found.manifest.path.name if found and found.manifest else None


def _tell(
    session: CommandSession, record: PromotionRecord, users: ToolUsers, *, created: bool
) -> None:
    if created:
        for composition in users.compositions:
            console.warn(f"{composition} no longer runs: its step {record.tool_id} is removed")
        for tool in users.callers:
            console.warn(f"{tool} names {record.tool_id} in `Verify:` or `Undo:`: {_BROKEN_CALL}")
        for tool in users.deprecated:
            console.warn(f"{tool} names {record.tool_id} as its replacement, which is removed")
    if session.json:
        names = "tool=tool_id status version revision=id"
        body = console.json_fields(record, names)
        console.document(
            body
            | {
                "created": created,
                "used_by": list(users.compositions),
                "replacement_of": list(users.deprecated),
                "named_by": list(users.callers),
            }
        )
        return
    from pulsus.cli.render.validation_text import TAG

    already = "" if created else "already: "
    console.echo(f"{TAG} {already}{record.tool_id} is removed (revision={record.id})")
    if created:
        console.echo(f"{TAG}   bring it back: pulsus rollback {record.tool_id}@{record.version}")
