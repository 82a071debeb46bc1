"""Choose the next version of a promoted tool, and why (§10, SemVer). Effect: reads versions.

A `--bump` that is smaller than the change is refused here. `needed_bump.py` decides which change
needs which version, and `core/storage/records/semver.py` counts it up. The examples are replayed in
`core/validators/example_replay.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pulsus.core.storage.promotion import needed_bump
from pulsus.core.storage.records import semver, version_archive
from pulsus.core.storage.records.current_revision import CurrentRevision
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.semver import Bump
from pulsus.errors import BumpRefused, Busy, ToolNotFound, VersionNotFound
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """The new version; `bump` None and no `changes` for a tool's first revision."""

    version: str
    bump: Bump | None
    changes: tuple[str, ...]
    owner: str | None


class Outdated(Busy):
    """The tool was promoted elsewhere while its examples ran: they have to run again."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Changes that earlier examples showed. The latest revision has the hash `against`.

    `against` None: there was no revision to be compared with.
    """

    against: str | None
    changes: tuple[needed_bump.ApiChange, ...]


def choose_version(
    source: bytes,
    here: CurrentRevision,
    moved: CurrentRevision | None,
    asked: Bump | None,
    owner: str | None,
    behaviour: ReplayResult | None = None,
) -> Step:
    """Return the version of `source` at `here`: above every earlier one, by what changed for its
    callers.

    `moved` is where the tool was until now: callers must name it anew, so that is major. `asked`
    may only be more than what the change calls for. Raises BumpRefused, ToolNotFound, HashMoved,
    Outdated where `behaviour` was held against another revision than is now the latest.
    """
    latest = _find_latest_record(here, moved)
    if latest is None:
        _refuse_bump_of_first(here, asked)
        return Step(semver.FIRST, None, (), owner)
    if behaviour and behaviour.against != latest.tool_hash:
        raise Outdated(
            f"{here.target.tool_id} was promoted anew while its new version was compared",
            hint="promote again: it is then compared with what is there now",
        )
    seen = behaviour.changes if behaviour else ()
    diff = _compare_with_latest(source, moved or here, latest).with_more(seen)
    needed: Bump = "major" if moved else diff.bump
    changes = list(diff.texts)
    if moved:
        changes.insert(0, f"major: moved from {moved.target.tool_id}")
    if owner not in (None, latest.owner):
        changes.append(f"patch: the owner is {owner}, it was {latest.owner or 'nobody'}")
    if asked and semver.BUMPS.index(asked) < semver.BUMPS.index(needed):
        raise BumpRefused(
            f"--bump {asked} is less than what changed: {'; '.join(changes)}",
            hint=f"leave it out, or give --bump {needed}: a version never promises too much",
            asked=asked,
            needed=needed,
            changes=changes,
        )
    if asked and asked != needed:
        changes.insert(0, f"{asked}: asked for")
    changes = changes or ["patch: nothing changed for callers"]
    above = [r.version for r in (here.latest, moved.latest if moved else None) if r]
    version = semver.next_version(max(above, key=semver.parse_version), asked or needed)
    return Step(version, asked or needed, tuple(changes), owner or latest.owner)


def versions_to_replay(
    before: CurrentRevision, new: str
) -> tuple[version_archive.RecordedVersion, ...]:
    """Return the versions whose examples still count for what replaces them all, the latest first.

    Those of the latest's MAJOR: an example that was taken out in between, or says less since, was
    never taken back. `new` is the hash of the bytes that come now; they are not compared again.
    """
    if before.latest is None:
        return ()
    major = semver.parse_version(before.latest.version)[0]
    same = [
        v
        for v in version_archive.recorded_versions(before.of_name)
        if semver.parse_version(v.version)[0] == major
    ]
    latest_first = {v.tool_hash: v for v in reversed(same) if v.tool_hash != new}
    return tuple(latest_first.values())


def relevant_changes(
    version: version_archive.RecordedVersion,
    latest: PromotionRecord,
    seen: Sequence[needed_bump.ApiChange],
    *,
    kept: bool,
) -> tuple[needed_bump.ApiChange, ...]:
    """Return the changes of `seen` that count, which the examples of `version` showed.

    Of an older one than `latest` only what breaks: what came since was counted when it came.
    """
    if version.tool_hash == latest.tool_hash:
        return tuple(seen)  # bytes that are not kept are told by the comparison of the modules
    if not kept:
        text = f"the bytes of {version.version} are not kept, so its examples could not be run"
        return (needed_bump.ApiChange("major", text),)
    return tuple(
        replace(change, text=f"{version.version}'s {change.text}")
        for change in seen
        if change.bump == "major"
    )


def require_restored(here: CurrentRevision, digest: str, version: str | None) -> None:
    """Raise VersionNotFound unless `version`, if any, is on record with just these bytes."""
    if version is None:
        return
    if not any(r.version == version and r.tool_hash == digest for r in here.of_name):
        raise VersionNotFound(
            f"{here.target.tool_id} has no version {version} with these bytes on record",
            hint="run the rollback again: the catalogue has changed meanwhile",
        )


def refuse_unchanged(known: PromotionRecord, asked: Bump | None) -> None:
    """Raise BumpRefused where more is asked for bytes that are `known` already."""
    if asked:
        raise BumpRefused(
            f"--bump {asked}: these are the bytes of {known.tool_id} {known.version}, unchanged",
            hint="leave it out: a version stands for its bytes, and is given once",
            asked=asked,
            version=known.version,
        )


def _find_latest_record(
    here: CurrentRevision, moved: CurrentRevision | None
) -> PromotionRecord | None:
    if moved is None:
        return here.latest
    if moved.latest is None:
        raise ToolNotFound(
            f"{moved.target.tool_id} was never promoted, so it cannot be moved",
            hint="promote it without naming where it was",
        )
    return moved.latest


def _compare_with_latest(
    source: bytes, place: CurrentRevision, latest: PromotionRecord
) -> needed_bump.Diff:
    before = place.bytes_of(latest.tool_hash)
    if before is None:
        text = f"the bytes of {latest.version} are not kept, so nothing could be compared"
        return needed_bump.Diff((needed_bump.ApiChange("major", text),))
    return needed_bump.compare(before, source)


def _refuse_bump_of_first(here: CurrentRevision, bump: Bump | None) -> None:
    if bump:
        raise BumpRefused(
            f"--bump {bump}: {here.target.tool_id} has no earlier version to go up from",
            hint=f"leave it out; the first version is {semver.FIRST}",
        )
