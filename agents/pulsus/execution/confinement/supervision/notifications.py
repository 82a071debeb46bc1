"""System calls of a confined process that wait for an answer (`linux/seccomp.h`).

Effects: takes descriptors from that process, reads and writes its memory.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from contextlib import suppress

from pulsus.execution.confinement.syscalls import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RECEIVE, _SEND, _VALID, _ADD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_CALL = struct.Struct("=QIIiIQ6Q")  # id, thread, flags, number, processor, address, arguments
_ANSWER = struct.Struct("=QqiI")
_FILE = struct.Struct("=QIIII")
_CONTINUE, _SEND_IT = 1, 2
_PAGE = _LONGEST = 4096
_CWD = -100


class Carry(Exception):
    """The kernel may carry the call out itself: its arguments are in registers alone."""


class Later(Exception):
    """The call is answered by a thread of its own, since it may wait."""


class File:
    """A descriptor for the caller, in place of what the call would have opened."""

    def __init__(self, number: int, close_on_exec: bool) -> None:
        self.number = number
        self.close_on_exec = close_on_exec


class Question:
    """One waiting call: its number, its arguments, and the memory of its process."""

    def __init__(self, listener: int, raw: bytes | bytearray) -> None:
        self.key, self.thread, _, self.number, _, _, *args = _CALL.unpack(raw)
        self.args: Sequence[int] = args
        self._listener = listener

    def check(self) -> None:
        """Raise OSError if the caller no longer waits: its number may be another's by now."""
        fcntl.ioctl(self._listener, _VALID, struct.pack("=Q", self.key))

    def memory(self, address: int, size: int) -> bytes:
        """So many bytes of the caller, or fewer. Raises OSError."""
        place = os.open(f"/proc/{self.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.check()
            return os.pread(place, size, address)
        except OverflowError as error:
            raise OSError(errno.EFAULT, "no address") from error
        finally:
            os.close(place)

    def write(self, address: int, data: bytes) -> None:
        """Put these bytes into the caller's memory. Raises OSError."""
        place = os.open(f"/proc/{self.thread}/mem", os.O_RDWR | os.O_CLOEXEC)
        try:
            self.check()
            os.pwrite(place, data, address)
        finally:
            os.close(place)

    def text(self, address: int) -> bytes:
        """The bytes up to a zero. Raises OSError, ENAMETOOLONG included."""
        found = b""
        while b"\0" not in found:
            if len(found) > _LONGEST:
                raise OSError(errno.ENAMETOOLONG, "the path is too long")
            at = address + len(found)
            more = self.memory(at, _PAGE - at % _PAGE)
            if not more:
                raise OSError(errno.EFAULT, "the path cannot be read")
            found += more
        return found.partition(b"\0")[0]

    def path(self, folder: int | None, at: int) -> bytes:
        """The absolute path that the arguments at these positions name, links not followed."""
        name = self.text(self.args[at])
        if not name:
            raise OSError(errno.ENOENT, "an empty path")
        if name.startswith(b"/"):
            return name
        base = _CWD if folder is None else signed(self.args[folder])
        link = "cwd" if base == _CWD else f"fd/{base}"
        start = os.readlink(os.fsencode(f"/proc/{self.thread}/{link}"))  # noqa: PTH115
        return b"%s/%s" % (start, name)

    def file(self, number: int) -> int:
        """A descriptor of ours for what the caller has under that number. Raises OSError."""
        pidfd = os.pidfd_open(process_of(self.thread))
        try:
            self.check()
            found = call("pidfd_getfd", pidfd, number, 0)
        finally:
            os.close(pidfd)
        if found < 0:
            raise OSError(errno.EBADF, "no such descriptor")
        return found

    def answer(self, result: int | File) -> None:
        """Let the call return this."""
        try:
            if isinstance(result, File):
                flags = os.O_CLOEXEC if result.close_on_exec else 0
                order = _FILE.pack(self.key, _SEND_IT, result.number, 0, flags)
                fcntl.ioctl(self._listener, _ADD, order)
            else:
                self._send(result, 0, 0)
        except OSError:
            pass  # the caller was killed meanwhile

    def fail(self, number: int) -> None:
        """Let the call fail with that error number."""
        self._quietly(0, -number, 0)

    def carry(self) -> None:
        """Let the kernel carry the call out."""
        self._quietly(0, 0, _CONTINUE)

    def _quietly(self, value: int, error: int, flags: int) -> None:
        with suppress(OSError):  # the caller may have been killed meanwhile
            self._send(value, error, flags)

    def _send(self, value: int, error: int, flags: int) -> None:
        fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(self.key, value, error, flags))


def receive(listener: int) -> Question | None:
    """The next waiting call; None if its process was killed meanwhile."""
    raw = bytearray(_CALL.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, raw)
    except (FileNotFoundError, InterruptedError):
        return None
    return Question(listener, raw)


def take(process: int, number: int) -> int:
    """A descriptor of ours for one of that process. Raises OSError."""
    pidfd = os.pidfd_open(process)
    try:
        found = call("pidfd_getfd", pidfd, number, 0)
    finally:
        os.close(pidfd)
    if found < 0:
        raise OSError("the kernel does not hand over descriptors")
    return found


def process_of(thread: int) -> int:
    """The process that a thread belongs to. Raises OSError."""
    with open(f"/proc/{thread}/status", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("Tgid:"):
                return int(line.split()[1])
    raise OSError(errno.ESRCH, "no such process")


def signed(value: int) -> int:
    """An argument as the C int it is."""
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
