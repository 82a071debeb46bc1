"""Many new modules, read by several processes at once. Effect: forks; its helpers read files.

A first look at ten thousand modules is Python's parser at work for seconds, and one process uses
one core. Forked helpers take folders as they get to them, so that a busy core does less, and leave
what they found in files without a name; one that fails leaves nothing, and its folders are read
once more.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from pulsus.fast_dataclass import dataclass

MANY = 500
"""Fewer files are read sooner than helpers start."""
MOST_TASKS = 4096
"""What a pipe holds everywhere, at four bytes a number."""
_MOST_HELPERS = 7
_TURN = struct.Struct("<I")


@dataclass(frozen=True)
class WorkerProcess:
    """One process at work, and the file its lines go to."""

    pid: int
    file: IO[bytes]

    def lines(self) -> list[bytes]:
        """What it found, once it is done; nothing where it failed."""
        _, status = os.waitpid(self.pid, 0)
        self.file.seek(0)
        return self.file.read().splitlines() if status == 0 else []


@dataclass(frozen=True)
class ForkPool:
    """The helpers, and what is left to do."""

    turns: int
    helpers: list[WorkerProcess]

    def tasks(self) -> Iterator[int]:
        """The numbers of the tasks that fall to the caller, until none is left."""
        return _taken(self.turns)

    def lines(self) -> Iterator[bytes]:
        """What the helpers found, once they are done."""
        for helper in self.helpers:
            yield from helper.lines()


def worker_count(files: int) -> int:
    """How many helpers to start for so many new files; 0 where they would not help."""
    # Forking a process with threads would copy their locks in whatever state they are.
    if files < MANY or threading.active_count() > 1 or sys.platform == "darwin":
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(cores - 1, _MOST_HELPERS)


@contextmanager
def fork_pool(count: int, tasks: int, work: Callable[[int], Iterable[bytes]]) -> Iterator[ForkPool]:
    """So many helpers that take tasks by number, as the block does too. None outlives the block.

    `work` gives what is found for a task, line by line.
    """
    turns = _turns(tasks)
    started: list[WorkerProcess] = []
    try:
        for _ in range(count):
            with suppress(OSError):  # no process or no file to be had: the others do it all
                started.append(_start(turns, work))
        yield ForkPool(turns, started)
    finally:
        os.close(turns)
        for helper in started:
            with suppress(ChildProcessError):  # it has been waited for: the number is not its own
                if os.waitpid(helper.pid, os.WNOHANG) == (0, 0):
                    os.kill(helper.pid, signal.SIGKILL)
                    os.waitpid(helper.pid, 0)
            helper.file.close()


def _turns(tasks: int) -> int:
    """A pipe that holds every task's number; whoever reads one has taken the task."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        for task in range(min(tasks, MOST_TASKS)):
            os.write(writing, _TURN.pack(task))
    finally:
        os.close(writing)
    return reading


def _taken(turns: int) -> Iterator[int]:
    while turn := os.read(turns, _TURN.size):
        yield _TURN.unpack(turn)[0]


def _start(turns: int, work: Callable[[int], Iterable[bytes]]) -> WorkerProcess:
    from tempfile import TemporaryFile  # only where there are many new files

    file = TemporaryFile()  # noqa: SIM115 - it outlives this function
    pid = os.fork()
    if pid:
        return WorkerProcess(pid, file)
    status = 1
    try:
        for task in _taken(turns):
            file.writelines(line + b"\n" for line in work(task))
        file.flush()
        status = 0
    finally:
        os._exit(status)  # whatever happened: nothing of the parent's may run twice
