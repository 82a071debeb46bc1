"""Tools that another is to be used instead of (spec §10). Pure.

A tool is marked as deprecated in `core/storage/promotion/deprecate.py`.

While anything else answers a request they are no candidates; after their sunset they never are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import date

from pulsus.core.rankers.ranking_protocol import RankingEngine
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.types import ToolSpec
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Deprecations:
    """The last record of every deprecated tool, by id, and the day it is (UTC)."""

    today: date
    records: Mapping[str, PromotionRecord] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[PromotionRecord], today: date) -> Deprecations:
        """Read the deprecations from promotion records, oldest first."""
        latest = {record.tool_id: record for record in records}
        return cls(today, {tool: r for tool, r in latest.items() if r.deprecated})

    @property
    def retired(self) -> frozenset[str]:
        """Ids of the tools whose sunset has passed."""
        return frozenset(tool for tool in self.records if self._is_over(tool))

    def note(self, tool_id: str) -> str | None:
        """Return the note on a deprecated tool, in one line; None if it is not deprecated."""
        record = self.records.get(tool_id)
        if record is None:
            return None
        until = ""
        if record.sunset:
            verb = "no longer selected since" if self._is_over(tool_id) else "not selected after"
            until = f"; {verb} {record.sunset}"
        return f"{tool_id} is deprecated: use {record.replacement}{until}"

    def notes(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """Return the notes of those among the tools that are deprecated."""
        return tuple(note for tool in tools if (note := self.note(tool.id)))

    def without(self, index: RankingEngine, *, sunset_only: bool = False) -> RankingEngine:
        """Return the index where the deprecated tools are no candidates, or only the retired
        ones.
        """
        hidden = self.retired if sunset_only else frozenset(self.records)
        return index.hiding(hidden) if hidden else index

    def _is_over(self, tool_id: str) -> bool:
        sunset = self.records[tool_id].sunset
        return sunset is not None and self.today > date.fromisoformat(sunset)
