"""Measure how much kernel memory a sandbox's sockets can hold (spec §17). Effect: reads /proc.

`core/sandbox/resource_monitor.py` adds the bytes to the memory that the sandbox uses.

Bytes that wait in a socket belong to no process: neither address-space limits nor resident pages
show them. The filter keeps buffers at their default size, so the number of sockets bounds what they
hold. Only TCP grows its buffers by itself, so its waiting bytes are read socket by socket.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_TABLES = ("tcp", "tcp6")
_QUEUES = 4  # field of /proc/net/tcp: bytes not yet sent and not yet read, in hexadecimal
_READ = 1 << 20
_ORDINARY = 212992
_OVERHEAD = 1.5  # the last message may begin just below the limit, and is at most half of it


class SocketMemory:
    """The sockets of one sandbox, by the host's number for its first process. Raises OSError."""

    def __init__(self, first: int) -> None:
        self._each = int(_read_default_bytes() * _OVERHEAD)
        self._fds: list[int] = []
        try:
            for name in ("sockstat", *_TABLES):
                # Without IPv6 the kernel has no tcp6.
                with suppress(FileNotFoundError):
                    self._fds.append(os.open(f"/proc/{first}/net/{name}", os.O_RDONLY))
        except OSError:
            self.close()
            raise

    def bytes(self) -> int:
        """Return how many bytes they hold at most."""
        counts, *tables = self._fds
        used, streams = _count_sockets(os.pread(counts, 4096, 0))
        total = (used - streams) * self._each
        if streams:
            total += sum(_count_waiting_bytes(_read_table(table)) for table in tables)
        return total

    def close(self) -> None:
        """Let go of the tables."""
        while self._fds:
            os.close(self._fds.pop())


def _read_table(table: int) -> bytes:
    """Return the whole table: the kernel gives a page of it at a time."""
    parts: list[bytes] = []
    while part := os.pread(table, _READ, sum(map(len, parts))):
        parts.append(part)
    return b"".join(parts)


def _count_sockets(text: bytes) -> tuple[int, int]:
    """Return the number of all sockets in use, and of TCP sockets among them."""
    rows = {line.partition(b":")[0]: line.split() for line in text.splitlines()}
    used, streams = int(rows[b"sockets"][2]), int(rows[b"TCP"][2])
    return used, min(used, streams)


def _count_waiting_bytes(table: bytes) -> int:
    rows = (line.split() for line in table.splitlines()[1:])
    queues = (row[_QUEUES].split(b":") for row in rows if len(row) > _QUEUES)
    return sum(int(size, 16) for queue in queues for size in queue if size)


def _read_default_bytes() -> int:
    with suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text(encoding="ascii"))
    return _ORDINARY
