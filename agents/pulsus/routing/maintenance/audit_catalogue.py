"""Compare the catalogue with its records: `pulsus audit` (spec §10, §17). Effect: reads files.

Finds promoted files that were changed (hash mismatch) or are missing. A run refuses such a tool in
`routing/runs/run_checks.py`. The hash chain of the log is checked in
`core/storage/decision_log/verify_log.py`.

Every file is read again; the index does not count. `routing/maintenance/audit_log.py` compares the
records with the decision log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records import version_archive as versions
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import PlanStep, ToolSpec
from pulsus.errors import MetadataCorrupt, PulsusError, TargetRefused
from pulsus.late_pattern import late_pattern

Level = Literal["error", "warning", "info"]
LEVELS: tuple[Level, ...] = ("error", "warning", "info")

_KEPT = late_pattern(r"(\w+)-([0-9a-f]{64})\.py", re.ASCII)
_RECORDS = "restore metadata.jsonl from version control"
_REMOVED = "delete the file, or promote it again"
_RESTORE = "restore the file from version control, or promote it as it is now"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing that is not as it was recorded. `code` is stable; `reason` and `fix` are one line.

    `line` counts from 1; it, `path` and `tool` are None if it is about no single one. `records`
    are tool and revision of each that one finding is about together.
    """

    code: str
    level: Level
    path: Path | None
    line: int | None
    tool: str | None
    reason: str
    fix: str
    records: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedTools:
    """Every record of the catalogue by tool id, oldest first, and files that cannot be read."""

    records: Mapping[str, tuple[PromotionRecord, ...]]
    unreadable: tuple[AuditFinding, ...]

    @property
    def latest(self) -> dict[str, PromotionRecord]:
        """The last record of each tool."""
        return {tool: found[-1] for tool, found in self.records.items()}


@dataclass(frozen=True, slots=True)
class CatalogueAudit:
    """Counts of the tools, compositions and versions that were compared, and the findings."""

    promoted: int
    compositions: int
    versions: int
    findings: tuple[AuditFinding, ...]


def read_records(root: Path) -> RecordedTools:
    """Read every record of the catalogue at `root`. Raises StorageUnwritable."""
    records: dict[str, tuple[PromotionRecord, ...]] = {}
    unreadable = []
    for path in promotion_records.list_record_files(root):
        try:
            found = promotion_records.read_records(path)
        except MetadataCorrupt as failure:
            line = failure.message.removeprefix(f"{path}:").partition(":")[0]
            number = int(line) if line.isdecimal() else None
            reason = failure.message.removeprefix(f"{path}:{line}:").strip()
            unreadable.append(
                AuditFinding(
                    "RECORDS_UNREADABLE", "error", path, number, None, reason, failure.hint
                )
            )
            continue
        for record in found:
            if _record_place(record, root) == path.parent:
                records[record.tool_id] = (*records.get(record.tool_id, ()), record)
                continue
            reason = f"{record.id} is a record of {record.tool_id}, which has another folder"
            unreadable.append(
                _error_finding("RECORD_MISPLACED", path, record.tool_id, reason, _RECORDS)
            )
    return RecordedTools(records, tuple(unreadable))


def audit_catalogue(root: Path, found: RecordedTools, tools: Sequence[ToolSpec]) -> CatalogueAudit:
    """Return every promoted file against its record, composition against its steps, and kept
    version.

    `tools` are those that discovery finds: one without a record is only noted.
    """
    check = _CatalogueCheck(root, found, {tool.id: tool for tool in tools})
    findings = [*found.unreadable, *check.files(), *check.compositions(), *check.unrecorded()]
    kept = list(check.judge_versions())
    findings += [finding for finding in kept if finding]
    findings += check.lost_versions()
    composed = sum(1 for steps in check.plans.values() if steps)
    promoted = sum(1 for record in found.latest.values() if not record.removed)
    return CatalogueAudit(promoted, composed, len(kept), tuple(findings))


