"""Promotion: a validated module becomes a tool of the catalogue (§10). Effect: writes files.

Module, kept version, CHANGELOG and `metadata.jsonl` change together, under one lock for the whole
catalogue (`core/storage/catalogue_lock.py`), and the decision log says who decided it.
`core/storage/records/change_set.py` gathers the files, and `file_transaction.py` beside it writes
them. If a module may be promoted is decided in `routing/delivery/deliver.py`, without a person in
`approvals/unattended.py`; its version is chosen in `choose_version.py`. An invalid name or place is
refused in `core/storage/records/promotion_target.py`; a file that no record knows is not
overwritten, which `core/storage/records/current_revision.py` decides.
"""

from __future__ import annotations

import logging
import math
import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pulsus import __version__
from pulsus.core.contract.effective_kind import get_effective_kind
from pulsus.core.storage.catalogue_lock import CatalogueLock, CatalogueStore
from pulsus.core.storage.promotion import choose_version
from pulsus.core.storage.promotion.deprecate import status_record
from pulsus.core.storage.promotion.rollback import target_of
from pulsus.core.storage.records import snapshots
from pulsus.core.storage.records.change_set import ChangeSet
from pulsus.core.storage.records.current_revision import CurrentRevision, Find, tool_hash
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target, checked_root
from pulsus.core.storage.records.semver import Bump
from pulsus.core.types import JsonValue, Promotion, ValidatedModule
from pulsus.errors import TargetRefused, ValidationFailed

_LOG = logging.getLogger(__name__)

_BYTES_PER_TOKEN = 4
"""Rule of thumb for source text where no model counted tokens."""

_MAX_DESCRIPTION_CHARS = 500


@dataclass(frozen=True, slots=True)
class PromotionContext:
    """Values of the record beside the module itself.

    `approved_by` is the OS user who approved. `tokens_estimate` None is estimated from the source.
    `owner` None keeps the earlier revision's, `bump` None takes what the change calls for.
    `replaces` is where the tool was until now; `restores` the version whose bytes come back;
    `behaviour` what its earlier examples showed, None if they were not run.
    """

    run_id: str | None
    route_id: str | None
    approved_by: str
    description: str | None = None
    status: str = "stable"
    tokens_estimate: int | None = None
    model: Mapping[str, JsonValue] | None = None
    rag: Mapping[str, JsonValue] | None = None
    owner: str | None = None
    bump: Bump | None = None
    replaces: Target | None = None
    restores: str | None = None
    find: Find | None = None
    behaviour: choose_version.ReplayResult | None = None


def promote(
    validated: ValidatedModule,
    *,
    target: Target,
    store: CatalogueStore,
    context: PromotionContext,
    remove: Path | None = None,
    replace_unrecorded: bool = False,
) -> Promotion:
    """Return the revision under which the module is now in the catalogue.

    The first revision of a name is 1.0.0, and each later one goes up by what changed for its
    callers (`needed_bump.py`). The bytes of its latest revision again are that revision
    (`created=False`), unless they get another owner. `remove` is the candidate to delete
    afterwards; it stays where its bytes are not the promoted ones.

    Raises TargetRefused (also for a file at the target that no record knows, unless
    `replace_unrecorded`), BumpRefused, VersionNotFound, ValidationFailed, MetadataCorrupt,
    StateCorrupt, HashMoved, AuditTampered, Busy, DiskFull, StorageUnwritable; then the catalogue
    is as it was.
    """
    _require_validated(validated)
    candidate = _require_candidate(remove, checked_root(store.workflows_root))
    with store.locked() as writing:
        here = CurrentRevision.read(writing.root, target, context.find)
        if not replace_unrecorded:
            here.require_recorded(validated.source)
        known = here.current(tool_hash(validated.source))
        if known and context.owner in (None, known.owner):
            choose_version.refuse_unchanged(known, context.bump)
            new: tuple[PromotionRecord, ...] = ()
        else:
            new = _build_records(validated, here, context, writing)
        writing.write(_build_change_set(writing.root, here, validated.source, new), *new)
        snapshots.renew(
            store.state_dir, validated.source, here.latest.tool_hash if here.latest else None
        )
        if candidate is not None:
            _remove_candidate(candidate, validated.source)
    path = target.path(store.workflows_root)
    return _build_promotion(new[0] if new else known, here, path, bool(new))


def os_user() -> str:
    """Return the name of the user this process runs as; the number where it has no name."""
    with suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())


