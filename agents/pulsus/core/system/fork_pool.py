"""Compute with forked processes: pure work on many values, or one value that may cost too much.

How many worker processes work in parallel is decided here, and the CPU seconds after which a module
that is too expensive to parse is given up. `concurrent.futures` would do the first, but its import
takes longer than reading 500 modules, and it forks beside a thread. Here a fork takes its next
tasks from a pipe, so that a busy core does less. It leaves its results in a file without a name. If
it fails, its tasks are done once more. Effect: forks. The work must change nothing and start no
thread.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, TypeVar

from pulsus.core.system.machine_slots import cores
from pulsus.fast_dataclass import dataclass

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MOST_WORKERS = 7
_MOST_TASKS = 4096
"""A pipe holds the numbers of so many tasks everywhere, at four bytes a number."""
_NUMBER = struct.Struct("<I")

LARGE_BYTES = 16_000
"""Smaller modules are read directly: the costliest text of that size takes under a second."""
CPU_SECONDS = 2
"""An ordinary module of one megabyte takes about one."""
_WALL_SECONDS = 60.0
"""Limit for a child that waits for a lock and so uses no processor time."""


@dataclass(frozen=True)
class WorkerProcess:
    """A forked process, and the file that it leaves its results in."""

    pid: int
    file: IO[bytes]

    def results(self) -> Iterator[tuple[int, list[object]]]:
        """Wait for its end, and return the results of each task; none if it failed."""
        import pickle

        _, status = os.waitpid(self.pid, 0)
        size = self.file.seek(0, os.SEEK_END)
        self.file.seek(0)
        while status == 0 and self.file.tell() < size:
            yield pickle.load(self.file)

    def end(self) -> None:
        """Kill it if it still runs."""
        with suppress(ChildProcessError):  # waited for: the number may be another's by now
            if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        self.file.close()


def worker_count(items: int, least: int) -> int:
    """Return how many processes to fork for so many items; 0 for fewer than `least`."""
    # Forking a process with threads would copy their locks in whatever state they are.
    if items < least or threading.active_count() > 1 or sys.platform == "darwin":
        return 0
    return min(cores() - 1, _MOST_WORKERS)


def map_in_processes(
    work: Callable[[_Item], _Result], items: Sequence[_Item], *, least: int = 40
) -> list[_Result]:
    """Return `work` of every item, in order, from several processes if that is quicker.

    Below `least` items, starting processes takes longer than the work.
    """
    count = worker_count(len(items), least)
    if not count:
        return [work(item) for item in items]
    import pickle  # noqa: F401 - no import in the child

    tasks = min(len(items), _MOST_TASKS)

    def perform(task: int) -> list[_Result]:
        return [work(item) for item in items[task::tasks]]

    numbers = _open_task_queue(tasks)
    workers: list[WorkerProcess] = []
    done: dict[int, list[_Result]] = {}
    try:
        for _ in range(count):
            with suppress(OSError):  # no process or no file to be had: the others do it all
                workers.append(_start_worker(numbers, perform))
        done.update((task, perform(task)) for task in _take_tasks(numbers))
        for worker in workers:
            done.update(worker.results())  # type: ignore[arg-type]
    finally:
        os.close(numbers)
        for worker in workers:
            worker.end()
    done.update((task, perform(task)) for task in range(tasks) if task not in done)
    return [done[n % tasks][n // tasks] for n in range(len(items))]


def _open_task_queue(tasks: int) -> int:
    """Return a pipe that holds every task's number; a process that reads one takes the task."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):  # this user's pipes are full: the tasks are done at the end
            os.write(writing, b"".join(map(_NUMBER.pack, range(tasks))))
    finally:
        os.close(writing)
    return reading


def _take_tasks(numbers: int) -> Iterator[int]:
    while number := os.read(numbers, _NUMBER.size):
        yield _NUMBER.unpack(number)[0]


def _start_worker(numbers: int, perform: Callable[[int], object]) -> WorkerProcess:
    from tempfile import TemporaryFile  # only for many items

    file = TemporaryFile()  # noqa: SIM115 - it outlives this function

    def serve() -> None:
        import pickle

        for task in _take_tasks(numbers):
            pickle.dump((task, perform(task)), file)
        file.flush()

    return WorkerProcess(_fork(serve), file)


def _fork(work: Callable[[], object]) -> int:
    """Do `work` in a child process, which ends with status 0 if nothing was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child takes no lock
        child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's may run twice


def is_affordable(work: Callable[[], object]) -> bool:
    """Try `work` in a child process: False if it crashes there or exceeds the limits.

    Python's own parser takes minutes for some texts of a megabyte (a dotted name of 500,000 parts),
    and nothing stops it from within. If no child can be limited (macOS, no process to be had), the
    answer is True. `work` must be repeatable; a failure that Python reports is the same here.
    """
    if sys.platform != "linux":
        return True
    try:
        child = _fork(lambda: _work_within_limits(work))
    except OSError:
        return True
    try:
        ended = _has_ended_in_time(child)
        if not ended:
            os.kill(child, signal.SIGKILL)
    finally:
        _, status = os.waitpid(child, 0)
    return ended and status == 0


def _has_ended_in_time(child: int) -> bool:
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


def _work_within_limits(work: Callable[[], object]) -> None:
    import resource

    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(BaseException):
        work()
