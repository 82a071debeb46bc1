"""Measure what a whole sandbox uses, through the sandbox's own /proc (spec §17).

`sandbox_session.py` compares the memory, processes and threads with the limits, and kills.

Memory limits of the kernel count one process each. This counts the tree, and the files that the
sandbox keeps in memory. The views are opened before the candidate runs and hold only the sandbox's
own processes, so a look costs the same on a busy host. Effect: reads /proc.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from pulsus.core.sandbox.isolation.socket_memory import SocketMemory
from pulsus.core.system.descriptors import closing_fd

_PAGE = os.sysconf("SC_PAGE_SIZE")
_INODE_BYTES = 1536  # kernel memory of a file or folder in memory, beside its content
_THREADS_FIELD = 17  # of /proc/PID/stat, counted after the name in parentheses
_RSS_FIELD = 21
_TIMES = slice(11, 15)  # user and system time, its own and that of children it has reaped
_TICKS = os.sysconf("SC_CLK_TCK")
_DEAD = (b"Z", b"X")  # ended, and not yet reaped


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """Bytes resident, in tmpfs or in sockets, and threads, over every process of the sandbox."""

    memory: int
    threads: int


class ResourceMonitor:
    """Measures one sandbox by the host's number for its first process.

    Raises OSError if the kernel does not let us look; the sandbox is then unusable.
    """

    def __init__(self, pid: int) -> None:
        self._fds: list[int] = []
        self._sockets = SocketMemory(pid)
        try:
            for folder in ("proc", "tmp", "dev/shm"):
                path = f"/proc/{pid}/root/{folder}"
                self._fds.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
        except OSError:
            self.close()
            raise

    def usage(self) -> ResourceUsage:
        """Return the current use; a process that ends meanwhile counts as nothing."""
        memory, threads = self._sockets.bytes(), 0
        proc, *stores = self._fds
        for name in os.listdir(proc):  # noqa: PTH208 - an open folder, not a path
            if name.isdigit():
                pages, count = _read_memory_and_threads(proc, name)
                memory, threads = memory + pages * _PAGE, threads + count
        for store in stores:
            info = os.fstatvfs(store)
            memory += (info.f_blocks - info.f_bfree) * info.f_frsize
            memory += (info.f_files - info.f_ffree) * _INODE_BYTES
        return ResourceUsage(memory, threads)

    def others(self, known: Collection[int]) -> tuple[str, ...]:
        """Return the names of processes in the sandbox whose numbers inside are not `known`."""
        before = set(known)
        while True:
            numbers = {int(n) for n in os.listdir(self._fds[0]) if n.isdigit()}  # noqa: PTH208
            found = [_read_stat(self._fds[0], str(number)) for number in numbers - set(known)]
            alive = {name for name, fields in found if fields and fields[0] not in _DEAD}
            if alive or numbers <= before:
                return tuple(sorted(alive))
            before = numbers  # a process that has just ended may have started another

    def used_seconds(self) -> float:
        """Return the processor time of all its processes, those that ended and were reaped too."""
        total = 0
        for name in os.listdir(self._fds[0]):  # noqa: PTH208
            if name.isdigit():
                _, fields = _read_stat(self._fds[0], name)
                total += sum(map(int, fields[_TIMES])) if len(fields) > _RSS_FIELD else 0
        return total / _TICKS

    def waited_seconds(self, number: int) -> float:
        """Return how long a process, by its number inside, was ready to run and had no core."""
        try:
            with closing_fd(os.open(f"{number}/schedstat", os.O_RDONLY, dir_fd=self._fds[0])) as fd:
                return int(os.read(fd, 256).split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0  # it ended, or the kernel keeps no such figures

    def shared(self) -> tuple[str, ...]:
        """Return the names of the files in its shared memory."""
        return tuple(sorted(os.listdir(self._fds[2])))  # noqa: PTH208

    def close(self) -> None:
        """Close the views of the sandbox's file systems."""
        self._sockets.close()
        while self._fds:
            os.close(self._fds.pop())


def _read_memory_and_threads(proc: int, pid: str) -> tuple[int, int]:
    _, fields = _read_stat(proc, pid)
    with suppress(IndexError):
        return int(fields[_RSS_FIELD]), int(fields[_THREADS_FIELD])
    return 0, 0


def _read_stat(proc: int, pid: str) -> tuple[str, list[bytes]]:
    """Return a process's name and the fields after it. Both are empty if it ended."""
    try:
        with closing_fd(os.open(f"{pid}/stat", os.O_RDONLY, dir_fd=proc)) as fd:
            head, _, fields = os.read(fd, 1024).rpartition(b")")
    except OSError:
        return "", []
    return head.partition(b"(")[2].decode("utf-8", "replace"), fields.split()
