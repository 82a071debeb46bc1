"""Deprecation: mark a tool as replaced by another, or no longer (§10). Effect: writes files.

It refuses a replacement that is the tool itself, deprecated or not promoted, and a sunset in the
past. What a deprecation does to a search is decided in `routing/search/deprecations.py`. The record
keeps the version: it names bytes, and they stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from pulsus import __version__
from pulsus.core.storage.catalogue_lock import CatalogueStore
from pulsus.core.storage.records import version_archive
from pulsus.core.storage.records.change_set import ChangeSet
from pulsus.core.storage.records.current_revision import CurrentRevision
from pulsus.core.storage.records.promotion_records import DEPRECATED, PromotionRecord
from pulsus.core.storage.records.promotion_target import Target, checked_root
from pulsus.core.types import JsonValue
from pulsus.errors import NotPromoted, ReplacementRefused


def deprecate(
    target: Target,
    *,
    replacement: Target | None,
    sunset: date | None,
    store: CatalogueStore,
    approved_by: str,
) -> tuple[PromotionRecord, bool]:
    """The tool's latest record, and whether it is new: the same decision again changes nothing.

    `replacement` None takes an earlier deprecation back. Otherwise it must be promoted, another
    tool and not deprecated itself, so that following replacements always ends. Raises NotPromoted,
    ReplacementRefused and what `promote` does; then nothing has changed.
    """
    with store.locked() as writing:
        now = writing.now()
        latest, wanted, changes = _compare_status(target, replacement, sunset, now, writing.root)
        if not changes:
            return latest, False
        record = status_record(
            latest,
            revision=writing.next_revision(now),
            event="deprecate" if wanted else "reinstate",
            replacement=wanted,
            sunset=sunset.isoformat() if sunset else None,
            now=now,
            approved_by=approved_by,
            log=writing.anchor(),
        )
        ledger = ChangeSet(writing.root)
        ledger.record(target, record, first=False)
        writing.write(ledger, record)
        return record, True


def record_to_change(
    target: Target, *, replacement: Target | None, sunset: date | None, store: CatalogueStore
) -> PromotionRecord | None:
    """Return the tool's latest record if `deprecate` would change its status, otherwise None.

    Nothing is locked or written, so that a person can be asked first. Raises as `deprecate` does.
    """
    root = checked_root(store.workflows_root)
    latest, _, changes = _compare_status(target, replacement, sunset, store.clock(), root)
    return latest if changes else None


def status_record(
    latest: PromotionRecord,
    *,
    revision: str,
    event: str,
    replacement: str | None,
    sunset: str | None,
    now: datetime,
    approved_by: str,
    log: Mapping[str, JsonValue] | None,
    status: str | None = None,
) -> PromotionRecord:
    """Return the record that follows `latest` where only the tool's status changes.

    `status` None: deprecated if there is a `replacement`, otherwise stable.
    """
    return replace(
        latest,
        id=revision,
        run_id=None,
        route_id=None,
        status=status or (DEPRECATED if replacement else "stable"),
        created_by=f"pulsus_v{__version__}",
        created_at=now.isoformat(timespec="seconds"),
        approved_by=approved_by,
        bump=None,
        changes=(),
        replaces=None,
        restores=None,
        event=event,
        replacement=replacement,
        sunset=sunset,
        log=log,
    )


def _compare_status(
    target: Target, replacement: Target | None, sunset: date | None, now: datetime, root: Path
) -> tuple[PromotionRecord, str | None, bool]:
    """Return the latest record, the replacement's id, and whether its status would change."""
    latest = _require_promoted(CurrentRevision.read(root, target))
    wanted = _check_replacement(latest, replacement, sunset, now, root)
    until = sunset.isoformat() if sunset else None
    status = (latest.replacement, latest.sunset, latest.deprecated)
    return latest, wanted, status != (wanted, until, bool(wanted))


def _require_promoted(place: CurrentRevision) -> PromotionRecord:
    """Return the latest record. Refuse if it is not about the bytes in place."""
    latest = place.latest
    tool_id = place.target.tool_id
    if latest is not None and latest.removed:
        raise NotPromoted(
            f"{tool_id} was removed from the catalogue ({latest.id})",
            hint=f"bring it back: pulsus rollback {tool_id} --yes",
            tool=tool_id,
        )
    if (
        latest is None
        or place.module is None
        or version_archive.digest(place.module) != latest.tool_hash
    ):
        raise NotPromoted(
            f"{tool_id} is not promoted in its present form",
            hint=f"promote it first: {place.target.command_to_promote(place.root)}"
            if place.module is not None
            else "restore its file, if it had one; `pulsus tools list` shows every id",
            tool=tool_id,
        )
    return latest


def _check_replacement(
    latest: PromotionRecord,
    replacement: Target | None,
    sunset: date | None,
    now: datetime,
    root: Path,
) -> str | None:
    """Return the replacement's id. Raises ReplacementRefused, NotPromoted."""
    if replacement is None:
        return None
    wanted = replacement.tool_id
    if wanted == latest.tool_id:
        raise ReplacementRefused(
            f"{wanted} cannot replace itself", hint="name another promoted tool"
        )
    other = _require_promoted(CurrentRevision.read(root, replacement))
    if other.deprecated:
        raise ReplacementRefused(
            f"{wanted} is deprecated itself, in favour of {other.replacement}",
            hint=f"name {other.replacement}, or reinstate it: `pulsus deprecate {wanted} --undo`",
        )
    if sunset and sunset < now.date():
        raise ReplacementRefused(
            f"the sunset {sunset.isoformat()} lies in the past",
            hint="name the last day on which the tool may still be selected",
        )
    return wanted
