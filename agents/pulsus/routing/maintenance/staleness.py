"""Find tools that do not run or have no owner: `pulsus tools check --stale`.

A stale tool did not run on this machine for the days of `--stale DAYS`. Stale facts are in
`kb/facts.py`, stale rows of the index in `routing/index/file_freshness.py`. The owner of a tool is
read here: of its docstring, manifest or record.

Pure, except that `find_moved_steps` reads the promoted compositions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from pulsus.core.memory.last_runs import LastRuns
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.types import ToolSpec
from pulsus.routing.maintenance import audit_catalogue
from pulsus.routing.maintenance.catalogue_check import CatalogueFinding

_UNUSED = "pulsus tools remove {0}, or deprecate it: pulsus deprecate {0}"
_NO_OWNER = "add a line `Owner: TEAM` to its docstring, or promote it again with --owner TEAM"


def find_not_run(
    tools: Iterable[ToolSpec],
    runs: LastRuns,
    latest: Mapping[str, PromotionRecord],
    *,
    now: datetime,
    days: int,
) -> Iterator[CatalogueFinding]:
    """Yield promoted tools that did not run on this machine in the last `days` days.

    `latest` maps an id to the last record. A tool that was promoted within that time is too young.
    A tool that never ran is only a note if runs are recorded for less than that time: then its
    absence shows nothing.
    """
    since = now - timedelta(days=days)
    for tool in tools:
        record = latest.get(tool.id)
        if record is None or record.removed or record.created > since:
            continue
        last, fix = runs.last.get(tool.id), _UNUSED.format(tool.id)
        if last is None:
            known = runs.began is not None and runs.began <= since
            since_when = (
                f"; runs are recorded since {runs.began:%Y-%m-%d}" if runs.began else " yet"
            )
            reason = f"no run is recorded on this machine{since_when}"
            yield CatalogueFinding(
                "NEVER_RUN", "warning" if known else "info", tool.path, (tool.id,), reason, fix
            )
        elif last < since:
            reason = f"last run on this machine on {last:%Y-%m-%d}, more than {days} days ago"
            yield CatalogueFinding("NOT_RUN", "warning", tool.path, (tool.id,), reason, fix)


def get_owner(tool: ToolSpec, record: PromotionRecord | None) -> str | None:
    """Return the team that maintains the tool: of its docstring, manifest or last record."""
    hinted = tool.manifest.owner if tool.manifest else None
    return tool.owner or hinted or (record.owner if record else None)


def find_unowned(
    tools: Iterable[ToolSpec], latest: Mapping[str, PromotionRecord]
) -> Iterator[CatalogueFinding]:
    """Yield tools for which neither the files nor the last record name an owner."""
    for tool in tools:
        if not get_owner(tool, latest.get(tool.id)):
            reason = "no owner: neither its docstring, its manifest nor its record names one"
            yield CatalogueFinding("NO_OWNER", "warning", tool.path, (tool.id,), reason, _NO_OWNER)


def find_moved_steps(root: Path, tools: Sequence[ToolSpec]) -> Iterator[CatalogueFinding]:
    """Yield promoted compositions at `root` with a step that changed since they were made.

    Raises StorageUnwritable.
    """
    records = audit_catalogue.read_records(root)
    for found in audit_catalogue.audit_catalogue(root, records, tools).findings:
        if found.code.startswith("STEP_") and found.tool:
            yield CatalogueFinding(
                found.code, found.level, found.path, (found.tool,), found.reason, found.fix
            )
