"""What a whole sandbox uses, seen from the host through the sandbox's own /proc (spec §17).

Memory limits of the kernel count one process each; this counts the tree, and the files the sandbox
keeps in memory. The views are opened before the candidate runs and hold only the sandbox's own
processes, so a look costs the same on a busy host. Effect: reads /proc.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType
from typing import Self

_PAGE = os.sysconf("SC_PAGE_SIZE")
_INODE_BYTES = 1536  # what a file or folder in memory costs the kernel beside its content
_THREADS_FIELD = 17  # of /proc/PID/stat, counted after the name in parentheses
_RSS_FIELD = 21


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes resident or in tmpfs, and threads, over every process of the sandbox."""

    memory: int
    threads: int


class Watch:
    """Looks into one sandbox by the host's number for its first process.

    Raises OSError where the kernel does not let us look; the sandbox is then unusable.
    """

    def __init__(self, pid: int) -> None:
        self._fds: list[int] = []
        try:
            for folder in ("proc", "tmp", "dev/shm"):
                path = f"/proc/{pid}/root/{folder}"
                self._fds.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
        except OSError:
            self.close()
            raise

    def usage(self) -> Usage:
        """What is in use now; a process that ends meanwhile counts as nothing."""
        memory = threads = 0
        proc, *stores = self._fds
        for name in os.listdir(proc):  # noqa: PTH208 - an open folder, not a path
            if name.isdigit():
                pages, count = _read(proc, name)
                memory, threads = memory + pages * _PAGE, threads + count
        for store in stores:
            info = os.fstatvfs(store)
            memory += (info.f_blocks - info.f_bfree) * info.f_frsize
            memory += (info.f_files - info.f_ffree) * _INODE_BYTES
        return Usage(memory, threads)

    def close(self) -> None:
        """Let go of the sandbox's file systems."""
        while self._fds:
            os.close(self._fds.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _read(proc: int, pid: str) -> tuple[int, int]:
    try:
        fd = os.open(f"{pid}/stat", os.O_RDONLY, dir_fd=proc)
        try:
            fields = os.read(fd, 1024).rpartition(b")")[2].split()
        finally:
            os.close(fd)
        return int(fields[_RSS_FIELD]), int(fields[_THREADS_FIELD])
    except (OSError, IndexError):
        return 0, 0
