"""A validated module becomes a tool of the catalogue (spec §10). Effect: writes files.

Module, CHANGELOG and `metadata.jsonl` change together, under one lock for the whole catalogue.
"""

from __future__ import annotations

import logging
import math
import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import filelock

from pulsus import __version__
from pulsus.core.storage import metadata, semver, transaction
from pulsus.core.storage.place import Place, tool_hash
from pulsus.core.storage.state import open_state
from pulsus.core.storage.target import Target, checked_root
from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.redact import Redactor
from pulsus.core.types import JsonValue, Promotion, ValidatedModule
from pulsus.errors import Busy, TargetRefused, ValidationFailed, storage_error

_LOG = logging.getLogger(__name__)

_BYTES_PER_TOKEN = 4
"""Rule of thumb for source text where no model counted tokens."""

_MAX_DESCRIPTION_CHARS = 500


@dataclass(frozen=True, slots=True)
class PromotionContext:
    """What the record says beside the module itself.

    `approved_by` is the OS user who approved. `tokens_estimate` None is estimated from the source.
    """

    run_id: str | None
    route_id: str | None
    approved_by: str
    description: str | None = None
    status: str = "stable"
    tokens_estimate: int | None = None
    model: Mapping[str, JsonValue] | None = None
    rag: Mapping[str, JsonValue] | None = None
    redactor: Redactor = field(default_factory=Redactor)


def promote(
    validated: ValidatedModule,
    *,
    target: Target,
    workflows_root: Path,
    state_dir: Path,
    context: PromotionContext,
    clock: Clock,
    lock_seconds: float,
    remove: Path | None = None,
    replace_unrecorded: bool = False,
) -> Promotion:
    """The revision under which the module is now in the catalogue.

    The first revision of a name is 1.0.0, new bytes are one PATCH more, and the bytes of its latest
    revision again are that revision (`created=False`). `remove` is the candidate to delete
    afterwards; it stays where its bytes are not the promoted ones.

    Raises TargetRefused (also for a file at the target that no record knows, unless
    `replace_unrecorded`), ValidationFailed, MetadataCorrupt, StateCorrupt, Busy, DiskFull,
    StorageUnwritable; then the catalogue is as it was.
    """
    _require_validated(validated)
    root = checked_root(workflows_root)
    candidate = _checked_candidate(remove, root)
    state = open_state(state_dir)
    journal = state.path / "promotion.json"
    with _lock(state.locks / "promote.lock", lock_seconds):
        transaction.recover(journal)
        here = Place.read(root, target)
        if not replace_unrecorded:
            here.require_recorded(validated.source)
        record = here.current(tool_hash(validated.source))
        created = record is None
        if record is None:
            record = _record(validated, target, context, here.latest, root, clock())
        changes = here.changes(validated.source, record if created else None)
        if changes:
            transaction.apply(root, changes, journal)
        if candidate is not None:
            _remove_candidate(candidate, validated.source)
    path = target.path(workflows_root)
    return Promotion(record.id, record.version, path, target.tool_id, created=created)


def os_user() -> str:
    """The name of the user this process runs as; the number where it has no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _record(
    validated: ValidatedModule,
    target: Target,
    context: PromotionContext,
    previous: metadata.Record | None,
    root: Path,
    now: datetime,
) -> metadata.Record:
    now = now.astimezone(UTC)
    tokens = context.tokens_estimate
    description = context.description or validated.tool.summary
    return metadata.Record(
        id=metadata.next_revision(metadata.read_all(root), now),
        run_id=context.run_id,
        route_id=context.route_id,
        name=f"{target.name}.py",
        domain=target.domain or "shared",
        action=target.action,
        description=_one_line(context.redactor.redact(description)),
        status=context.status,
        created_by=f"pulsus_v{__version__}",
        created_at=now.isoformat(timespec="seconds"),
        version=semver.next_version(previous.version if previous else None),
        tool_hash=tool_hash(validated.source),
        tokens_estimate=math.ceil(len(validated.source) / _BYTES_PER_TOKEN)
        if tokens is None
        else tokens,
        model=context.model,
        rag=context.rag,
        approved_by=context.approved_by,
        proof=validated.report.proof,
        kind=validated.tool.kind,
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


def _checked_candidate(path: Path | None, root: Path) -> Path | None:
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


@contextmanager
def _lock(path: Path, seconds: float) -> Iterator[None]:
    lock = filelock.FileLock(path, timeout=seconds)
    try:
        lock.acquire()
    except filelock.Timeout as failure:
        raise Busy(
            f"another promotion held {path} for {seconds:g} s",
            hint="try again; set storage.lock_seconds to wait longer",
        ) from failure
    except OSError as failure:
        raise storage_error(failure, path) from failure
    try:
        yield
    finally:
        lock.release()


def _one_line(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:_MAX_DESCRIPTION_CHARS]
