"""End or kill the processes of a tool: its time is up, a run is cancelled, or Pulsus is ended.

The clock of the time limit (timeout) is in `execution/workers/child_pipes.py`, the error for it in
`run_report.py`, and `tool_process.py` starts the tool. After SIGTERM a tool has a second of grace
before SIGKILL. Effects: signal handlers, signals to the tool's process group.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from types import FrameType

from pulsus.errors import HungUp, PulsusError, Terminated

MOMENT_S = 1.0
"""Time for a tool to clean up once it was asked to end."""

_CHUNK = 65536


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise Terminated and HungUp in this block.

    Only the main thread can do so, and only for signals with the default handler (unlike under
    `nohup`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGTERM, signal.SIGHUP)
    ours = [each for each in signals if signal.getsignal(each) is signal.SIG_DFL]
    for each in ours:
        signal.signal(each, _raise_ended)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def kill_with_parent(lifeline: int, group: int) -> None:
    """Let the kernel kill the process group when the other end of that pipe is closed.

    So the group ends with Pulsus whatever ends Pulsus, SIGKILL too. Nothing is written to the pipe.
    The group must hold `lifeline` itself. On other systems than Linux the worker watches the pipe.
    """
    if sys.platform == "linux":
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -group)
        flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)


def ask_to_end(group: int, streams: Sequence[FileIO], moment_s: float = MOMENT_S) -> None:
    """Ask the process group to end, and wait a moment until no process holds the streams."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
    deadline = time.monotonic() + moment_s
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and (remaining := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(remaining):
                if not os.read(key.fd, _CHUNK):
                    selector.unregister(key.fileobj)


def kill_group(group: int) -> None:
    """Kill every process of the group. A group that has ended is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _raise_ended(number: int, _: FrameType | None) -> None:
    stopped: type[PulsusError] = Terminated if number == signal.SIGTERM else HungUp
    name = signal.Signals(number).name
    raise stopped(
        f"{name} ended Pulsus, and the tool with every process it started",
        hint="look at what it did so far before running it again",
    )
