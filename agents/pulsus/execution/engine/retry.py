"""Decide which failed calls of a run are tried again, and when (docs/plans.md). Effect: reads the
clock.

A write is retried only if it is idempotent. The delay between attempts is constant: the step names
it, and there is no backoff. `plan_run.py` starts the call again. Retries of requests to a language
model are in `llm/http/retries.py`.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import replace

from pulsus.errors import Busy, InputPathUnusable, PulsusError, ToolFailed
from pulsus.execution.engine.active_step import Call
from pulsus.execution.engine.step_host import StepHost


def may_retry(call: Call, error: PulsusError, host: StepHost) -> bool:
    """Return True if the step has attempts left, and the call may pass if it is tried again."""
    retry = call.active.step.retry
    if retry is None or call.attempt >= retry.attempts:
        return False
    if call.active.is_write and not host.is_idempotent(call.active.step):
        return False
    # Anything else fails in the same way again: wrong inputs, a denial, other bytes.
    # A path may become usable: a step can wait for a file that appears later.
    may_pass = isinstance(error, ToolFailed | InputPathUnusable)
    return may_pass or error.exit_status == Busy.exit_status


class RetryQueue:
    """The calls that wait for their next attempt, those that are due first in front."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Call]] = []
        self._number = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, failed: Call) -> None:
        """Let the call wait as long as its step says. The step must have `retry`."""
        retry = failed.active.step.retry
        assert retry is not None
        # The number keeps calls that are due at once in their order.
        self._number += 1
        again = replace(failed, attempt=failed.attempt + 1)
        heapq.heappush(self._waiting, (time.monotonic() + retry.delay_s, self._number, again))

    def take_due(self) -> Call | None:
        """Return a call whose time has come, or None."""
        if not self._waiting or self._waiting[0][0] > time.monotonic():
            return None
        return heapq.heappop(self._waiting)[2]

    def seconds_to_next(self) -> float | None:
        """Return the seconds until the next call is due, 0 if it is; None if no call waits."""
        if not self._waiting:
            return None
        return max(0.0, self._waiting[0][0] - time.monotonic())
