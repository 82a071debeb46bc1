"""The project in figures, for the first page of `pulsus serve`: catalogue, cluster, decisions.

A tool needs a look if it changed since its promotion, failed more often than it was accepted, is
deprecated, incomplete or broken.
"""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pulsus.core.storage.decision_log import log_reader
from pulsus.errors import storage_errors

if TYPE_CHECKING:
    from pulsus.bootstrap.app import App
    from pulsus.core.storage.decision_log.log_record import LogRecord

_LISTED: Final = 5
"""Tools, alerts and nodes that are named; more of them are counted."""
_TAIL_BYTES: Final = 64 * 1024


def catalogue_health(app: App) -> dict[str, Any]:
    """Return the counts of the catalogue, and `faults`: what needs a person, with some names.

    `app` is a fresh copy. Raises what reading the catalogue raises.
    """
    tools, records, history = app.catalogue.tools, app.past.shown_records, app.past.history
    latest = {tool.id: records.get(tool.id) for tool in tools}
    failing = [
        tool.id
        for tool in tools
        if (past := history.get(tool.id)) is not None and past.failed > past.accepted
    ]
    changed = [
        tool.id
        for tool in tools
        if (record := latest[tool.id]) is not None and record.tool_hash != f"sha256:{tool.sha256}"
    ]
    gone = [t.id for t in tools if (record := latest[t.id]) is not None and record.deprecated]
    return {
        "tools": len(tools),
        "kinds": dict(sorted(Counter(tool.kind for tool in tools).items())),
        "promoted": sum(record is not None for record in latest.values()),
        "faults": [
            *_fault("changed since they were promoted", changed),
            *_fault("failed more often than they were accepted", failing),
            *_fault("deprecated", gone),
            *_fault("without a part of their contract", _incomplete(app)),
            *_fault("invalid files", [_relative(app, each.path) for each in app.catalogue.broken]),
        ],
    }


def cluster_state(app: App) -> dict[str, Any]:
    """Return the nodes, alerts and silent sources of the knowledge base, as they hold now.

    Raises what reading the facts raises.
    """
    loaded = app.knowledge.load()
    view = loaded.facts.at(loaded.now)
    names = view.node_names()
    health = {name: view.health(name) for name in names}
    alerts = [
        {
            "node": name,
            "condition": alert.condition,
            "source": alert.provenance.source,
            "age_seconds": max(0, int(alert.provenance.age_seconds(loaded.now))),
        }
        for name in names
        for alert in view.alerts(name)
    ]
    return {
        "nodes": len(names),
        "vms": len(view.vms()),
        "health": dict(sorted(Counter(health.values()).items())),
        "unwell": [
            {"node": name, "health": state} for name, state in health.items() if state != "nominal"
        ],
        "alerts": sorted(alerts, key=lambda each: each["age_seconds"]),
        "silent": [{"source": each.name, "reason": each.reason} for each in loaded.failures],
        "has_files": bool(app.settings.kb.files),
    }


def latest_records(folder: Path, count: int) -> list[LogRecord]:
    """Return the last records of the decision log, newest first. Reads no more than it needs.

    Raises StorageUnwritable.
    """
    found: list[LogRecord] = []
    for path in reversed(log_reader.segments(folder)):
        with storage_errors(path):
            found += _last_of(path, count - len(found))
        if len(found) >= count:
            break
    return found


def _last_of(path: Path, count: int) -> list[LogRecord]:
    size, tail = path.stat().st_size, _TAIL_BYTES
    while True:
        # A line that begins before the start is cut, so it is no valid record.
        start = max(0, size - tail)
        found = deque(log_reader.read_records(path, start=start), count)
        if len(found) >= count or start == 0:
            return [*reversed(found)]
        tail *= 8


def _relative(app: App, path: Path) -> str:
    return str(path.relative_to(app.project) if path.is_relative_to(app.project) else path)


def _incomplete(app: App) -> list[str]:
    return [tool.id for tool in app.catalogue.tools if tool.missing_sections]


def _fault(what: str, names: list[str]) -> list[dict[str, Any]]:
    if not names:
        return []
    return [{"what": what, "count": len(names), "names": names[:_LISTED]}]
