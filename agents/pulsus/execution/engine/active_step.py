"""Steps of a run that were started, and the calls that are made for them.

`plan_run.py` decides what happens with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pulsus.core.types import JsonValue, OutputRef, PlanStep, Verification
from pulsus.errors import PulsusError
from pulsus.execution.engine.step_host import StepOutcome
from pulsus.execution.journal.run_folder import SavedResult


@dataclass(slots=True)
class ActiveStep:
    """A step that was started: the outputs that it reads, and what is left of it.

    With `for_each`, `items` are its items, `hashes` those of their results, and `waiting` the
    numbers of the items that are yet to be started, last first. `unfinished` counts the calls that
    have not ended.
    """

    step: PlanStep
    is_write: bool
    outputs: Mapping[OutputRef, JsonValue] = field(default_factory=dict)
    items: Sequence[JsonValue] | None = None
    hashes: list[str | None] = field(default_factory=lambda: [None])
    waiting: list[int] = field(default_factory=list)
    unfinished: int = 1
    state: Literal["done", "failed", "unverified"] = "done"

    def set_items(self, items: Sequence[JsonValue], done: Mapping[int, str | None]) -> None:
        """Set the items; those in `done` have ended before, with results of these hashes."""
        self.items = items
        self.hashes = [done.get(number) for number in range(len(items))]
        self.waiting = [n for n in reversed(range(len(items))) if n not in done]
        self.unfinished = len(self.waiting)

    def drop_waiting(self) -> None:
        """Start no further item."""
        self.unfinished -= len(self.waiting)
        self.waiting.clear()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a step's tool, or of its verification once the tool ran.

    `outcome` is what the tool gave, and `result` the file with it. `doubt` is
    the error that leaves open whether a write took effect.
    """

    active: ActiveStep
    item: int | None
    attempt: int
    inputs: Mapping[str, JsonValue]
    outcome: StepOutcome | None = None
    result: SavedResult | None = None
    doubt: PulsusError | None = None

    @property
    def is_verification(self) -> bool:
        """Return True if the tool ran, and its verification is to be called."""
        return self.outcome is not None or self.doubt is not None


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a call. `given` is an error if it raised one."""

    call: Call
    given: StepOutcome | Verification | BaseException
