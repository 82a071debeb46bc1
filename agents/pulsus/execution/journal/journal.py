"""The journal of runs in `state.db`: what was started, and how it ended (ADR 42).

The trace of a run is another file, written by `core/telemetry/logging.py`.

Everything about a write is committed at once; reads are collected until `flush`, because a lost
record of a read costs only another read. So a crash loses no write: each is a transaction that is
synced (fsync). The sha256 of a result is checked in `run_folder.py`; a run whose process died is
shown as `interrupted` by `run_queries.py`. The tables are made in
`core/storage/state_db/state_tables.py`. One thread uses a journal. Effect: writes the database.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pulsus.core.storage.state_db import state_db
from pulsus.core.telemetry.ids import Clock
from pulsus.core.types import JsonValue, Verification
from pulsus.errors import PulsusError, RunNotFound
from pulsus.execution.journal import run_queries
from pulsus.execution.journal.run_folder import RunFolder, SavedResult, require_plain_name
from pulsus.execution.journal.run_records import (
    NewRun,
    PersonNeeded,
    RunRecord,
    RunState,
    RunSummary,
    SkipReason,
    StepState,
)

MOST_COLLECTED = 256
"""Changes of reads that are committed together, at most."""

_WHOLE = run_queries.WHOLE_STEP
_Row = tuple[str, Sequence[object]]


class Journal:
    """The journal of one project. Close it.

    `start_run` or `take_run` makes this process the owner of one run; the other methods that
    write are about that run. All raise Busy, DiskFull, StorageUnwritable and StateCorrupt.
    """

    def __init__(self, state_dir: Path, project: Path, clock: Clock) -> None:
        self._state_dir, self._clock = state_dir, clock
        self._path = state_dir / state_db.FILE
        self._db = state_db.open_state_db(state_dir, project)
        self._folder: RunFolder | None = None
        self._number = self._seq = 0
        self._positions: dict[str, tuple[int, bool]] = {}
        self._collected: list[_Row] = []

    @property
    def folder(self) -> RunFolder:
        """The folder of the run that this process owns."""
        assert self._folder is not None, "start or take a run first"
        return self._folder

    def close(self) -> None:
        """Give up the run, and close the database. What was only collected is lost."""
        self.release_run()
        with state_db.database_errors(self._path):
            self._db.close()

    def release_run(self) -> None:
        """Give up the run, so that another process may take it."""
        if self._folder is not None:
            self._folder.release()
        self._folder = None
        self._collected.clear()

    def start_run(self, run: NewRun) -> str:
        """Record a new run with all its steps, own it, and return its id."""
        for step, _ in run.steps:
            require_plain_name(step, "the step id")
        self._folder = RunFolder(self._state_dir, run.run_id)
        self._positions = {step: (n, writes) for n, (step, writes) in enumerate(run.steps)}
        self._seq = 0
        with state_db.database_errors(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            with _rolled_back_on_error(self._db):
                cursor = self._db.execute(
                    "INSERT INTO runs (run_id, state, request, plan, inputs, facts, seq, "
                    "started_at) VALUES (?, 'running', ?, ?, ?, ?, 0, ?)",
                    (
                        run.run_id,
                        run.request,
                        run.plan,
                        _to_text(dict(run.inputs)),
                        _to_text(dict(run.facts)),
                        self._now(),
                    ),
                )
                self._number = cursor.lastrowid or 0
                self._db.executemany(
                    "INSERT INTO steps (run, position, step, item, state, is_write, seq, attempt) "
                    "VALUES (?, ?, ?, ?, 'pending', ?, 0, 0)",
                    [
                        (self._number, n, step, _WHOLE, int(writes))
                        for step, (n, writes) in self._positions.items()
                    ],
                )
                self._db.execute("COMMIT")
        return run.run_id

    def take_run(self, run_id: str) -> RunRecord:
        """Own a run that was started before, set it running, and return what was recorded.

        The state in the record is the one before. Raises RunNotFound, and Busy while another
        process runs it.
        """
        self._require_run(run_id)  # no folder is made for a run that does not exist
        self._folder = RunFolder(self._state_dir, run_id)
        state_db.check_integrity(self._db, self._path)
        record = self.read_run(run_id, owned=True)
        with state_db.database_errors(self._path):
            row = self._db.execute("SELECT number, seq FROM runs WHERE run_id = ?", (run_id,))
            self._number, self._seq = row.fetchone()
            for saved in run_queries.journal_results(self._db, self._number):
                self._folder.restore(saved)
        whole = [step for step in record.steps if step.item is None]
        self._positions = {each.step: (n, each.is_write) for n, each in enumerate(whole)}
        return record

    def run_again(self) -> None:
        """Set a run that was taken to `running`; it no longer waits, and has no end."""
        self._commit(
            (
                "UPDATE runs SET state = 'running', ended_at = NULL, error = NULL, "
                "approval_id = NULL, waiting_step = NULL, waiting_item = NULL, "
                "waiting_why = NULL, waiting_since = NULL, waiting_until = NULL, "
                "waiting_who = NULL WHERE number = ?",
                (self._number,),
            )
        )

    def step_expanded(self, step: str, items: int, file: str, sha256: str) -> None:
        """Record the items of a step with `for_each`, before any of them starts."""
        self._put(
            step, None, "started", items=items, result_file=file, sha256=sha256,
            started_at=self._now(),
        )  # fmt: skip

    def step_started(
        self, step: str, item: int | None, attempt: int, inputs: Mapping[str, JsonValue]
    ) -> None:
        """Record that a step starts. For a write this is committed before the caller goes on."""
        known = _to_text(dict(inputs)) if self._positions[step][1] else None
        self._put(
            step, item, "started", attempt=attempt, inputs=known, started_at=self._now(),
            ended_at=None, duration_ms=None, result_file=None, sha256=None, kept_result=None,
            verification=None, reason=None, error=None,
        )  # fmt: skip

    def step_ran(self, step: str, item: int | None, saved: SavedResult) -> None:
        """Record the result of a write that is yet to be verified: it stays `started`."""
        self._put(step, item, "started", **_result_columns(saved))

    def step_done(
        self,
        step: str,
        item: int | None,
        saved: SavedResult | None,
        *,
        duration_ms: int | None = None,
        verification: Verification | None = None,
        confinement: Mapping[str, JsonValue] | None = None,
        reason: str | None = None,
    ) -> None:
        """Record that a step passed. Its result is in the file that `saved` names.

        Without `saved`, a result that was recorded before stays.

        `reason` says how a write in doubt was settled.
        """
        more = {} if saved is None else _result_columns(saved)
        if confinement:
            more["confinement"] = _to_text(dict(confinement))
        self._end(
            step, item, "done", duration_ms=duration_ms, error=None, reason=reason,
            verification=_verification_text(verification), **more,
        )  # fmt: skip

    def step_failed(
        self, step: str, item: int | None, error: PulsusError, *, duration_ms: int | None = None
    ) -> None:
        """Record that a step failed."""
        self._end(step, item, "failed", duration_ms=duration_ms, error=error_text(error))

    def step_unverified(self, step: str, item: int | None, verification: Verification) -> None:
        """Record that a write ran, and its verification failed."""
        self._end(step, item, "unverified", verification=_verification_text(verification))

    def step_skipped(self, step: str, reason: SkipReason) -> None:
        """Record that a step does not run."""
        self._end(step, None, "skipped", reason=reason)

    def step_pending(self, step: str, item: int | None) -> None:
        """Record that a step is to be run after all, or again."""
        self._put(
            step, item, "pending", ended_at=None, duration_ms=None, reason=None, error=None,
            result_file=None, sha256=None, kept_result=None, verification=None,
        )  # fmt: skip

    def items_ended(self, step: str, state: StepState) -> None:
        """Record the end of a step all of whose items have ended."""
        self._end(step, None, state)

    def step_reopened(self, step: str) -> None:
        """Record that a step with `for_each` goes on with the items that it was started with."""
        self._put(step, None, "pending", ended_at=None, reason=None, error=None)

    def mark_in_doubt(self, step: str, item: int | None, why: str) -> None:
        """Record that it is unknown if a write took effect."""
        self._put(step, item, "in_doubt", reason=why)

    def wait_for_person(self, needs: PersonNeeded) -> None:
        """Record that the run waits for a decision about that step.

        A write in doubt stays in doubt meanwhile; any other step becomes `waiting`.
        """
        position, _ = self._positions[needs.step]
        item = _WHOLE if needs.item is None else needs.item
        if needs.item is not None:  # the item may have no row yet
            self._put(needs.step, needs.item, None)
        self._seq += 1
        self._commit(
            (
                "UPDATE steps SET state = 'waiting', seq = ? WHERE run = ? AND position = ? "
                "AND item = ? AND state != 'in_doubt' AND state != 'unverified'",
                (self._seq, self._number, position, item),
            ),
            (
                "UPDATE runs SET state = 'waiting', approval_id = ?, waiting_step = ?, "
                "waiting_item = ?, waiting_why = ?, waiting_since = ?, waiting_until = ?, "
                "waiting_who = ? WHERE number = ?",
                (
                    needs.approval_id, needs.step, needs.item, needs.why, needs.since,
                    needs.until, needs.who, self._number,
                ),
            ),
        )  # fmt: skip

    def end_run(self, state: RunState, error: PulsusError | None = None) -> None:
        """Record how the run ended."""
        self._commit(
            (
                "UPDATE runs SET state = ?, error = ?, ended_at = ? WHERE number = ?",
                (state, error_text(error) if error else None, self._now(), self._number),
            )
        )

    def flush(self) -> None:
        """Commit what was collected."""
        if self._collected:
            self._commit()

    def list_runs(self, limit: int = 50) -> tuple[RunSummary, ...]:
        """Return the latest runs, newest first."""
        with state_db.database_errors(self._path):
            return run_queries.list_runs(self._db, self._state_dir, limit)

    def read_run(self, run_id: str, *, owned: bool = False) -> RunRecord:
        """Return one run with all its steps. `owned` means that this process owns it.

        Raises RunNotFound.
        """
        with state_db.database_errors(self._path):
            found = run_queries.read_run(self._db, self._state_dir, run_id, owned=owned)
        if found is None:
            raise run_not_found(run_id)
        return found

    def has_run(self, run_id: str) -> bool:
        """Return True if a plan was run under this id."""
        with state_db.database_errors(self._path):
            row = self._db.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return row is not None

    def _require_run(self, run_id: str) -> None:
        if not self.has_run(run_id):
            raise run_not_found(run_id)

    def _now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")

    def _end(self, step: str, item: int | None, state: StepState, **columns: object) -> None:
        self._put(step, item, state, ended_at=self._now(), **columns)

    def _put(self, step: str, item: int | None, state: StepState | None, **columns: object) -> None:
        """Change the row of a step, or make that of an item. `state` None leaves the state."""
        position, writes = self._positions[step]
        self._seq += 1
        first = {
            "run": self._number, "position": position, "step": step,
            "item": _WHOLE if item is None else item, "is_write": int(writes), "attempt": 0,
            "state": state or "pending",
        }  # fmt: skip
        changed = {"seq": self._seq, **({"state": state} if state else {}), **columns}
        row = {**first, **changed}
        # Every name is a constant of this module.
        updates = ", ".join(f"{name} = excluded.{name}" for name in changed)
        self._collected.append(
            (
                f"INSERT INTO steps ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) "
                f"ON CONFLICT (run, position, item) DO UPDATE SET {updates}",
                list(row.values()),
            )
        )
        if writes or len(self._collected) >= MOST_COLLECTED:
            self._commit()

    def _commit(self, *rows: _Row) -> None:
        """Write what was collected, then `rows`, in one transaction that is synced."""
        mark = ("UPDATE runs SET seq = ? WHERE number = ?", (self._seq, self._number))
        with state_db.database_errors(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            with _rolled_back_on_error(self._db):
                for statement, values in (*self._collected, *rows, mark):
                    self._db.execute(statement, values)
                self._db.execute("COMMIT")
        self._collected.clear()


@contextmanager
def _rolled_back_on_error(database: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def run_not_found(run_id: str) -> RunNotFound:
    """Return the error for a run that no journal of this project has."""
    return RunNotFound(
        f"no plan was run as {run_id!r}",
        hint="`pulsus runs list` shows the runs of this project",
        run_id=run_id,
    )


def error_text(error: PulsusError) -> str:
    """Return code, message and hint as JSON text."""
    return _to_text({"code": error.code, "message": error.message, "hint": error.hint})


def _result_columns(saved: SavedResult) -> dict[str, object]:
    return {"result_file": saved.name, "sha256": saved.sha256, "kept_result": saved.journal_text}


def _verification_text(found: Verification | None) -> str | None:
    if found is None:
        return None
    return _to_text({"tool": found.tool, "ok": found.ok, "reason": found.reason})


def _to_text(value: JsonValue) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
