"""Phase 2 of a turn: run the calls that were let through, reads in parallel (deep dive §6).

`agent.parallel_reads` (`config/settings.py`) limits how many run in parallel. Each call gets the
time that is left of the run as its timeout. An exception of a tool becomes EXECUTION_FAILED here.
Results are cut in `agent/tools/local/tool_report.py`.

Reads run side by side, at most as many as the limiter lets; the one write runs after all of them
ended. Tools block, so each runs in a thread. Effects: those of the tools.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence, Sized
from dataclasses import field
from typing import Final

import anyio
import anyio.from_thread
import anyio.to_thread

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.tool_protocol import CallContext, CallOutcome
from pulsus.errors import PulsusError
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_response import tool_failed

_ALONE_S: Final = 0.002
"""Seconds of the first thread alone. Fast reads end in it, and more threads would only cost."""


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that ran. `started` and `ended` are seconds of the monotonic clock."""

    draft: CallDraft
    outcome: CallOutcome
    started: float
    ended: float


@dataclass(frozen=True, slots=True)
class CallRunner:
    """Runs calls. `clock` gives monotonic seconds; `parallel` is the most reads at a time."""

    cancellation: Cancellation
    parallel: int
    clock: Callable[[], float] = field(default=time.monotonic)

    async def run_reads(
        self, drafts: Sequence[CallDraft], timeout_s: float
    ) -> tuple[FinishedCall, ...]:
        """Return the results in the order of the calls. Each gets at most `timeout_s`."""
        waiting = deque(enumerate(drafts))
        done: dict[int, FinishedCall] = {}

        def run_waiting() -> None:
            # A thread takes one call after the other: to hand each over costs more than a fast one.
            while True:
                anyio.from_thread.check_cancelled()
                try:
                    at, draft = waiting.popleft()
                except IndexError:
                    return
                done[at] = self._run(draft, timeout_s)

        if len(drafts) == 1:
            await anyio.to_thread.run_sync(run_waiting)
        elif drafts:
            await self._run_side_by_side(run_waiting, waiting)
        return tuple(done[at] for at in range(len(drafts)))

    async def _run_side_by_side(self, run_waiting: Callable[[], None], waiting: Sized) -> None:
        """Empty `waiting` in one thread, and in further ones if that takes more than a moment."""

        def add_threads() -> None:
            for _ in range(min(self.parallel - 1, len(waiting))):
                group.start_soon(anyio.to_thread.run_sync, run_waiting)

        async with anyio.create_task_group() as group:
            # A timer costs less than a task that waits beside the first thread.
            timer = asyncio.get_running_loop().call_later(_ALONE_S, add_threads)
            try:
                await anyio.to_thread.run_sync(run_waiting)
            finally:
                timer.cancel()

    async def run_one(self, draft: CallDraft, timeout_s: float) -> FinishedCall:
        """Return the result of one call. An exception of the tool is an envelope as well.

        The call is not abandoned: what has begun to change something is waited for.
        """
        return await anyio.to_thread.run_sync(self._run, draft, timeout_s)

    def _run(self, draft: CallDraft, timeout_s: float) -> FinishedCall:
        context = CallContext(draft.resources, self.cancellation, timeout_s, draft.consent)
        started = self.clock()
        outcome = _call_tool(draft, context)
        return FinishedCall(draft, outcome, started, self.clock())


def _call_tool(draft: CallDraft, context: CallContext) -> CallOutcome:
    try:
        return draft.tool.run(draft.call.args, context)
    except PulsusError as error:
        return CallOutcome(
            tool_failed("EXECUTION_FAILED", f"{error.code}: {error.message}", hint=error.hint)
        )
    except Exception as error:  # noqa: BLE001 - a tool, perhaps a plugin's, must not end the run
        name = type(error).__name__
        return CallOutcome(
            tool_failed("EXECUTION_FAILED", f"{draft.call.tool} ended with {name}: {error}")
        )
