"""A promoted tool leaves the catalogue (spec §10). Effect: writes files.

It refuses a tool that was edited since its promotion. A tool that another one still needs is found
in `routing/maintenance/tool_users.py`. Its file goes, and its bytes are kept as a version, so that
`pulsus rollback` can bring it back. The record, the changelog and the decision log say who decided
it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pulsus.core.storage.catalogue_lock import CatalogueStore
from pulsus.core.storage.promotion.deprecate import status_record
from pulsus.core.storage.records import version_archive
from pulsus.core.storage.records.change_set import MANIFEST_SUFFIXES, ChangeSet
from pulsus.core.storage.records.current_revision import CurrentRevision, Find
from pulsus.core.storage.records.promotion_records import REMOVED, PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import NotPromoted, ToolNotFound

RequireUnused = Callable[[Path], None]
"""Takes the workflows folder. Raises ToolInUse if the tool must stay."""


def remove(
    target: Target,
    *,
    store: CatalogueStore,
    approved_by: str,
    require_unused: RequireUnused,
    find: Find | None = None,
    manifest: str | None = None,
) -> tuple[PromotionRecord, bool]:
    """Return the tool's latest record, and whether it is new: a removed tool stays removed.

    `require_unused` is called under the lock, so no composition can be promoted in between. `find`
    knows where the bytes may lie if the file was deleted by hand. `manifest` is the name of a
    manifest that is not named after the tool, such as `tool.yaml`.

    Raises ToolNotFound, NotPromoted for a file that was changed since its promotion, what
    `require_unused` raises, and what `promote` does; then nothing has changed.
    """
    with store.locked() as writing:
        here = CurrentRevision.read(writing.root, target, find)
        latest = require_removable(here)
        if latest.removed:
            return latest, False
        require_unused(writing.root)
        record = status_record(
            latest,
            revision=writing.next_revision(now := writing.now()),
            event="remove",
            replacement=None,
            sunset=None,
            now=now,
            approved_by=approved_by,
            log=writing.anchor(),
            status=REMOVED,
        )
        ledger = ChangeSet(writing.root)
        source = here.bytes_of(latest.tool_hash)
        if source is not None:  # otherwise the file is gone, and nothing has its bytes
            ledger.keep(target, source)
        ledger.remove_module(here)
        for name in (*(f"{target.name}{end}" for end in MANIFEST_SUFFIXES), manifest):
            if name:
                ledger.archive_manifest(target, name)
        ledger.record(target, record, first=False)
        writing.write(ledger, record)
        return record, True


def require_removable(here: CurrentRevision) -> PromotionRecord:
    """Return the latest record of the tool.

    Raises ToolNotFound if it was never promoted, and NotPromoted for a file with other bytes than
    the latest revision: they are kept nowhere else.
    """
    latest, shown = here.latest, here.target.path(here.root)
    if latest is None:
        raise ToolNotFound(
            f"{here.target.tool_id} was never promoted", hint=f"delete {shown} yourself"
        )
    if here.module is None:
        return latest
    if latest.removed:
        raise NotPromoted(
            f"{here.target.tool_id} was removed ({latest.id}), and {shown} is there again",
            hint="delete that file, or promote it",
            tool=here.target.tool_id,
        )
    if version_archive.digest(here.module) != latest.tool_hash:
        raise NotPromoted(
            f"{shown} was changed since it was promoted as {latest.version} ({latest.id})",
            hint="promote the change first, or restore the file from version control",
            tool=here.target.tool_id,
        )
    return latest
