"""The name under which the decision log knows a record of the catalogue (ADR 31). Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from pulsus.core.storage.records import promotion_records
from pulsus.core.types import JsonValue

BATCH = 500
"""Keys in one record of the log: a line has room for so many with their tools."""


def decision_key(record: promotion_records.PromotionRecord) -> str:
    """Return the record's revision and the digest of its line."""
    line = promotion_records.format_record(record).encode("utf-8")
    return f"{record.id}:{hashlib.sha256(line).hexdigest()[:16]}"


def by_tool(records: Iterable[promotion_records.PromotionRecord]) -> Iterator[dict[str, JsonValue]]:
    """Yield the keys of the records by tool, `BATCH` at a time and at least one mapping."""
    found: dict[str, list[JsonValue]] = {}
    count = 0
    for record in records:
        found.setdefault(record.tool_id, []).append(decision_key(record))
        count += 1
        if count % BATCH == 0:
            yield {**found}
            found = {}
    if found or not count:
        yield {**found}


def pairs(listed: JsonValue | Mapping[str, JsonValue]) -> Iterator[tuple[str | None, str]]:
    """Yield tool and key of a list of keys, whose tools are unknown, or of keys by tool."""
    if isinstance(listed, list):
        yield from ((None, key) for key in listed if isinstance(key, str))
    elif isinstance(listed, dict):
        for tool, keys in listed.items():
            for key in keys if isinstance(keys, list) else ():
                if isinstance(key, str):
                    yield tool, key
