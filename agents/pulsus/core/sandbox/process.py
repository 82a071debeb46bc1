"""Looking into the processes of one sandbox from outside (spec §17). Effect: reads /proc.

What is read belongs to the candidate and may change under our eyes: it says what was tried, and
decides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

_PATH_BYTES = 4096
_PAGE = 4096
_LINKS = 40
"""How many links are followed, as in the kernel."""

_AT_FDCWD = -100
_WAITING = ("0A", "07")  # TCP_LISTEN, and TCP_CLOSE, which is a bound datagram socket


class Gone(Exception):
    """The process that called is no more."""


@dataclass(frozen=True, slots=True)
class Inside:
    """One sandbox, by the host's numbers for its first process and for the harness."""

    first: int
    harness: int

    def program(self, pid: int) -> str:
        """What a process runs, as the sandbox names it."""
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - the text, unresolved

    def holds(self, number: int) -> bool:
        """Whether the sandbox has a process of that number of its own."""
        return os.path.exists(f"/proc/{self.first}/root/proc/{number}")  # noqa: PTH110

    def newest(self) -> int:
        """The highest of its processes' own numbers."""
        found = os.listdir(f"/proc/{self.first}/root/proc")  # noqa: PTH208
        return max(int(name) for name in found if name.isdigit())

    def exists(self, path: str) -> bool:
        """Whether something lies at that absolute path, which no link leads to."""
        return os.path.lexists(f"/proc/{self.first}/root{path}")

    def listens(self, port: int) -> bool:
        """Whether a process of the sandbox takes connections or datagrams at that port."""
        return any(self._at(name, f":{port:04X}") for name in ("tcp", "tcp6", "udp", "udp6"))

    def _at(self, table: str, end: str) -> bool:
        with suppress(OSError), open(f"/proc/{self.first}/net/{table}", encoding="ascii") as file:  # noqa: PTH123
            rows = [line.split()[1:4] for line in file][1:]
            return any(own.endswith(end) and state in _WAITING for own, _, state in rows)
        return False

    def real(self, path: str, *, follow: bool) -> str:
        """The absolute path that `path` leads to in the sandbox; its last link only if asked."""
        todo = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        done: list[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                del done[-1:]
                continue
            done.append(part)
            if (todo or follow) and links < _LINKS and (target := self._link("/".join(done))):
                links += 1
                del done[-1 if target[0] != "/" else 0 :]
                todo += [p for p in reversed(target.split("/")) if p not in ("", ".")]
        return "/" + "/".join(done)

    def _link(self, path: str) -> str:
        if path in ("proc/self", "proc/thread-self"):
            return ""  # they would be ours
        with suppress(OSError):
            return os.readlink(f"/proc/{self.first}/root/{path}")  # noqa: PTH115
        return ""


class Caller:
    """The process (or thread) that waits in a system call, as long as it waits."""

    def __init__(self, pid: int, still: Callable[[], None]) -> None:
        self.pid = pid
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        try:
            still()  # before anything is read: else the number could be another process's by now
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of it."""
        os.close(self._memory)

    def bytes(self, address: int, size: int) -> bytes:
        """So many bytes of its memory, or fewer. Raises OSError."""
        return os.pread(self._memory, size, address)

    def text(self, address: int) -> str:
        """The text that ends at a zero there, undecodable bytes shown as such."""
        found = b""
        while b"\0" not in found and len(found) < _PATH_BYTES:
            at = address + len(found)
            found += self.bytes(at, _PAGE - at % _PAGE) or b"\0"
        return found.partition(b"\0")[0][:_PATH_BYTES].decode("utf-8", "backslashreplace")

    def path(self, folder: int | None, path: int | None, args: Sequence[int]) -> str:
        """The absolute path those arguments name; empty where they name no file."""
        base = _AT_FDCWD if folder is None else signed(args[folder])
        name = "" if path is None or not args[path] else self.text(args[path])
        if name.startswith("/"):
            return name
        if not name and base < 0:
            return ""
        start = self._link("cwd" if base < 0 else f"fd/{base}")
        if not start.startswith("/"):
            return ""
        return f"{start}/{name}" if name else start.removesuffix(" (deleted)")

    def facts_of(self, fd: int) -> str:
        """What the kernel says about a descriptor of it."""
        with open(f"/proc/{self.pid}/fdinfo/{fd}", encoding="ascii") as file:  # noqa: PTH123
            return file.read()

    def _link(self, name: str) -> str:
        return os.readlink(f"/proc/{self.pid}/{name}")  # noqa: PTH115


def signed(value: int) -> int:
    """An argument as the C int it is."""
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