def _build_records(
    validated: ValidatedModule,
    here: CurrentRevision,
    context: PromotionContext,
    writing: CatalogueLock,
) -> tuple[PromotionRecord, ...]:
    """Return the tool's new record and, if it was moved here, that of its old place."""
    moved = _find_old_place(here, context, writing.root)
    new = _build_record(validated, here, moved, context, writing)
    if moved is None or moved.latest is None:
        return (new,)
    old = status_record(
        moved.latest,
        revision=writing.next_revision(new.created, new),
        event="deprecate",
        replacement=new.tool_id,
        sunset=None,
        now=new.created,
        approved_by=context.approved_by,
        log=new.log,
    )
    return (new, old)


def _find_old_place(
    here: CurrentRevision, context: PromotionContext, root: Path
) -> CurrentRevision | None:
    if context.replaces is None or context.replaces == here.target:
        return None
    place = CurrentRevision.read(root, context.replaces, context.find)
    return None if place.latest and place.latest.removed else place


def _build_change_set(
    root: Path, here: CurrentRevision, source: bytes, new: tuple[PromotionRecord, ...]
) -> ChangeSet:
    ledger = ChangeSet(root)
    ledger.module(here, source)
    if here.latest and here.latest.removed:
        ledger.restore_manifests(here.target)
    for record in new:
        target = target_of(record.tool_id)
        ledger.record(target, record, first=target == here.target and not here.of_name)
    before = here.bytes_of(here.latest.tool_hash) if new and here.latest else None
    if before not in (None, source):
        ledger.keep(here.target, before)
    return ledger


def _build_record(
    validated: ValidatedModule,
    here: CurrentRevision,
    moved: CurrentRevision | None,
    context: PromotionContext,
    writing: CatalogueLock,
) -> PromotionRecord:
    now, redactor = writing.now(), writing.store.redactor
    tokens = context.tokens_estimate
    source, target, latest = validated.source, here.target, here.latest
    step = choose_version.choose_version(
        source, here, moved, context.bump, context.owner, context.behaviour
    )
    choose_version.require_restored(here, tool_hash(source), context.restores)
    return PromotionRecord(
        id=writing.next_revision(now),
        run_id=context.run_id,
        route_id=context.route_id,
        name=f"{target.name}.py",
        domain=target.domain or "shared",
        action=target.action,
        description=_join_lines(redactor.redact(context.description or validated.tool.summary)),
        status=latest.status if latest and latest.deprecated else context.status,
        created_by=f"pulsus_v{__version__}",
        created_at=now.isoformat(timespec="seconds"),
        version=step.version,
        tool_hash=tool_hash(source),
        tokens_estimate=math.ceil(len(source) / _BYTES_PER_TOKEN) if tokens is None else tokens,
        model=context.model,
        rag=context.rag,
        approved_by=context.approved_by,
        proof=validated.report.proof,
        kind=get_effective_kind(validated.tool, validated.report.observed),
        owner=_join_lines(step.owner) if step.owner else None,
        bump=step.bump,
        changes=step.changes,
        replaces=moved.target.tool_id if moved else None,
        restores=context.restores,
        replacement=latest.replacement if latest else None,
        sunset=latest.sunset if latest else None,
        log=writing.anchor(),
        network=validated.report.network,
    )


def _build_promotion(
    record: PromotionRecord | None, here: CurrentRevision, path: Path, created: bool
) -> Promotion:
    assert record is not None  # either known or just made
    done = Promotion(record.id, record.version, path, record.tool_id, created=created)
    if not created:
        return done
    return replace(
        done,
        previous=here.latest.version if here.latest else None,
        bump=record.bump,
        changes=record.changes,
        restores=record.restores,
    )


def _require_validated(validated: ValidatedModule) -> None:
    """Annotations do not bind at run time, and a frozen value can be forged: look again."""
    if type(validated) is not ValidatedModule:
        raise TypeError(f"only a ValidatedModule is promoted, not {type(validated).__name__}")
    try:
        ValidatedModule(validated.source, validated.tool, validated.report)
    except ValueError as failure:
        raise ValidationFailed(
            f"not promoted: {failure}", hint="run `pulsus validate` on it"
        ) from failure


def _require_candidate(path: Path | None, root: Path) -> Path | None:
    if path is None:
        return None
    folder = path.parent.resolve()
    areas = (root / "domains", root / "shared_tools")
    if not folder.is_relative_to(root) or any(folder.is_relative_to(a) for a in areas):
        raise TargetRefused(
            f"{path} is not a candidate below {root}", hint="name a file of the _tmp folder"
        )
    return folder / path.name


def _remove_candidate(path: Path, source: bytes) -> None:
    try:
        if not path.is_symlink() and path.is_file() and path.read_bytes() == source:
            path.unlink()
            path.with_suffix(".json").unlink(missing_ok=True)
    except OSError as failure:  # the promotion is done; a file too many does not undo it
        _LOG.warning("promoted, but cannot remove the candidate %s: %s", path, failure)


def _join_lines(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:_MAX_DESCRIPTION_CHARS]
