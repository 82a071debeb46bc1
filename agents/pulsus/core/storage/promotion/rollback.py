"""Rollback: find older bytes of a tool, to be promoted again (§10). Effect: reads files.

The older version to restore is chosen here. The command is `cli/catalogue/rollback_command.py`; the
bytes are kept by `core/storage/records/version_archive.py`. A run of a plan is undone in
`routing/plans/undo_plan.py`.
"""

from __future__ import annotations

from pathlib import Path

from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.current_revision import CurrentRevision, Find
from pulsus.core.storage.records.promotion_target import Target, checked_root
from pulsus.errors import TargetRefused, ToolAmbiguous, ToolNotFound, VersionNotFound
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ArchivedVersion:
    """The bytes of one version of a tool, and which it is; `latest` is the version now."""

    target: Target
    version: str
    latest: str
    source: bytes


def archived_version(
    workflows_root: Path, target: Target, version: str | None, find: Find | None = None
) -> ArchivedVersion:
    """Return the bytes of that version, or of the one before the latest.

    Of a removed tool the latest version comes back.
    `find` knows where those of the latest may lie where its file was changed.

    Raises VersionNotFound naming the versions that can be put back, TargetRefused for a file that
    was never promoted in its form, ToolNotFound, HashMoved, MetadataCorrupt, StorageUnwritable.
    """
    here = CurrentRevision.read(checked_root(workflows_root), target, find)
    if here.latest is None:
        raise ToolNotFound(
            f"{target.tool_id} was never promoted", hint="`pulsus tools list` shows every id"
        )
    known = version_archive.recorded_versions(here.of_name)
    wanted = _find_wanted_version(known, here.latest, version)
    source = here.bytes_of(wanted.tool_hash) if wanted else None
    if wanted is None or source is None:
        raise _build_not_found_error(here, known, version, wanted)
    # Before the bytes are proven, and before a person is asked.
    here.require_recorded(source, if_dropped=_way_back(here, here.latest, version, wanted.version))
    return ArchivedVersion(target, wanted.version, here.latest.version, source)


def _way_back(
    here: CurrentRevision,
    latest: promotion_records.PromotionRecord,
    version: str | None,
    wanted: str,
) -> str:
    """Return how to go back once an edited file is away.

    Without a `version` a user may want the approved module, and not the one before it.
    """
    repeat = f"repeat the command, which gets {wanted} back"
    if version or wanted == latest.version or here.bytes_of(latest.tool_hash) is None:
        return repeat
    approved = f"pulsus rollback {here.target.tool_id}@{latest.version}"
    return f"get {latest.version} back as approved: {approved}; or {repeat}"


def find_promoted(workflows_root: Path, ref: str, *, suggests_removed: bool = False) -> Target:
    """Return the place of the promoted tool of that id or bare name, even if its file is missing.

    A bare name means the one tool of that name that was not removed. With `suggests_removed` the
    hint for an unknown id may name a removed tool too. Raises ToolNotFound, ToolAmbiguous,
    MetadataCorrupt.
    """
    records = promotion_records.read_all(checked_root(workflows_root))
    name = ref.removesuffix("::run").removesuffix("::main").removesuffix(".py")
    removed = {r.tool_id: r.removed for r in records}
    found = sorted(tool_id for tool_id in removed if name in (tool_id, tool_id.split("/")[2]))
    present = [tool_id for tool_id in found if not removed[tool_id]]
    if len(present) == 1:
        found = present
    if len(found) > 1:
        listed = ", ".join(each + " (removed)" * removed[each] for each in found)
        raise ToolAmbiguous(f"{ref!r} may be {listed}", hint="give the whole id")
    if not found:
        from pulsus.core.text.similar_names import did_you_mean  # only on this error path

        known = [each for each in removed if suggests_removed or not removed[each]]
        hint = did_you_mean(name, known, "`pulsus tools list` shows every id")
        raise ToolNotFound(f"no promoted tool is called {ref!r}", hint=hint)
    return target_of(found[0])


def target_of(tool_id: str) -> Target:
    """Return the place of an id. Raises TargetRefused for anything else."""
    match tool_id.split("/"):
        case [domain, action, name]:
            return Target(None if domain == "shared" else domain, action, name)
        case _:
            raise TargetRefused(
                f"{tool_id!r} is not a tool's id", hint="write it as domain/action/name"
            )


def _find_wanted_version(
    known: tuple[version_archive.RecordedVersion, ...],
    latest: promotion_records.PromotionRecord,
    version: str | None,
) -> version_archive.RecordedVersion | None:
    if version is not None:
        return next((v for v in known if v.version == version), None)
    if latest.removed:
        return known[-1]
    older = [v for v in known if v.tool_hash != latest.tool_hash]
    return older[-1] if older else None


def _build_not_found_error(
    here: CurrentRevision,
    known: tuple[version_archive.RecordedVersion, ...],
    version: str | None,
    wanted: version_archive.RecordedVersion | None,
) -> VersionNotFound:
    tool = here.target.tool_id
    kept = [v for v in known if here.bytes_of(v.tool_hash) is not None]
    there = [v.version for v in kept]
    listed = ", ".join(there) or "none"
    current = None if here.latest is None or here.latest.removed else here.latest.tool_hash
    others = [v.version for v in kept if v.tool_hash != current]
    hint = "there is nothing to roll back to"
    if others:
        hint = f"name one that is kept: pulsus rollback {tool}@{others[-1]}"
    elif kept and version is not None:
        hint = f"only the current module is kept: {hint}"
    elif kept and here.module is None:
        hint = f"its file is missing; to put it back: pulsus rollback {tool}@{there[-1]}"
    elif kept and here.module is not None and version_archive.digest(here.module) != current:
        path = here.target.path(here.root)
        hint = (
            f"its file was edited and not promoted; to drop the edit, move {path} away, then: "
            f"pulsus rollback {tool}@{there[-1]}"
        )
    earlier = version is None and len(kept) > 1
    if wanted is not None:
        why = f"the bytes of {tool} {wanted.version} are not kept"
    elif earlier:
        why = f"all versions of {tool} have the same module, with another owner or other records"
    elif version is None:
        why = f"{tool} has no version before {known[-1].version}"
    else:
        why = f"{tool} has no version {version}"
    return VersionNotFound(f"{why}; kept: {listed}", hint=hint, kept=there)
