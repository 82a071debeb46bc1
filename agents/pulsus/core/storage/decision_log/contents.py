"""Which tools and modules the decision log speaks of. Effect: reads files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pulsus.core.storage.decision_log import decision_log, log_record
from pulsus.errors import storage_error

_DECISIONS = frozenset({"promote", "rollback", "deprecate", "reinstate"})


def logged_tools(folder: Path) -> frozenset[str]:
    """The id of every tool that a decision in the log is about. Raises StorageUnwritable."""
    found = set[str]()
    for record in _records(folder, b'"tool"'):
        tool = record.data.get("tool")
        if record.kind in _DECISIONS and isinstance(tool, str) and tool.count("/") == 2:
            found.add(tool)
    return frozenset(found)


def logged_generation(folder: Path, sha256: str) -> bool:
    """True if the log holds that a module of these bytes was generated and accepted."""
    return any(
        record.kind == "generate"
        and record.data.get("sha256") == sha256
        and record.data.get("accepted") is True
        for record in _records(folder, sha256.encode("ascii"))
    )


def _records(folder: Path, text: bytes) -> Iterator[log_record.Record]:
    """Every valid record whose line holds `text`."""
    for path in log_record.segments(folder):
        try:
            with log_record.open_file(path) as file:
                while line := file.readline(decision_log.MAX_LINE_BYTES + 1):
                    record = log_record.valid(line[:-1]) if text in line else None
                    if record:
                        yield record
        except OSError as failure:
            raise storage_error(failure, path) from failure
