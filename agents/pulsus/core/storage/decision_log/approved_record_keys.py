"""Find the catalogue's records that a line of the decision log approves (ADR 31). Pure.

`core/storage/record_status.py` decides from them if a record is approved.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.core.storage.decision_log.log_record import LogRecord
from pulsus.core.storage.records import record_key

BEGIN = "log"
"""The first record of a log, with the records that the catalogue had then."""

ACCEPT = "accept"
"""The record behind an accepted damage."""

MORE = "accepted"
"""A further record with keys that the record before it had no room for."""

STARTER = "init"
"""The record of `pulsus init`, with the promotions that came with the starter tools."""

RECORDS = "accept-records"
"""Records of the catalogue that a person looked at and accepted."""

DECISIONS = frozenset({"promote", "rollback", "deprecate", "reinstate", "remove"})

_LISTS = frozenset({BEGIN, ACCEPT, MORE, STARTER, RECORDS})


def accepted_keys(record: LogRecord) -> Iterator[str]:
    """Yield the keys that the record lists: it approves them although the log never made them."""
    if record.kind in _LISTS:
        yield from (key for _, key in record_key.pairs(record.data.get("records")))


def approved_keys(record: LogRecord) -> Iterator[tuple[str | None, str]]:
    """Yield tool and key of every record of the catalogue that this line approves."""
    tool = record.data.get("tool")
    if record.key and record.kind in DECISIONS and isinstance(tool, str):
        yield tool, record.key
    if record.kind in _LISTS:
        yield from record_key.pairs(record.data.get("records"))
