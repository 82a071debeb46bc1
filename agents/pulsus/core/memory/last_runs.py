"""Remember each tool's last run on this machine, in `.pulsus/last_run/`. Effect: files.

`routing/maintenance/staleness.py` reports tools that did not run for long (unused, stale). One
empty file for each tool, whose modification time is its last run. So the folder stays small however
often tools run, and two runs at the same time need no lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.system.state_dir import open_state
from pulsus.errors import storage_errors
from pulsus.fast_dataclass import dataclass

FOLDER = "last_run"

_BEGAN = ".began"
_SEPARATOR = "."
"""Stands for the slashes of an id. A dot is in no name of a tool."""


@dataclass(frozen=True, slots=True)
class LastRuns:
    """The last run of each tool by id, and since when runs are recorded here (None: not yet)."""

    last: Mapping[str, datetime]
    began: datetime | None


def record_runs(state_dir: Path, tools: Iterable[str]) -> None:
    """Record that these tools run now. Raises StorageUnwritable, DiskFull, StateCorrupt."""
    folder = open_state(state_dir).path / FOLDER
    with storage_errors(folder):
        folder.mkdir(exist_ok=True)
        began = folder / _BEGAN
        if not began.exists():
            began.touch()
        for tool in tools:
            (folder / tool.replace("/", _SEPARATOR)).touch()


def read_runs(state_dir: Path) -> LastRuns:
    """Return the last runs; none if nothing ever ran here. Raises StorageUnwritable."""
    folder = state_dir / FOLDER
    last: dict[str, datetime] = {}
    began = None
    with storage_errors(folder):
        for path in folder.iterdir() if folder.is_dir() else ():
            at = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
            if path.name == _BEGAN:
                began = at
            else:
                last[path.name.replace(_SEPARATOR, "/")] = at
    return LastRuns(last, began)
