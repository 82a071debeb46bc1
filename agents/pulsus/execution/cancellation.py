"""Ask running tools to end, from a signal handler or another thread. Effect: a pipe.

Each running call waits for the pipe together with its own, so it ends at once.

Ctrl-C during a run: the processes of a tool are ended by `end_tool_process.py`. The state
`cancelled` of a plan's run is decided in `execution/engine/plan_run.py`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType


class Cancellation:
    """A request to end that many calls wait for. Close it when no call waits any more."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        self.why = ""

    def fileno(self) -> int:
        """Return the descriptor that becomes readable, and stays so, once it was cancelled."""
        return self._reading

    @property
    def is_cancelled(self) -> bool:
        """Return True once `cancel` was called."""
        return bool(self.why)

    def cancel(self, why: str) -> None:
        """Ask all calls to end. `why` names the reason. May be called again, and in a handler."""
        if self.why:
            return
        self.why = why
        with suppress(OSError):
            os.write(self._writing, b"x")

    def close(self) -> None:
        """Give the pipe back."""
        for number in (self._reading, self._writing):
            with suppress(OSError):
                os.close(number)


@contextmanager
def cancel_on_signals(
    cancellation: Cancellation, wake: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP cancel in this block, and call `wake`.

    Only the main thread can do so. A signal that is ignored (under `nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: FrameType | None) -> None:
        cancellation.cancel(signal.Signals(number).name)
        wake()

    before = {
        each: signal.getsignal(each)
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(each) is not signal.SIG_IGN
    }
    try:
        for each in before:
            signal.signal(each, handle)
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
