"""Retention of runs: remove the records and results of old ones (`pulsus gc`, ADR 42).

A run is removed once it is older than `plans.retention_days` (`config/settings.py`);
`routing/maintenance/housekeeping.py` computes the date. Old logs and candidates are removed in
`core/storage/retention.py`.

Effect: deletes rows of `state.db` and folders in `.pulsus/runs/`. A run that waits, is running or
was interrupted stays, and so does one with a step that may have taken effect unseen.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.storage.state_db import state_db
from pulsus.errors import Busy, storage_errors
from pulsus.execution.journal.run_folder import RunFolder, require_plain_name

_ENDED = """
    SELECT run_id FROM runs WHERE state IN ('done', 'failed', 'cancelled') AND ended_at < ?
    AND NOT EXISTS (
        SELECT 1 FROM steps WHERE steps.run = runs.number
        AND state IN ('started', 'in_doubt', 'unverified', 'waiting')
    ) ORDER BY number
"""


@dataclass(frozen=True, slots=True)
class OldRuns:
    """The folders of the runs that were removed, their bytes, and the number of runs remaining."""

    folders: tuple[Path, ...] = ()
    bytes: int = 0
    remaining: int = 0


def remove_old_runs(
    state_dir: Path, project: Path, *, before: datetime, dry_run: bool = False
) -> OldRuns:
    """Remove the runs that ended before this time; with `dry_run` only list them.

    Raises StateCorrupt, Busy, StorageUnwritable.
    """
    if not state_db.has_state_db(state_dir):
        return OldRuns()
    path = state_dir / state_db.FILE
    limit = before.astimezone(UTC).isoformat(timespec="milliseconds")
    folders: list[Path] = []
    size = 0
    with closing(state_db.open_state_db(state_dir, project)) as database:
        with state_db.database_errors(path):
            total = database.execute("SELECT count(*) FROM runs").fetchone()[0]
            found = [row[0] for row in database.execute(_ENDED, (limit,))]
        for run_id in found:
            folder = state_dir / "runs" / require_plain_name(run_id, "the run id")
            own = _count_bytes(folder)
            if not dry_run and not _remove(state_dir, run_id, database, limit):
                continue
            folders.append(folder)
            size += own
    return OldRuns(tuple(folders), size, total - len(folders))


def _remove(state_dir: Path, run_id: str, database: sqlite3.Connection, limit: str) -> bool:
    """Remove one run. Return False if another process took it meanwhile."""
    try:
        owned = RunFolder(state_dir, run_id)
    except Busy:
        return False
    try:
        with state_db.database_errors(state_dir / state_db.FILE):
            # It may have been resumed since it was listed.
            if (run_id,) not in database.execute(_ENDED, (limit,)).fetchall():
                return False
            # The files go first: a kill in between leaves a row, which the next call removes.
            with storage_errors(owned.path):
                shutil.rmtree(owned.path)
            database.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
    finally:
        owned.release()
    return True


def _count_bytes(folder: Path) -> int:
    size = 0
    with suppress(OSError):
        for each in folder.iterdir():
            size += each.lstat().st_size
    return size
