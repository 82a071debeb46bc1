"""Remember past requests of this project (spec §4, §10; ADR 16). Effect: one cache file.

Past routes, and how many are read, are in `core/memory/past_routes.py`; how they fade is in
`core/memory/request_index.py`. This cache is stale if tools, half-life or earlier rows differ.

Example requests of manifests come first and never fade; past routes follow. `memory.bin` holds the
counts. Newer requests are counted at every start as long as they are few.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pulsus
from pulsus.core.contract.tool_table import make_columns
from pulsus.core.memory.feedback_weights import weighted_past_requests
from pulsus.core.memory.index_file import KIND, from_content, to_bytes
from pulsus.core.memory.past_routes import PastRoute
from pulsus.core.memory.recall import PastMemory
from pulsus.core.memory.request_index import PastRequest, RequestSegment, WordCounts
from pulsus.core.system import cache_file
from pulsus.core.types import ToolSpec
from pulsus.fast_dataclass import dataclass

FILE_NAME = "memory.bin"

_NEW = 128
"""Requests since the file was written up to which it is used."""


@dataclass(frozen=True, slots=True)
class MemoryStore:
    """Loads and saves the memory. `state_dir` None neither reads nor writes; `now` is aware."""

    half_life_days: float
    now: datetime
    state_dir: Path | None = None

    def memory(self, tools: Sequence[ToolSpec], routes: Sequence[PastRoute]) -> PastMemory:
        """Return the memory of these routes, oldest first, over what the tools' manifests tell."""
        kept = self._kept(make_columns(tools).digest, routes)
        if kept:
            counts, segment, seen = kept
            new = list(weighted_past_requests(routes[seen:], self.half_life_days, routes[:seen]))
            more = (RequestSegment.of(new, counts, self._half_life),) if new else ()
            return PastMemory(counts, (segment, *more), self.now.timestamp())
        rows = [*manifest_requests(tools), *weighted_past_requests(routes, self.half_life_days)]
        memory = self.of(rows, len(tools))
        told = self._told(make_columns(tools).digest, routes) | {"rows": len(rows)}
        if self.state_dir is not None:
            data = to_bytes(memory.counts, memory.segments[0], told)
            cache_file.save(self.state_dir / "index" / FILE_NAME, data)
        return memory

    def of(self, past: Sequence[PastRequest], tools: int) -> PastMemory:
        """Return the memory of these requests, oldest first, in a catalogue of so many tools."""
        counts = WordCounts.of(past, tools)
        segment = RequestSegment.of(past, counts, self._half_life)
        return PastMemory(counts, (segment,), self.now.timestamp())

    @property
    def _half_life(self) -> float:
        return self.half_life_days * 86_400

    def _told(self, digest: str, routes: Sequence[PastRoute]) -> dict[str, Any]:
        """Return everything that a memory is made from, except its number of rows."""
        return {
            "version": pulsus.__version__,
            "tools": digest,
            "half_life_days": self.half_life_days,
            "routes": len(routes),
            "sum": _routes_digest(routes),
        }

    def _kept(
        self, digest: str, routes: Sequence[PastRoute]
    ) -> tuple[WordCounts, RequestSegment, int] | None:
        """Return the kept memory and how many of the routes are in it; None if it is of no use."""
        if self.state_dir is None:
            return None
        found = cache_file.load(self.state_dir / "index" / FILE_NAME, KIND, from_content)
        if found is None:
            return None
        counts, segment, told = found
        seen = told.get("routes")
        if not isinstance(seen, int) or not seen <= len(routes) <= seen + _NEW:
            return None
        if any(route.is_feedback for route in routes[seen:]):
            return None  # a new word bears on what was counted
        rows = told.get("rows")
        if dict(told) != self._told(digest, routes[:seen]) | {"rows": rows}:
            return None
        if not isinstance(rows, int) or rows + len(routes) - seen >= max(1, 2 * counts.requests):
            return None  # memory has doubled: what its words weigh is counted anew
        return counts, segment, seen


def manifest_requests(tools: Iterable[ToolSpec]) -> Iterator[PastRequest]:
    """Yield the example requests of the tools' manifests: they never fade."""
    for tool in tools:
        for request in tool.manifest.requests if tool.manifest else ():
            yield PastRequest(request, (tool.id,))


def accepted_queries(
    rows: Iterable[tuple[str, Sequence[str]]], now: datetime
) -> Iterator[PastRequest]:
    """Yield requests with their right tools as if each had been accepted just now (`--history`)."""
    for request, tools in rows:
        if tools:
            yield PastRequest(request, _once(tools), at=now.timestamp())


def _once(tools: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tools))


def _routes_digest(routes: Sequence[PastRoute]) -> str:
    digest = hashlib.sha256()
    for r in routes:
        told = (r.ts.timestamp(), r.request, r.tools, r.wrong, r.outcome, r.is_feedback)
        digest.update(repr(told).encode("utf-8", "replace"))
    return digest.hexdigest()
