"""Resume a run: set its steps back to where it can go on (ADR 42). Effect: writes the journal.

What becomes of each step is decided in `resume_decision.py`. `--settle` for a step that is not in
doubt is refused here.

`engine.py` (`_settle_doubts`) verifies the writes in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulsus.core.types import JsonValue, Verification
from pulsus.errors import UsageError
from pulsus.execution.engine.resume_decision import Settlement, choose_recovery
from pulsus.execution.journal.journal import Journal
from pulsus.execution.journal.run_records import RunRecord, StepRecord


class ResumedRun:
    """A run that is resumed. `doubtful` are the writes that may have taken effect."""

    def __init__(
        self, record: RunRecord, journal: Journal, settled: Mapping[str, Settlement]
    ) -> None:
        """Reopen the run. Raises UsageError if `settled` names a step that is not in doubt."""
        _require_in_doubt(record, settled)
        self._journal = journal
        self.doubtful: list[StepRecord] = []
        journal.run_again()
        with_open_items: set[str] = set()
        for each in record.steps:
            if each.items is None and not self._recover(each, settled.get(each.step)):
                with_open_items.add(each.step)
        for each in record.steps:
            is_open = each.state != "done" or each.step in with_open_items
            if each.items is not None and is_open:
                journal.step_reopened(each.step)
        journal.flush()

    def load_result(self, found: StepRecord) -> JsonValue:
        """Return the result of a write that ran, or null if it is unknown."""
        if found.result_file is None or not self._has_result(found):
            return None
        return self._journal.folder.load(found.result_file, found.sha256 or "")

    def accept(self, found: StepRecord, verification: Verification | None) -> None:
        """Record that a write took effect. A result that was recorded stays."""
        self._journal.step_done(
            found.step,
            found.item,
            None,
            verification=verification,
            reason="settled by its verification" if verification else "settled by a person",
        )

    def _recover(self, found: StepRecord, settled: Settlement | None) -> bool:
        """Set one step or item back. Return True if it has ended."""
        is_lost_read = found.state == "done" and not found.is_write and not self._has_result(found)
        match choose_recovery(found, settled, has_result=not is_lost_read):
            case "keep":
                return True
            case "accept":
                self.accept(found, None)
                return True
            case "verify":
                self.doubtful.append(found)
            case "run":
                if found.state != "pending":
                    self._journal.step_pending(found.step, found.item)
        return False

    def _has_result(self, found: StepRecord) -> bool:
        if found.result_file is None:
            return False
        return self._journal.folder.has(found.result_file, found.sha256 or "")


def _require_in_doubt(record: RunRecord, settled: Mapping[str, Settlement]) -> None:
    doubtful = {
        each.step
        for each in record.steps
        if each.is_write
        and each.items is None
        and each.state in ("started", "in_doubt", "unverified")
    }
    for step in settled:
        if step not in doubtful:
            raise _not_in_doubt_error(step, sorted(doubtful), record)


def _not_in_doubt_error(step: str, doubtful: Sequence[str], record: RunRecord) -> UsageError:
    """Return the error for a settled step that is not in doubt, with what can be done instead."""
    known = list(dict.fromkeys(each.step for each in record.steps))
    says = f"step {step!r} of {record.run_id} is not in doubt"
    if step not in known:
        says = f"{record.run_id} has no step {step!r}; its steps are {', '.join(known)}"
    waits = record.needs.step if record.needs else None
    resume = f"pulsus runs resume {record.run_id}"
    if doubtful:
        settle = f"`{resume} --settle {doubtful[0]}=done` if it took effect, else `=again`"
        hint = f"in doubt: {', '.join(doubtful)}; say what you found: {settle}"
    elif waits:
        hint = f"no step is in doubt; {waits} waits for a confirmation: {resume} --yes"
    else:
        hint = f"no step is in doubt; go on without --settle: {resume}"
    return UsageError(says, hint=hint)
