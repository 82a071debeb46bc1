"""Compare the changelogs with the records: `pulsus audit` (spec §10). Effect: reads files.

Entries are written by `core/storage/records/changelog.py`.

A changelog is for people and decides nothing, so a difference is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pulsus.core.storage.records import changelog, version_archive
from pulsus.core.storage.records.change_set import entry_of
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import PulsusError
from pulsus.late_pattern import late_pattern
from pulsus.routing.maintenance.audit_catalogue import AuditFinding, RecordedTools

_HEADING = late_pattern(r"^## (?!\[?Unreleased\]?)", re.M | re.I)
_FIX = "restore it from version control; the records in metadata.jsonl are what counts"


def audit_changelogs(root: Path, found: RecordedTools) -> Iterator[AuditFinding]:
    """Yield entries that a record has no entry for, or that no record has. Raises nothing."""
    wanted: dict[tuple[str, ...], list[str]] = {}
    for records in found.records.values():
        for number, record in enumerate(records):
            entry = changelog.render_entry(entry_of(record, first=number == 0))
            wanted.setdefault(_area(record), []).append(entry.strip())
    for area, entries in sorted(wanted.items()):
        path = root.joinpath(*area, changelog.FILE_NAME)
        try:
            text = (version_archive.read_file(root, area, changelog.FILE_NAME) or b"").decode(
                "utf-8", "replace"
            )
        except PulsusError as failure:
            yield AuditFinding(
                "CHANGELOG_CHANGED", "warning", path, None, None, failure.message, _FIX
            )
            continue
        reason = _difference(text, entries)
        if reason:
            yield AuditFinding("CHANGELOG_CHANGED", "warning", path, None, None, reason, _FIX)


def _difference(text: str, wanted: list[str]) -> str:
    starts = [match.start() for match in _HEADING.finditer(text)]
    ends = [*starts[1:], len(text)]
    there = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    missing = [entry for entry in wanted if entry not in there]
    extra = [entry for entry in there if entry not in wanted]
    if missing:
        return f"records without their entry: {len(missing)}, first: {_title(missing[0])}"
    if extra:
        return f"entries without a record: {len(extra)}, first: {_title(extra[0])}"
    return ""


def _title(entry: str) -> str:
    return entry.partition("\n")[0].removeprefix("## ")


def _area(record: PromotionRecord) -> tuple[str, ...]:
    domain = None if record.domain == "shared" else record.domain
    return Target(domain, record.action, record.name.removesuffix(".py")).area
