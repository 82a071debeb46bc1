"""Resume: decide what happens with each step that a resume finds (ADR 42). Pure.

A read is simply run again. A write that was started may have taken effect, so it is never run
again before its verification, or a person, has settled that.

`resumed_run.py` carries the decision out. That only one process runs a run is decided by the lock
in `execution/journal/run_folder.py`.

A resume of a plan whose tools or files changed since it was reviewed is refused in
`routing/plans/changes_since_review.py`.
"""

from __future__ import annotations

from typing import Literal, assert_never

from pulsus.errors import Aborted, PulsusError, ScriptFailed, ToolFailed
from pulsus.execution.journal.run_records import StepRecord

Recovery = Literal["keep", "run", "verify", "accept"]
"""`keep`: it has ended. `run`: run it. `verify`: find out whether it took effect. `accept`: a
person said that it did."""

Settlement = Literal["done", "again"]
"""The answer of a person about a write in doubt: it took effect, or it is to be run again."""


def choose_recovery(
    found: StepRecord, settled: Settlement | None = None, *, has_result: bool = True
) -> Recovery:
    """Return what to do with a step, or with one item of it.

    `has_result` says that the file with its result is as the journal has it.
    """
    match found.state:
        case "done":
            # A write is not repeated for a lost file: a step that needs that file fails.
            return "keep" if found.is_write or has_result else "run"
        case "skipped":
            return "keep" if found.reason == "condition" else "run"
        case "pending" | "waiting" | "failed":
            return "run"
        case "started" | "in_doubt" | "unverified":
            if not found.is_write:
                return "run"
            return _recover_write(settled)
        case _:
            assert_never(found.state)


def is_outcome_unknown(error: PulsusError) -> bool:
    """Return True if a tool that failed with this error may have done its work all the same.

    It was ended by its time limit, by a signal or by a cancellation, or its report did not arrive.
    A report names the stage in which the tool failed, and a script gives an exit status.
    """
    if isinstance(error, Aborted):
        return True
    is_reported = isinstance(error, ScriptFailed) or "stage" in error.details
    return isinstance(error, ToolFailed) and not is_reported


def _recover_write(settled: Settlement | None) -> Recovery:
    match settled:
        case None:
            return "verify"
        case "done":
            return "accept"
        case "again":
            return "run"
        case _:
            assert_never(settled)
