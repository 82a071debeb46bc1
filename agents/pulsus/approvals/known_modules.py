"""Find duplicates: compare a module with the tools that the project knows (ADR 9). Effect: files.

An automatic approval is for new tools. A tool is not new if the catalogue or the decision log knows
its id, if a promoted tool has its name, or if it repeats a promoted tool: its bytes, its summary or
most of its lines (60 %). `unattended.py` then refuses the automatic approval. A generated module's
name that is taken is refused in `routing/generation/generation_run.py`; alike tools of a catalogue
are found in `routing/maintenance/similar_descriptions.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import Target

_LEAST_LINE = 12
"""Fewest characters of a line that counts: shorter lines occur in every module."""

_LEAST_LINES = 6
_SHARE = 0.6
"""Share of equal lines from which two modules count as one. Shipped tools reach 0.48."""


@dataclass(frozen=True, slots=True)
class Novelty:
    """The reasons why a module is not new.

    `known` is what the records say of its own id, `repeats` names the promoted tool it resembles.
    Both are one clause, or "" if there is nothing.
    """

    known: str = ""
    repeats: str = ""


def assess_novelty(
    root: Path, target: Target, source: bytes, summary: str, logged: Collection[str]
) -> Novelty:
    """Compare a module with every record of the catalogue at `root`.

    `logged` are the ids that the decision log names. Raises MetadataCorrupt, StorageUnwritable.
    """
    records: dict[str, list[PromotionRecord]] = {}
    for record in promotion_records.read_all(root):
        records.setdefault(record.tool_id, []).append(record)
    own = records.pop(target.tool_id, [])
    known = _known_reason(target, own, logged, version_archive.digest(source))
    others = sorted({*records, *logged} - {target.tool_id})
    return Novelty(known, _repeated_tool(root, target, source, summary, records, others))


def _known_reason(
    target: Target, own: list[PromotionRecord], logged: Collection[str], digest: str
) -> str:
    tool = target.tool_id
    if not own:
        return f"{tool} is in the decision log, but not in metadata.jsonl" * (tool in logged)
    latest = own[-1]
    if latest.removed:
        return f"{tool} was removed ({latest.id})"
    if latest.tool_hash != digest:
        back = any(record.tool_hash == digest for record in own)
        what = "holds the bytes of an older version" if back else "was changed"
        return f"{tool} {what} since it was promoted as {latest.version} ({latest.id})"
    if latest.deprecated:
        return f"{tool} is deprecated"
    return f"{tool} is on record as {latest.version} ({latest.id})"


def _repeated_tool(
    root: Path,
    target: Target,
    source: bytes,
    summary: str,
    records: dict[str, list[PromotionRecord]],
    others: Iterable[str],
) -> str:
    name, digest = _bare_name(target.name), version_archive.digest(source)
    lines = _significant_lines(source)
    summary_words = _normalize_words(summary)
    for tool in others:
        if _bare_name(tool.rpartition("/")[2]) == name:
            return f"{tool} has the same name"
        for record in records.get(tool, ()):
            if record.tool_hash == digest:
                return f"its bytes are those of {tool} {record.version}"
        latest = records[tool][-1] if tool in records else None
        if latest and summary_words and _normalize_words(latest.description) == summary_words:
            return f"its summary is that of {tool}"
        if latest and any(
            _is_mostly_equal(lines, _significant_lines(old))
            for old in _recorded_bytes(root, latest)
        ):
            return f"most of its lines are those of {tool}"
    return ""


def _is_mostly_equal(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    """Return True if one of the two modules consists mostly of the other's lines."""
    least = min(len(one), len(other))
    return least >= _LEAST_LINES and len(one & other) >= _SHARE * least


def _significant_lines(source: bytes) -> frozenset[bytes]:
    stripped = (line.strip() for line in source.splitlines())
    return frozenset(line for line in stripped if len(line) >= _LEAST_LINE)


def _recorded_bytes(root: Path, record: PromotionRecord) -> Iterable[bytes]:
    domain = None if record.domain == "shared" else record.domain
    place = Target(domain, record.action, record.name.removesuffix(".py"))
    found = version_archive.read_file(root, place.folders, record.name)
    if found is not None:
        yield found


def _bare_name(name: str) -> str:
    return name.replace("_", "").casefold()


def _normalize_words(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