class _CatalogueCheck:
    """The comparison of one catalogue; each promoted file is read once."""

    def __init__(self, root: Path, found: RecordedTools, tools: Mapping[str, ToolSpec]) -> None:
        self.root = root
        self.found = found
        self.tools = tools
        self.hashes: dict[str, str] = {}
        self.plans: dict[str, tuple[PlanStep, ...]] = {}

    def files(self) -> Iterator[AuditFinding]:
        """Promoted files that are gone, changed, or no files."""
        for tool, record in sorted(self.found.latest.items()):
            path = record_path(record, self.root)
            try:
                source = versions.read_file(self.root, _record_folders(record), record.name)
            except PulsusError as failure:
                yield _error_finding("UNREADABLE", path, tool, failure.message, failure.hint)
                continue
            if record.removed:
                if source is not None:
                    reason = (
                        f"it was removed with {_revision_text(record)}, and the file is there again"
                    )
                    yield _error_finding("REMOVED", path, tool, reason, _REMOVED)
                continue
            if source is None:
                reason = f"{_revision_text(record)} is on record, and there is no such file"
                yield _error_finding("MISSING", path, tool, reason, _RESTORE)
                continue
            self.hashes[tool] = versions.digest(source)
            if self.hashes[tool] != record.tool_hash:
                yield _error_finding(
                    "CHANGED", path, tool, self._describe_change(tool, record), _RESTORE
                )
            try:
                plan = read_plan(source) if _may_compose(source) else None
            except PulsusError as failure:
                yield _error_finding("PLAN_UNREADABLE", path, tool, failure.message, failure.hint)
                continue
            self.plans[tool] = plan.steps if plan else ()

    def compositions(self) -> Iterator[AuditFinding]:
        """Yield steps that are not, or no longer, what a promoted composition is pinned to."""
        for tool, steps in sorted(self.plans.items()):
            path = record_path(self.found.latest[tool], self.root)
            for step in steps:
                wrong = self._judge_step(step)
                if wrong:
                    code, level, reason = wrong
                    fix = "route the request again, so that the plan is made from what is there now"
                    yield AuditFinding(code, level, path, None, tool, reason, fix)

    def unrecorded(self) -> Iterator[AuditFinding]:
        """Yield tools that discovery finds and no record knows: nothing runs them."""
        for tool_id, tool in sorted(self.tools.items()):
            if tool_id not in self.found.records:
                reason = "in the catalogue, and never promoted: it will not be run"
                fix = "promote it, or move it away"
                yield AuditFinding("UNRECORDED", "info", tool.path, None, tool_id, reason, fix)

    def judge_versions(self) -> Iterator[AuditFinding | None]:
        """Yield what is wrong with each archived version, or None for one that is right."""
        known = {
            (_record_folders(r), r.name.removesuffix(".py"), r.tool_hash)
            for records in self.found.records.values()
            for r in records
        }
        for folders in sorted(
            {(*_record_folders(r), versions.FOLDER) for r in self._all_records()}
        ):
            for path in sorted(self.root.joinpath(*folders).glob("*.py")):
                yield self._judge_version(path, folders, known)

    def lost_versions(self) -> Iterator[AuditFinding]:
        """Yield older versions whose bytes are nowhere."""
        for tool, records in sorted(self.found.records.items()):
            for record in {r.tool_hash: r for r in records}.values():
                name = versions.file_name(record.name.removesuffix(".py"), record.tool_hash)
                path = self.root.joinpath(*_record_folders(record), versions.FOLDER, name)
                replaced = records[-1].removed or record.tool_hash != records[-1].tool_hash
                if replaced and not path.is_file():
                    reason = (
                        f"the bytes of {_revision_text(record)} are not kept: no rollback to it"
                    )
                    fix = "restore the file from version control, if it was there"
                    yield AuditFinding("VERSION_MISSING", "warning", path, None, tool, reason, fix)

    def _all_records(self) -> Iterable[PromotionRecord]:
        return (record for records in self.found.records.values() for record in records)

    def _describe_change(self, tool: str, record: PromotionRecord) -> str:
        older = [r for r in self.found.records[tool] if r.tool_hash == self.hashes[tool]]
        if older:
            return f"it holds the older {_revision_text(older[-1])}, not {_revision_text(record)}"
        recorded = f"{_revision_text(record)} is {_short_hash(record.tool_hash)}"
        return f"it is {_short_hash(self.hashes[tool])}, and {recorded}"

    def _judge_step(self, step: PlanStep) -> tuple[str, Level, str] | None:
        ids = [i for i in self.tools if step.tool in (i, i.rpartition("/")[2])]
        tool = step.tool if step.tool in ids else (ids[0] if len(ids) == 1 else step.tool)
        now = self.hashes.get(tool) or self._unpromoted_hash(tool)
        pinned = f"sha256:{step.sha256}"
        if now is None:
            gone = self.found.latest.get(tool)
            when = f": it was removed with {_revision_text(gone)}" if gone and gone.removed else ""
            return "STEP_MISSING", "error", f"step {step.id}: there is no {step.tool}{when}"
        if now == pinned:
            return None
        records = self.found.records.get(tool, ())
        once = [r for r in records if r.tool_hash == pinned]
        if once and records[-1].tool_hash == now:
            made, now = _revision_text(once[-1]), _revision_text(records[-1])
            reason = f"step {step.id}: made with {made} of {tool}, now {now}"
            return "STEP_OLDER", "warning", reason
        was = _short_hash(pinned)
        reason = f"step {step.id}: {tool} is {_short_hash(now)}, the plan is pinned to {was}"
        return "STEP_CHANGED", "error", reason

    def _unpromoted_hash(self, tool: str) -> str | None:
        found = self.tools.get(tool)
        try:
            return versions.digest(found.path.read_bytes()) if found else None
        except OSError:
            return None

    def _judge_version(
        self, path: Path, folders: tuple[str, ...], known: set[tuple[tuple[str, ...], str, str]]
    ) -> AuditFinding | None:
        said = _KEPT.fullmatch(path.name)
        wanted = f"sha256:{said[2]}" if said else None
        try:
            source = versions.read_file(self.root, folders, path.name)
        except PulsusError as failure:
            return _error_finding("UNREADABLE", path, None, failure.message, failure.hint)
        if source is None or wanted is None or versions.digest(source) != wanted:
            reason = "it does not hold the bytes it is named after"
            return _error_finding(
                "VERSION_CHANGED", path, None, reason, "restore it from version control"
            )
        if said and (folders[:-1], said[1], wanted) not in known:
            fix = "nothing needs it; remove it, or restore the record"
            return AuditFinding(
                "VERSION_UNKNOWN", "info", path, None, None, "no record names it", fix
            )
        return None


def _may_compose(source: bytes) -> bool:
    """Return True if it may be a composition: that names `pulsus`, maybe in other letters."""
    return b"pulsus" in source or not source.isascii()


def _error_finding(code: str, path: Path, tool: str | None, reason: str, fix: str) -> AuditFinding:
    return AuditFinding(code, "error", path, None, tool, reason, fix)


def record_path(record: PromotionRecord, root: Path) -> Path:
    """Return where the module of a record lies in the catalogue at `root`."""
    return root.joinpath(*_record_folders(record), record.name)


def _record_folders(record: PromotionRecord) -> tuple[str, ...]:
    domain = None if record.domain == "shared" else record.domain
    return Target(domain, record.action, record.name.removesuffix(".py")).folders


def _record_place(record: PromotionRecord, root: Path) -> Path | None:
    try:
        return root.joinpath(*_record_folders(record))
    except TargetRefused:
        return None


def _revision_text(record: PromotionRecord) -> str:
    return f"{record.version} ({record.id})"


def _short_hash(tool_hash: str) -> str:
    return f"{tool_hash.removeprefix('sha256:')[:12]}…"
