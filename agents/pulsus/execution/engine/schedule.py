"""Decide which step of a plan may start now (docs/plans.md, order of a run). Pure.

Reads run in parallel as soon as the steps that they wait for have ended. A write is a barrier in
listed order: it starts when every step listed before it has ended, and no step listed after it
starts before it has ended. Each step is looked at a constant number of times.

A step with a failed dependency is skipped here (`end`). How many run in parallel is limited in
`call_pool.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pulsus.errors import PlanInvalid

_State = Literal["open", "taken", "ended"]


@dataclass(frozen=True, slots=True)
class ScheduledStep:
    """A step as the schedule sees it. `waits_for` are ids of steps listed before it."""

    id: str
    is_write: bool
    waits_for: tuple[str, ...] = ()


class Schedule:
    """The steps of one run. `unended` counts those that have not ended.

    `passed` says of steps that ended earlier whether they passed.
    """

    def __init__(
        self, steps: Sequence[ScheduledStep], passed: Mapping[str, bool] | None = None
    ) -> None:
        """Raises PlanInvalid for a repeated id, and for a step that waits for no earlier one."""
        self._steps = steps
        self._number = _number_steps(steps)
        self._state: list[_State] = ["open"] * len(steps)
        self.unended = len(steps)
        self._open_needs = [len(step.waits_for) for step in steps]
        self._dependants: list[list[int]] = [[] for _ in steps]
        for number, step in enumerate(steps):
            for needed in step.waits_for:
                self._dependants[self._number[needed]].append(number)
        self._ready = [n for n, s in enumerate(steps) if not s.waits_for and not s.is_write]
        # The first write that has not ended, and how many steps before it have not.
        self._barrier = -1
        self._before = 0
        self._move_barrier()
        for step_id, ok in (passed or {}).items():
            if self._state[self._number[step_id]] != "ended":
                self.end(step_id, passed=ok)

    def take(self) -> str | None:
        """Return the next step that may start, first in listed order, or None if none may."""
        while self._ready and self._ready[0] < self._barrier:
            number = heapq.heappop(self._ready)
            if self._state[number] == "open":
                self._state[number] = "taken"
                return self._steps[number].id
        write = self._barrier
        if write < len(self._steps) and not self._before and self._state[write] == "open":
            self._state[write] = "taken"
            return self._steps[write].id
        return None

    def end(self, step_id: str, *, passed: bool) -> list[str]:
        """Note that a step has ended. Return the steps that are skipped because it did not pass."""
        skipped: list[str] = []
        ending = [(self._number[step_id], passed)]
        while ending:
            number, ok = ending.pop()
            if self._state[number] == "ended":
                continue
            self._state[number] = "ended"
            self.unended -= 1
            if self._steps[number].id != step_id:
                skipped.append(self._steps[number].id)
            if number < self._barrier:
                self._before -= 1
            for each in self._dependants[number]:
                self._open_needs[each] -= 1
                if not ok:
                    ending.append((each, False))
                elif not self._open_needs[each] and not self._steps[each].is_write:
                    heapq.heappush(self._ready, each)
        self._move_barrier()
        return sorted(skipped, key=self._number.__getitem__)

    def _move_barrier(self) -> None:
        while self._barrier < len(self._steps):
            if self._barrier >= 0 and self._state[self._barrier] != "ended":
                return
            start = self._barrier + 1
            self._barrier = next(
                (n for n in range(start, len(self._steps)) if self._steps[n].is_write),
                len(self._steps),
            )
            self._before += sum(self._state[n] != "ended" for n in range(start, self._barrier))


def _number_steps(steps: Sequence[ScheduledStep]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, step in enumerate(steps):
        if step.id in numbers:
            raise PlanInvalid(
                f"two steps of the plan are called {step.id!r}", hint="give each its own id"
            )
        for needed in step.waits_for:
            if needed not in numbers:
                raise PlanInvalid(
                    f"step {step.id} waits for {needed!r}, which is no step before it",
                    hint="refer to steps that are listed earlier",
                )
        numbers[step.id] = number
    return numbers
