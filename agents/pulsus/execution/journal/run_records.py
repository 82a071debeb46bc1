"""Values that describe runs of plans as the journal has them (ADR 42).

The states of a run and of a step are listed here. They are written by `journal.py`, and
`interrupted` is decided in `run_queries.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pulsus.core.types import JsonValue, Verification

RunState = Literal["running", "waiting", "done", "failed", "cancelled", "interrupted"]
"""`interrupted` is never stored: it is a `running` one whose process is gone."""

StepState = Literal[
    "pending", "started", "done", "failed", "unverified", "skipped", "in_doubt", "waiting"
]
"""`in_doubt` is a write that was started, and whose outcome is unknown."""

SkipReason = Literal["condition", "dependency"]
"""`condition`: its `when` is false, on purpose. `dependency`: a step that it needs did not pass."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that is about to start.

    `plan` is the whole plan as JSON text, so that a resume needs no plan file. `steps` are all
    steps in listed order, each with True if it writes. `facts` are further values for people, for
    example the plan's hash and the digest of the catalogue. Nothing here may hold a secret.
    """

    run_id: str
    plan: str
    inputs: Mapping[str, JsonValue]
    steps: tuple[tuple[str, bool], ...] = ()
    request: str = ""
    facts: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PersonNeeded:
    """The decision that a run waits for: the id of the approval, its step, since and until when.

    Times are ISO 8601 in UTC. `who` may decide. `item` is set for a step with `for_each`.
    """

    approval_id: str
    step: str
    why: str
    since: str
    until: str
    who: str
    item: int | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step, or one item of a step with `for_each` (`item` is then set, from 0).

    `seq` orders all changes of a run; the times are for people only, because a clock may jump.
    `items` is the number of items of a whole `for_each` step, whose `result_file` then holds the
    items. `inputs` are those of a started write. `error` has code, message and hint. A `done`
    write without `result_file` was only verified after a fault: its result is unknown. The result
    of the verifying tool is not in `verification`.
    """

    step: str
    item: int | None
    state: StepState
    is_write: bool
    seq: int = 0
    attempt: int = 0
    items: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    duration_ms: int | None = None
    inputs: Mapping[str, JsonValue] | None = None
    result_file: str | None = None
    sha256: str | None = None
    verification: Verification | None = None
    confinement: Mapping[str, JsonValue] = field(default_factory=dict)
    reason: str | None = None
    error: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of a list of runs. `counts` has the number of steps in each state."""

    run_id: str
    state: RunState
    request: str
    started_at: str
    ended_at: str | None
    counts: Mapping[str, int]
    needs: PersonNeeded | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run with all its steps: in listed order, the items of a step behind it."""

    run_id: str
    state: RunState
    request: str
    plan: str
    inputs: Mapping[str, JsonValue]
    facts: Mapping[str, JsonValue]
    started_at: str
    ended_at: str | None
    error: Mapping[str, JsonValue] | None
    needs: PersonNeeded | None
    steps: tuple[StepRecord, ...]
