"""Decision traces (JSONL) and the app log (spec §11). Effect: appends to files below `log_dir`.

The trace of a run, of the agent too, is written to `logs/runs/<run_id>/steps.log` here, the app log
to `logs/app/DAY/pulsus.log`. Only `app`, `runs`, `validation` and `metrics` exist there. Everything
passes the redactor (`redaction.py`). Counters are written by `metrics.py`, validation logs by
`core/validators/module_verdict.py`, warnings on the terminal by `cli/command_warnings.py`; old logs
are deleted by `core/storage/retention.py`. Decisions that must stay are in
`core/storage/decision_log/decision_log.py`.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pulsus.core.system import jsonl
from pulsus.core.telemetry.ids import Clock
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError, storage_errors
from pulsus.fast_dataclass import dataclass

Room = Literal["app", "runs", "validation", "metrics"]

REQUIRED = (
    "ts",
    "run_id",
    "route_id",
    "phase",
    "candidates",
    "features",
    "weights",
    "top_score",
    "policy",
    "decision",
    "artifacts",
)
"""Fields every event has, in this order; null where the stage has nothing to say (spec §11)."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The events of one run, in `logs/runs/<run_id>/steps.log`; nowhere if not `is_written`."""

    path: Path
    run_id: str
    clock: Clock
    redactor: Redactor
    route_id: str | None = None
    is_written: bool = True

    def event(self, phase: str, **fields: object) -> None:
        """Append one event. Unknown fields are kept; values that are not JSON become their `str`.

        Raises DiskFull or StorageUnwritable.
        """
        if not self.is_written:
            return
        fixed = {
            "ts": _timestamp(self.clock()),
            "run_id": self.run_id,
            "route_id": self.route_id,
            "phase": phase,
        }
        write_event(self.path, dict.fromkeys(REQUIRED) | fields | fixed, self.redactor)


@dataclass(frozen=True, slots=True)
class AppLog:
    """Lifecycle of the app, in `logs/app/YYYY-MM-DD/pulsus.log` (UTC days)."""

    log_dir: Path
    clock: Clock
    redactor: Redactor

    def event(self, event: str, **fields: object) -> None:
        """Append one line. Raises DiskFull or StorageUnwritable."""
        now = self.clock()
        folder = day_folder(self.log_dir, "app", now)
        record = {"ts": _timestamp(now), "event": event} | fields
        write_event(folder / "pulsus.log", record, self.redactor)


def open_trace(
    log_dir: Path, run_id: str, *, clock: Clock, redactor: Redactor, route_id: str | None = None
) -> Trace:
    """Return a trace whose first event, phase `start`, is already written.

    So a read-only folder or a full disk ends the run before any work, as StorageUnwritable or
    DiskFull, and leaves no empty trace.
    """
    folder = log_folder(log_dir, "runs", run_id)
    trace = Trace(folder / "steps.log", run_id, clock, redactor, route_id)
    try:
        trace.event("start")
    except PulsusError:
        with contextlib.suppress(OSError):  # not empty: an earlier event was written
            folder.rmdir()
        raise
    return trace


def log_folder(log_dir: Path, name: Room, *below: str) -> Path:
    """Return the folder `log_dir/name/...`, made if it is not there. Raises as every write does."""
    folder = log_dir.joinpath(name, *below)
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def day_folder(log_dir: Path, name: Room, now: datetime) -> Path:
    """`log_dir/name/YYYY-MM-DD`, the UTC day, made if it is not there."""
    return log_folder(log_dir, name, f"{now.astimezone(UTC):%Y-%m-%d}")


def write_event(path: Path, record: dict[str, object], redactor: Redactor) -> None:
    """Append one record as a redacted JSON line of at most 64 KiB."""
    clean = redactor.redact_value(jsonl.plain(record))
    jsonl.append(path, jsonl.encode(_require_mapping(clean)))


def _require_mapping(value: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError(f"an event is a mapping, not {type(value).__name__}")
    return value


def _timestamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="milliseconds")
