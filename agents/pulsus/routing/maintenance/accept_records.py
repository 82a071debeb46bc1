"""Accepting promotion records that came with a pull or a merge (ADR 31).

The approvals of a record are looked up in `core/storage/record_status.py`, and the command is
`cli/catalogue/audit_records.py`. With `--expect-commit` the commit must be checked out, and every
file be as it has it.

Effect: reads the catalogue and asks git; `accept` appends to the decision log.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.storage.decision_log import append_position, decision_log
from pulsus.core.storage.decision_log.approved_record_keys import RECORDS
from pulsus.core.storage.decision_log.user_witness import Witness, require_place
from pulsus.core.storage.promotion.promote import os_user
from pulsus.core.storage.record_status import RecordStatus, record_status
from pulsus.core.storage.records import promotion_records, record_key
from pulsus.core.storage.records.current_revision import CurrentRevision, Find
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.storage.records.record_key import decision_key
from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.core.validators.git_objects import GitObjects
from pulsus.errors import PulsusError, RecordChanged, RecordUnknown
from pulsus.routing.delivery.edited_in_place import PreviousBytes

MOST_LINES = 400
"""Most lines shown of one tool's difference; git shows the rest."""


@dataclass(frozen=True, slots=True)
class PendingRecords:
    """A tool whose latest record this user did not approve.

    `records` are those to accept, oldest first. `commit` brought the latest one; None if no commit
    did. `difference` is against the version that was approved last, or the whole module.
    """

    tool: str
    latest: PromotionRecord
    status: RecordStatus
    records: tuple[PromotionRecord, ...]
    module: Path
    commit: str | None
    difference: tuple[str, ...]


def pending_records(root: Path, state_dir: Path) -> tuple[PendingRecords, ...]:
    """Every tool whose latest record is not approved, in the order of their ids.

    Raises AuditTampered for a log that this user did not write, MetadataCorrupt, UserStateInvalid
    also if there is no place where the approvals could be kept.
    """
    require_place(state_dir / "audit")
    witness = Witness.of(state_dir / "audit")
    decision_log.require_seen(witness.folder)
    approvals, log = witness.approvals(), append_position.name_of(witness.folder)
    find = PreviousBytes(root, state_dir)
    by_tool: dict[str, list[PromotionRecord]] = {}
    for record in promotion_records.read_all(root):
        by_tool.setdefault(record.tool_id, []).append(record)
    repository = GitObjects.around(root)
    found = []
    for tool, records in sorted(by_tool.items()):
        status = record_status(records, approvals, witness.folder, log)
        if status.status != "approved":
            known = [r for r in records if approvals.knows(tool, decision_key(r))]
            found.append(_pending_records(root, records, status, known, repository, find))
    return tuple(found)


def require_commit(found: Sequence[PendingRecords], root: Path, commit: str) -> None:
    """Raise RecordUnknown unless `commit` is checked out and has these records and modules.

    Work tree and index must have its bytes. Raises RecordChanged for a record that the decision
    log contradicts: only a person at a terminal accepts one.
    """
    repository = GitObjects.around(root)
    head = repository.head() if repository else None
    if repository is None or head != commit.lower():
        raise RecordUnknown(
            f"nothing was accepted: HEAD is {head or 'no commit'}, not {commit}",
            hint="check out the commit that was reviewed, and name it in full",
        )
    for each in found:
        if each.status.status == "contradicted":
            raise RecordChanged(
                f"nothing was accepted: {each.tool}: {each.status.reason}",
                hint="look at it and accept it on a terminal: pulsus audit --accept-records",
                tool=each.tool,
            )
        for path in (each.module, each.module.with_name(promotion_records.FILE_NAME)):
            wanted = repository.blob(commit, path)
            absent = wanted is None and not (each.latest.removed and path == each.module)
            if absent or not wanted == _read_bytes(path) == repository.staged(path):
                raise RecordUnknown(
                    f"nothing was accepted: {path} is not as commit {commit[:12]} has it",
                    hint="commit the change, or take it back: git status",
                    tool=each.tool,
                )


def accept_records(
    found: Sequence[PendingRecords],
    root: Path,
    state_dir: Path,
    *,
    commit: str | None,
    clock: Clock,
    redactor: Redactor,
) -> int:
    """Record that this user accepts these records; return how many. Raises as `chain.append`."""
    records = [record for each in found for record in each.records]
    for some in record_key.by_tool(records) if records else ():
        data: dict[str, JsonValue] = {"by": os_user(), "commit": commit, "records": some}
        decision_log.append(
            state_dir, RECORDS, data, clock=clock, redactor=redactor, catalogue=root
        )
    return len(records)


def checked_out(root: Path) -> str | None:
    """Return the commit that is checked out around the catalogue; None without one."""
    repository = GitObjects.around(root)
    return repository.head() if repository else None


def _pending_records(
    root: Path,
    records: Sequence[PromotionRecord],
    status: RecordStatus,
    known: Sequence[PromotionRecord],
    repository: GitObjects | None,
    find: Find,
) -> PendingRecords:
    latest = records[-1]
    domain = None if latest.domain == "shared" else latest.domain
    target = Target(domain, latest.action, latest.name.removesuffix(".py"))
    module = target.path(root)
    commit = None
    if repository:
        line = promotion_records.format_record(latest).encode("utf-8")
        commit = repository.introduced(module.with_name(promotion_records.FILE_NAME), line)
    return PendingRecords(
        latest.tool_id,
        latest,
        status,
        (*(r for r in records[:-1] if r not in known), latest),
        module,
        commit,
        tuple(
            _difference_lines(
                CurrentRevision.read(root, target, find), module, known[-1] if known else None
            )
        ),
    )


def _difference_lines(
    place: CurrentRevision, module: Path, before: PromotionRecord | None
) -> Iterator[str]:
    """Yield the lines of a unified difference, at most `MOST_LINES` and a line that counts the
    rest.
    """
    now = (_read_bytes(module) or b"").decode("utf-8", "replace").splitlines()
    name, was = "nothing that you approved", ""
    if before:
        name = f"{before.version} ({before.id})"
        was = (_archived_bytes(place, before) or b"").decode("utf-8", "replace")
        name += "" if was else ", whose bytes are not kept"
    lines = difflib.unified_diff(was.splitlines(), now, name, str(module), lineterm="")
    shown = list(lines)
    yield from shown[:MOST_LINES]
    if len(shown) > MOST_LINES:
        yield f"... and {counted(len(shown) - MOST_LINES, 'more line')}"


def _archived_bytes(place: CurrentRevision, record: PromotionRecord) -> bytes | None:
    try:
        return place.bytes_of(record.tool_hash)
    except PulsusError:
        return None


def _read_bytes(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None
