"""Look into the processes of one sandbox from outside (spec §17). Effect: reads /proc.

The candidate owns this memory and may change it during the read. It shows what was tried, and
decides nothing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from pulsus.core.sandbox.harness.traced_paths import GONE, resolve
from pulsus.core.sandbox.observation.syscall_notifications import (
    WaitingCall,
    process_of,
    signed,
    take_descriptor,
)

_PATH_BYTES = 4096
_PAGE = 4096
_AT_FDCWD = -100
_WAITING = ("0A", "07")  # TCP_LISTEN, and TCP_CLOSE, which is a bound datagram socket


@dataclass(frozen=True, slots=True)
class SandboxView:
    """One sandbox, by the host's numbers for its first process and for the harness."""

    first: int
    harness: int

    def program(self, pid: int) -> str:
        """Return the program that a process runs, as the sandbox names it."""
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - the text, unresolved

    def holds(self, number: int) -> bool:
        """Return True if the sandbox has a process of that number of its own."""
        return os.path.exists(f"/proc/{self.first}/root/proc/{number}")  # noqa: PTH110

    def newest(self) -> int:
        """Return the highest of its processes' own numbers."""
        found = os.listdir(f"/proc/{self.first}/root/proc")  # noqa: PTH208
        return max(int(name) for name in found if name.isdigit())

    def exists(self, path: str) -> bool:
        """Return True if a file lies at that absolute path, whose links are resolved."""
        return os.path.lexists(f"/proc/{self.first}/root{path}")

    def listens(self, port: int) -> bool:
        """Return True if a process of the sandbox takes connections or datagrams at that port."""
        return any(
            self._has_socket_at(name, f":{port:04X}") for name in ("tcp", "tcp6", "udp", "udp6")
        )

    def _has_socket_at(self, table: str, end: str) -> bool:
        with suppress(OSError), open(f"/proc/{self.first}/net/{table}", encoding="ascii") as file:  # noqa: PTH123
            rows = [line.split()[1:4] for line in file][1:]
            return any(own.endswith(end) and state in _WAITING for own, _, state in rows)
        return False

    def link(self, path: str) -> str:
        """Return the text of the link at that absolute path, or "". Raises PermissionError."""
        of_process = path.startswith("/proc/")
        try:
            text = os.readlink(f"/proc/{self.first}/root{path}")  # noqa: PTH115
        except PermissionError:
            if of_process:
                raise  # it hides what it has open
            return ""
        except OSError:
            return ""
        return text if not of_process or self.exists(text) else text.removesuffix(GONE)

    def device(self, path: str) -> int:
        """Return the file system that the absolute path lies on. Raises OSError."""
        return os.stat(f"/proc/{self.first}/root{path}").st_dev  # noqa: PTH116


class Caller:
    """The process (or thread) that waits in a system call, for as long as it waits."""

    def __init__(self, waiting: WaitingCall) -> None:
        self.pid = pid = waiting.thread
        self._numbers: tuple[str, str] | None = None
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        try:
            waiting.check()  # before a read: its number may be another process's by now
        except BaseException:  # also KeyboardInterrupt: no caller has this object to close it
            self.close()
            raise

    def close(self) -> None:
        """Close its memory."""
        os.close(self._memory)

    def bytes(self, address: int, size: int) -> bytes:
        """Return so many bytes of its memory, or fewer. Raises OSError."""
        return os.pread(self._memory, size, address)

    def number(self, address: int) -> int:
        """Return the C int at that address. Raises OSError."""
        return int.from_bytes(self.bytes(address, 4), "little", signed=True)

    def text(self, address: int) -> str:
        """Return the text that ends at a zero there; undecodable bytes are escaped."""
        found = b""
        while b"\0" not in found and len(found) < _PATH_BYTES:
            at = address + len(found)
            found += self.bytes(at, _PAGE - at % _PAGE) or b"\0"
        return found.partition(b"\0")[0][:_PATH_BYTES].decode("utf-8", "backslashreplace")

    def path(self, folder: int | None, path: int | None, args: Sequence[int]) -> str:
        """Return the absolute path that those arguments name, unresolved.

        Return "" if they name no file.
        """
        base = _AT_FDCWD if folder is None else signed(args[folder])
        name = "" if path is None or not args[path] else self.text(args[path])
        if name.startswith("/"):
            return name
        if not name and base < 0:
            return ""
        start = self.base(base)
        return f"{start}/{name}" if name and start else start

    def base(self, fd: int) -> str:
        """Return the file or folder behind a descriptor; the working folder if it is negative."""
        start = os.readlink(f"/proc/{self.pid}/{'cwd' if fd < 0 else f'fd/{fd}'}")  # noqa: PTH115
        if not start.startswith("/"):
            return ""
        return start if self._has_path(start) else start.removesuffix(GONE)

    def real(self, inside: SandboxView, path: str, *, follow: bool, root: str = "/") -> str:
        """Resolve an absolute path as this process sees it; nothing if it leads to no file.

        Its own entry of /proc is named `self`, because its number differs from run to run.
        """

        def links(at: str) -> str:
            if at == "/proc/self":
                return self._read_own_numbers()[0]
            if at == "/proc/thread-self":
                return "{}/task/{}".format(*self._read_own_numbers())
            return inside.link(at)

        found = resolve(path, links, follow=follow, root=root)
        if found.startswith("/proc/"):
            process, own = found.split("/")[2], self._read_own_numbers()
            if process == own[0] or process == own[1]:
                return "/proc/self" + found[len("/proc/" + process) :]
        return found

    def own_number(self) -> int:
        """Return the number that this process has in the sandbox."""
        return int(self._read_own_numbers()[0])

    def _read_own_numbers(self) -> tuple[str, str]:
        """Return the numbers that this process and this thread have in the sandbox."""
        if self._numbers is None:
            with open(f"/proc/{self.pid}/status", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                facts = dict(line.split(":", 1) for line in file if ":" in line)
            self._numbers = facts["NStgid"].split()[-1], facts["NSpid"].split()[-1]
        return self._numbers

    def _has_path(self, path: str) -> bool:
        return os.path.lexists(f"/proc/{self.pid}/root{path}")

    def device(self, fd: int) -> int:
        """Return the file system that an open file of it lies on. Raises OSError."""
        return os.stat(f"/proc/{self.pid}/fd/{fd}").st_dev  # noqa: PTH116

    def bound_to(self, fd: int) -> tuple[str, int] | None:
        """Return host and port that a socket of it is bound to, or None for another family."""
        with socket.socket(fileno=take_descriptor(process_of(self.pid), fd)) as found:
            name = found.getsockname()
            inet = found.family in (socket.AF_INET, socket.AF_INET6)
        return (name[0], name[1]) if inet else None

    def facts_of(self, fd: int) -> str:
        """Return the kernel's description of one of its descriptors."""
        with open(f"/proc/{self.pid}/fdinfo/{fd}", encoding="ascii") as file:  # noqa: PTH123
            return file.read()
