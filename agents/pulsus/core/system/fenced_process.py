"""Work on somebody else's bytes, tried in a child process first (docs/tool-contract.md).

Effect: forks. Python's own parser takes minutes for some texts of a megabyte (a dotted name of
500,000 parts), and nothing stops it from within. So large modules are read once in a child whose
processor time the kernel limits. This process reads them only after the child has finished.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress

FROM_BYTES = 16_000
"""Smaller modules are read directly: the costliest text of that size takes under a second."""
CPU_SECONDS = 2
"""An ordinary module of one megabyte takes about one."""
_WALL_SECONDS = 60.0
"""A child that waits for a lock uses no processor time: it ends with this."""


def affordable(work: Callable[[], object]) -> bool:
    """Try `work` in a child process: False if it crashes there or exceeds the limits.

    `work` must be repeatable and change nothing. Where there is no child that can be limited
    (macOS, no process to be had), the answer is True.
    """
    if sys.platform != "linux":
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child takes no lock
            child = os.fork()
    except OSError:
        return True
    if child == 0:
        _work_and_leave(work)
    try:
        ended = _ended_in_time(child)
        if not ended:
            os.kill(child, signal.SIGKILL)
    finally:
        _, status = os.waitpid(child, 0)
    return ended and status == 0


def _ended_in_time(child: int) -> bool:
    try:
        handle = os.pidfd_open(child)
    except OSError:  # before Linux 5.3: the limit of processor time is left
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(_WALL_SECONDS * 1000))
    finally:
        os.close(handle)


def _work_and_leave(work: Callable[[], object]) -> None:
    """Do it under the limits; a failure that Python reports is the same in the parent."""
    import resource

    try:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(BaseException):
            work()
        os._exit(0)
    finally:
        os._exit(1)  # nothing of the parent's may run twice
