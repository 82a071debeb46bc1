"""`pulsus rollback`: promote an older version of a tool again (spec §10).

The older bytes are found in `core/storage/promotion/rollback.py`. A version whose record this user
did not approve is refused in `routing/delivery/approved_records_check.py`.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.core.text.plurals import counted
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.core.storage.promotion.rollback import ArchivedVersion

_MOST_LINES = 20
"""Lines of the difference in the question."""

EPILOG = page_end(
    "pulsus rollback config/edit/set_config_line",
    "pulsus rollback config/edit/set_config_line@1.0.0 --yes",
    exits={
        0: "promoted",
        2: "usage, settings, or no such version",
        3: "validation",
        4: "not approved",
        6: "the archived bytes have changed",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("tool", metavar="ID[@VERSION]", shell_complete=complete_tools)
@click.option("--yes", is_flag=True, help="Approve it; your user name is recorded.")
@common()
def command(session: CommandSession, tool: str, yes: bool) -> None:
    """Bring back an older version of a tool.

    Without VERSION, Pulsus takes the one before the latest, or the last one of a removed tool. The
    archived bytes are validated again, and promoted under a new, higher version. The history is
    never rewritten.
    """
    from pulsus.cli.catalogue import promote_command
    from pulsus.core.storage.promotion import rollback
    from pulsus.routing.delivery import candidate_module

    ref, at, version = tool.partition("@")
    if not ref.strip() or (at and not version.strip()):
        raise UsageError(
            f"{tool!r} names no {'version' if ref.strip() else 'tool'}",
            hint="write ID@VERSION, or ID alone for the version before the latest",
        )
    app = session.app
    target = rollback.find_promoted(app.workflows_root, ref, suggests_removed=True)
    promoter = app.promoter(app.new_run_id())
    kept = rollback.archived_version(app.workflows_root, target, version or None, promoter.find)
    app.record_check().require_version(target, kept.version)
    promoter = replace(promoter, restores=kept.version)
    # The kept bytes, as they would lie in the tool's place.
    path = kept.target.path(app.workflows_root)
    missing = not path.exists()
    module = candidate_module.module_of_bytes(app, path, kept.source, kept.target)
    latest = app.past.shown_records.get(target.tool_id)
    now = latest.version if latest else "unknown"
    module = replace(module, notes=(*module.notes, *_describe(path, kept, now)))
    delivery = promote_command.deliver(session, module, promoter, approved=yes)
    unchanged = (
        "the missing file is back"
        if missing
        else f"nothing to roll back, the module is the same as in {kept.version}"
    )
    promote_command.print_delivery(session, target, delivery, unchanged)


def _describe(path: Path, kept: ArchivedVersion, now: str) -> Iterator[str]:
    """Yield which version comes back, and the difference to the file that is there."""
    yield f"brings back the bytes of version {kept.version}, in place of {now}"
    with contextlib.suppress(OSError):
        old, new = (
            data.decode("utf-8", "replace").splitlines()
            for data in (path.read_bytes(), kept.source)
        )
        lines = list(difflib.unified_diff(old, new, now, kept.version, lineterm="", n=0))
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield f"… {counted(len(lines) - _MOST_LINES, 'more line')}"
