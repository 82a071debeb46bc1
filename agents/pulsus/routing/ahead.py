"""Many new modules, read by several processes at once. Effect: forks; its helpers read files.

A first look at ten thousand modules is Python's parser at work for seconds, and one process uses
one core. Each forked helper reads its share and leaves what it found in a file without a name; a
helper that fails leaves nothing, and its share is read like any other file.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TypeVar

from pulsus.record import dataclass

T = TypeVar("T")

MANY = 500
"""Fewer files are read sooner than helpers start."""
_MOST_HELPERS = 7


@dataclass(frozen=True)
class Helper:
    """One process at work, and the file its lines go to."""

    pid: int
    file: IO[bytes]

    def lines(self) -> list[bytes]:
        """What it found, once it is done; nothing where it failed."""
        _, status = os.waitpid(self.pid, 0)
        self.file.seek(0)
        return self.file.read().splitlines() if status == 0 else []


def helpers(files: int) -> int:
    """How many helpers to start for so many new files; 0 where they would not help."""
    # Forking a process with threads would copy their locks in whatever state they are.
    if files < MANY or threading.active_count() > 1 or sys.platform == "darwin":
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(cores - 1, _MOST_HELPERS)


@contextmanager
def helping(
    shares: Sequence[Sequence[T]], line: Callable[[T], bytes | None]
) -> Iterator[list[Helper]]:
    """A helper at work on each share, while the block does the rest. None outlives the block.

    `line` gives what is found of an item, on one line, or None for nothing.
    """
    started: list[Helper] = []
    try:
        for share in shares:
            with suppress(OSError):  # no process or no file to be had: the caller reads it all
                started.append(_start(share, line))
        yield started
    finally:
        for helper in started:
            with suppress(ChildProcessError):  # it has been waited for: the number is not its own
                if os.waitpid(helper.pid, os.WNOHANG) == (0, 0):
                    os.kill(helper.pid, signal.SIGKILL)
                    os.waitpid(helper.pid, 0)
            helper.file.close()


def _start(share: Sequence[T], line: Callable[[T], bytes | None]) -> Helper:
    from tempfile import TemporaryFile  # only where there are many new files

    file = TemporaryFile()  # noqa: SIM115 - it outlives this function
    pid = os.fork()
    if pid:
        return Helper(pid, file)
    status = 1
    try:
        for item in share:
            text = line(item)
            if text is not None:
                file.write(text + b"\n")
        file.flush()
        status = 0
    finally:
        os._exit(status)  # whatever happened: nothing of the parent's may run twice
