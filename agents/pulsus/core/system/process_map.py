"""Pure work on many values by several processes. Effect: forks.

What a helper gives comes back pickled through a file without a name; a helper that fails leaves
nothing, and its share is done once more.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MANY = 40
"""Fewer are done sooner than helpers start."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def map_in_processes(
    work: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int
) -> list[_Result]:
    """`work` of every item, in order. It must change nothing and start no thread."""
    # Forking a process with threads would copy their locks in whatever state they are.
    if jobs < 2 or len(items) < MANY or threading.active_count() > 1 or sys.platform == "darwin":
        return [work(item) for item in items]
    import pickle  # these take their time to load
    from tempfile import TemporaryFile

    helpers: list[tuple[int, IO[bytes]]] = []
    found: list[list[_Result]] = []
    try:
        for turn in range(1, jobs):
            file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - read when the helper is done
            helpers.append((_helper(work, items[turn::jobs], file), file))
        found.append([work(item) for item in items[0::jobs]])
        for turn, (pid, file) in enumerate(helpers, 1):
            _, status = os.waitpid(pid, 0)
            file.seek(0)
            done = pickle.load(file) if status == 0 else None
            found.append(done or [work(item) for item in items[turn::jobs]])
    finally:
        for pid, file in helpers:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            file.close()
    return [found[n % jobs][n // jobs] for n in range(len(items))]


def _helper(work: Callable[[_Item], _Result], items: Sequence[_Item], file: IO[bytes]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        import pickle

        pickle.dump([work(item) for item in items], file)
        file.flush()
        status = 0
    finally:
        os._exit(status)  # whatever happened: nothing of the parent's may run twice
