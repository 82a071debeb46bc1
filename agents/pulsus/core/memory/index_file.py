"""Word counts and a segment of past requests as one file's bytes, and back (spec §13). Pure.

Opening it parses only the head: every column is a view of the bytes.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pulsus.core.memory.request_index import Segment, WordCounts

FORMAT = 2
"""Raised when the columns, or what requests are compared by, change."""

_Type = Literal["B", "I", "Q", "d"]

_COLUMNS: Mapping[str, _Type] = {
    "counted": "Q",
    "in_requests": "I",
    "in_tools": "I",
    "keys": "Q",
    "request_at": "I",
    "request": "I",
    "tool_at": "I",
    "tool": "I",
    "firm": "d",
    "fading": "d",
    "lengths": "d",
    "verdict_at": "I",
    "verdict_tool": "I",
    "verdict": "d",
    "verdict_time": "d",
    "text_at": "I",
    "text": "B",
}
"""In the order of the file; each begins at a multiple of 8."""


def to_bytes(counts: WordCounts, segment: Segment, told: Mapping[str, Any]) -> bytes:
    """The file. `told` are JSON values to get back with it: what it was made of."""
    parts = [_bytes(_column(name, counts, segment)) for name in _COLUMNS]
    body = b"".join(part + bytes(-len(part) % 8) for part in parts)
    head = {
        "format": FORMAT,
        "order": sys.byteorder,
        "sum": zlib.crc32(body),
        "sizes": [len(part) for part in parts],
        "requests": counts.requests,
        "known": counts.known,
        "relative": dict(counts.sizes),
        "half_life": segment.half_life,
        "latest": segment.latest,
        "ids": list(segment.ids),
        "told": dict(told),
    }
    line = json.dumps(head, separators=(",", ":")).encode()
    return line + b" " * (-(len(line) + 1) % 8) + b"\n" + body


def from_bytes(data: bytes) -> tuple[WordCounts, Segment, Mapping[str, Any]] | None:
    """What `to_bytes` was given; None for damaged bytes, or another format or machine's."""
    try:
        end = data.index(b"\n") + 1
        head = json.loads(data[:end])
        body = memoryview(data)[end:]
        if (head["format"], head["order"]) != (FORMAT, sys.byteorder):
            return None
        if zlib.crc32(body) != head["sum"]:
            return None
        columns = _views(body, head["sizes"])
        return _counts(head, columns), _segment(head, columns), head["told"]
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError):
        return None


def of_another_format(data: bytes) -> bool:
    """Whether the bytes say they are of another format or machine: they are not damaged."""
    try:
        head = json.loads(data[: data.index(b"\n")])
        return bool((head["format"], head["order"]) != (FORMAT, sys.byteorder))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return False


def _column(name: str, counts: WordCounts, segment: Segment) -> Sequence[float] | bytes:
    if name == "counted":
        return counts.keys
    column: Sequence[float] | bytes
    column = getattr(counts if name in ("in_requests", "in_tools") else segment, name)
    return column


def _bytes(column: Sequence[float] | bytes) -> bytes:
    return column.tobytes() if isinstance(column, array | memoryview) else bytes(column)  # type: ignore[arg-type]


def _views(body: memoryview, sizes: Sequence[int]) -> dict[str, Any]:
    """Each column by name."""
    found, at = {}, 0
    for (name, kind), size in zip(_COLUMNS.items(), sizes, strict=True):
        found[name] = body[at : at + size].cast(kind)
        at += size + -size % 8
    return found


def _counts(head: Mapping[str, Any], columns: Mapping[str, Any]) -> WordCounts:
    return WordCounts(
        requests=int(head["requests"]),
        known=float(head["known"]),
        sizes=head["relative"],
        keys=columns["counted"],
        in_requests=columns["in_requests"],
        in_tools=columns["in_tools"],
    )


def _segment(head: Mapping[str, Any], columns: Mapping[str, Any]) -> Segment:
    own = {name: view for name, view in columns.items() if name in Segment.__dataclass_fields__}
    return Segment(
        half_life=float(head["half_life"]),
        latest=float(head["latest"]),
        ids=tuple(head["ids"]),
        **own,
    )
