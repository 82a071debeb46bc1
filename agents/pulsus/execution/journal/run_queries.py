"""Read runs and their steps from `state.db` (ADR 42). Effect: reads the database.

A run that is recorded as running, and whose process has ended (a crash), is read as `interrupted`
here. `cli/plan/run_lines.py` prints runs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pulsus.core.storage.state_db.state_db import FILE, damaged_error
from pulsus.core.types import Verification
from pulsus.execution.journal.run_folder import SavedResult, is_owned
from pulsus.execution.journal.run_records import (
    PersonNeeded,
    RunRecord,
    RunState,
    RunSummary,
    StepRecord,
    StepState,
)

RUN_STATES: tuple[str, ...] = get_args(RunState)
STEP_STATES: tuple[str, ...] = get_args(StepState)
WHOLE_STEP = -1
"""The number of the row of a whole step; its items have rows from 0."""

_RUN = (
    "number, run_id, state, request, started_at, ended_at, approval_id, waiting_step, "
    "waiting_item, waiting_why, waiting_since, waiting_until, waiting_who"
)


def list_runs(database: sqlite3.Connection, state_dir: Path, limit: int) -> tuple[RunSummary, ...]:
    """Return the latest runs, newest first. Raises sqlite3.Error, StateCorrupt."""
    # By number: a clock that jumped back must not hide the newest run.
    rows = database.execute(f"SELECT {_RUN} FROM runs ORDER BY number DESC LIMIT ?", (limit,))
    return tuple(_summary(database, state_dir, row) for row in rows.fetchall())


def read_run(
    database: sqlite3.Connection, state_dir: Path, run_id: str, *, owned: bool
) -> RunRecord | None:
    """Return one run with its steps, or None. Raises sqlite3.Error, StateCorrupt."""
    row = database.execute(
        f"SELECT {_RUN}, plan, inputs, facts, error FROM runs WHERE run_id = ?", (run_id,)
    ).fetchone()
    if row is None:
        return None
    plan, inputs, facts, error = row[13:]
    columns = database.execute(
        "SELECT step, item, state, is_write, seq, attempt, items, started_at, ended_at, "
        "duration_ms, inputs, result_file, sha256, verification, confinement, reason, error "
        "FROM steps WHERE run = ? ORDER BY position, item",
        (row[0],),
    )
    return RunRecord(
        run_id=row[1],
        state=row[2] if owned else _true_state(state_dir, row[1], row[2]),
        request=row[3],
        plan=plan,
        inputs=_parse(state_dir, inputs) or {},
        facts=_parse(state_dir, facts) or {},
        started_at=row[4],
        ended_at=row[5],
        error=_parse(state_dir, error),
        needs=_person_needed(row),
        steps=tuple(_step(state_dir, found) for found in columns),
    )


def journal_results(database: sqlite3.Connection, number: int) -> Iterator[SavedResult]:
    """Yield the results of a run that the journal keeps, one by one. Raises sqlite3.Error."""
    rows = database.execute(
        "SELECT result_file, sha256, kept_result FROM steps "
        "WHERE run = ? AND kept_result IS NOT NULL",
        (number,),
    )
    for name, sha256, kept in rows:
        yield SavedResult(name, sha256, kept)


def _summary(database: sqlite3.Connection, state_dir: Path, row: tuple[Any, ...]) -> RunSummary:
    counts = database.execute(
        "SELECT state, count(*) FROM steps WHERE run = ? AND item = ? GROUP BY state",
        (row[0], WHOLE_STEP),
    )
    return RunSummary(
        run_id=row[1],
        state=_true_state(state_dir, row[1], row[2]),
        request=row[3],
        started_at=row[4],
        ended_at=row[5],
        counts=dict(counts.fetchall()),
        needs=_person_needed(row),
    )


def _true_state(state_dir: Path, run_id: str, state: RunState) -> RunState:
    _require_state(state_dir, state, RUN_STATES)
    if state == "running" and not is_owned(state_dir, run_id):
        return "interrupted"
    return state


def _person_needed(row: tuple[Any, ...]) -> PersonNeeded | None:
    approval, step, item, why, since, until, who = row[6:13]
    if row[2] != "waiting" or approval is None:
        return None
    return PersonNeeded(approval, step, why, since, until, who, item)


def _step(state_dir: Path, row: tuple[Any, ...]) -> StepRecord:
    verification = _parse(state_dir, row[13])
    _require_state(state_dir, row[2], STEP_STATES)
    return StepRecord(
        step=row[0],
        item=None if row[1] == WHOLE_STEP else row[1],
        state=row[2],
        is_write=bool(row[3]),
        seq=row[4],
        attempt=row[5],
        items=row[6],
        started_at=row[7],
        ended_at=row[8],
        duration_ms=row[9],
        inputs=_parse(state_dir, row[10]),
        result_file=row[11],
        sha256=row[12],
        verification=_read_verification(verification) if verification else None,
        confinement=_parse(state_dir, row[14]) or {},
        reason=row[15],
        error=_parse(state_dir, row[16]),
    )


def _read_verification(found: dict[str, Any]) -> Verification:
    tool = found.get("tool")
    known = tool if isinstance(tool, str) else None
    # Anything but `true` is no success: a damaged row must not verify a write.
    return Verification(known, found.get("ok") is True, str(found.get("reason", "")))


def _require_state(state_dir: Path, state: str, known: tuple[str, ...]) -> None:
    if state not in known:
        raise damaged_error(
            state_dir / FILE, f"is damaged: {state[:40]!r} is no state of a run or step"
        )


def _parse(state_dir: Path, text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise damaged_error(
            state_dir / FILE, f"is damaged: a run holds {text[:40]!r}, which is no JSON object"
        )
    return found
