"""The threads in which calls run, and the queue of their answers. Effect: starts threads.

It limits how many steps of a plan run in parallel (`plans.max_parallel` in `config/settings.py`).
The order of steps is `schedule.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from pulsus.core.types import Verification
from pulsus.execution.cancellation import Cancellation, cancel_on_signals
from pulsus.execution.engine.active_step import Answer, Call
from pulsus.execution.engine.step_host import StepHost, StepOutcome


class CallPool:
    """Runs at most `size` calls at once. SIGINT, SIGTERM and SIGHUP cancel them all.

    `is_asking` is True while a person is asked in this thread: a signal then interrupts that too.
    """

    def __init__(self, host: StepHost, size: int) -> None:
        self._host, self.size = host, size
        self._threads = ThreadPoolExecutor(size, "pulsus-step")
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()
        self.cancellation = Cancellation()
        self.running = 0
        self.is_asking = False

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Take signals in this block. After it no call is left running, whatever was raised."""
        try:
            with cancel_on_signals(self.cancellation, self._wake):
                yield
        finally:
            self.cancellation.cancel("the run ended early")
            self._threads.shutdown(wait=True, cancel_futures=True)
            self.cancellation.close()

    def start(self, call: Call) -> None:
        """Run a call in another thread."""
        self.running += 1
        self._threads.submit(self._perform, call)

    def wait(self, timeout_s: float | None) -> list[Answer]:
        """Wait for an answer, a signal or the time. Return all answers that are there."""
        found: list[Answer] = []
        try:
            answer = self._answers.get(timeout=timeout_s)
            while True:
                if answer is not None:
                    found.append(answer)
                answer = self._answers.get_nowait()
        except Empty:
            self.running -= len(found)
            return found

    def _perform(self, call: Call) -> None:
        step, inputs = call.active.step, call.inputs
        given: StepOutcome | Verification | BaseException
        try:
            if call.is_verification:
                result = call.outcome.result if call.outcome else None
                given = self._host.verify(step, inputs, result, self.cancellation)
            else:
                given = self._host.run(step, call.item, inputs, step.timeout_s, self.cancellation)
        except BaseException as error:  # noqa: BLE001 - the engine's thread raises it again
            given = error
        self._answers.put(Answer(call, given))

    def _wake(self) -> None:
        self._answers.put(None)
        if self.is_asking:
            raise KeyboardInterrupt
