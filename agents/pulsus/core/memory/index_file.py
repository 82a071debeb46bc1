"""Store word counts and a segment of past requests in one cache file (spec §13). Pure.

`routing/search/past_request_store.py` decides if the cached file is stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulsus.core.memory.request_index import RequestSegment, WordCounts
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import CacheFile

KIND = "memory 4"
"""The number goes up when the columns change, or which requests count and how."""

_COUNTS = ("keys", "in_requests", "in_tools")
_SEGMENT = tuple(RequestSegment.__dataclass_fields__)[3:]
"""The columns of a segment, behind its three values."""


def to_bytes(counts: WordCounts, segment: RequestSegment, sources: Mapping[str, Any]) -> bytes:
    """Return the file. `sources` are JSON values that name what the memory was made from."""
    columns = {f"counts.{name}": getattr(counts, name) for name in _COUNTS}
    columns |= {f"segment.{name}": getattr(segment, name) for name in _SEGMENT}
    values = {
        "counts": [counts.requests, counts.known, dict(counts.sizes)],
        "segment": [segment.half_life, segment.latest, segment.ids],
        "sources": dict(sources),
    }
    return cache_file.pack(KIND, values, columns)


def from_content(content: CacheFile) -> tuple[WordCounts, RequestSegment, Mapping[str, Any]]:
    """Return what `to_bytes` was given. Raises KeyError, TypeError or ValueError for damage."""
    columns, values = content.columns, content.values
    requests, known, sizes = values["counts"]
    half_life, latest, ids = values["segment"]
    counts = WordCounts(
        int(requests), float(known), sizes, *(columns[f"counts.{name}"] for name in _COUNTS)
    )
    segment = RequestSegment(
        float(half_life),
        float(latest),
        tuple(ids),
        *(columns[f"segment.{name}"] for name in _SEGMENT),
    )
    return counts, segment, values["sources"]
