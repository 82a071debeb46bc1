"""System calls that wait until another process answers them (`linux/seccomp.h`).

The sandbox's host looks at them and lets most of them run. The supervisor of a confined run carries
them out itself. The worker of a run loads this module, so it imports little.
Effects: takes descriptors from the calling process, reads and writes its memory.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from contextlib import suppress

from pulsus.core.sandbox.harness.system_calls import call
from pulsus.core.system.descriptors import closing_fd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RECEIVE, _SEND, _VALID, _ADD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_CALL = struct.Struct("=QIIiIQ6Q")  # id, thread, flags, number, processor, address, arguments
_ANSWER = struct.Struct("=QqiI")
_FILE = struct.Struct("=QIIII")
SIZES = _CALL.size, _ANSWER.size
"""Bytes of a notification and of its answer, as this module lays them out."""

_CONTINUE, _SEND_IT = 1, 2
_PAGE = _LONGEST = 4096
_CWD = -100


class LetRun(Exception):
    """The kernel may carry the call out itself: its arguments are in registers alone."""


class AnsweredLater(Exception):
    """A thread of its own answers the call, because the call may wait."""


class OpenedFile:
    """A descriptor for the caller, in place of the file that the call would have opened."""

    def __init__(self, number: int, close_on_exec: bool) -> None:
        self.number = number
        self.close_on_exec = close_on_exec


class WaitingCall:
    """One waiting call: its number, its arguments, and the memory of its process."""

    def __init__(self, listener: int, raw: bytes | bytearray) -> None:
        self.key, self.thread, _, self.number, _, _, *args = _CALL.unpack(raw)
        self.args: Sequence[int] = args
        self._listener = listener

    def check(self) -> None:
        """Raise OSError if the caller was killed: its number may be another's by now."""
        fcntl.ioctl(self._listener, _VALID, struct.pack("=Q", self.key))

    def memory(self, address: int, size: int) -> bytes:
        """Return so many bytes of the caller, or fewer. Raises OSError."""
        with closing_fd(os.open(f"/proc/{self.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)) as place:
            self.check()
            try:
                return os.pread(place, size, address)
            except OverflowError as error:
                raise OSError(errno.EFAULT, "no address") from error

    def write(self, address: int, data: bytes) -> None:
        """Write these bytes into the caller's memory. Raises OSError."""
        with closing_fd(os.open(f"/proc/{self.thread}/mem", os.O_RDWR | os.O_CLOEXEC)) as place:
            self.check()
            os.pwrite(place, data, address)

    def text(self, address: int) -> bytes:
        """Return the bytes up to a zero. Raises OSError, ENAMETOOLONG included."""
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
        """Return the absolute path that these arguments name. Links are not followed."""
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
        """Copy the caller's descriptor of that number into this process. Raises OSError."""
        return take_descriptor(process_of(self.thread), number, self)

    def answer(self, result: int | OpenedFile) -> None:
        """Let the call return this."""
        if isinstance(result, OpenedFile):
            flags = os.O_CLOEXEC if result.close_on_exec else 0
            order = _FILE.pack(self.key, _SEND_IT, result.number, 0, flags)
            with suppress(OSError):  # the caller was killed
                fcntl.ioctl(self._listener, _ADD, order)
        else:
            self._send_answer(result, 0, 0)

    def fail(self, number: int) -> None:
        """Let the call fail with that error number."""
        self._send_answer(0, -number, 0)

    def let_run(self) -> None:
        """Let the kernel carry the call out."""
        self._send_answer(0, 0, _CONTINUE)

    def _send_answer(self, value: int, error: int, flags: int) -> None:
        with suppress(OSError):  # the caller was killed
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(self.key, value, error, flags))


def receive(listener: int) -> WaitingCall | None:
    """Return the next waiting call, or None if its process was killed."""
    raw = bytearray(_CALL.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, raw)
    except (FileNotFoundError, InterruptedError):
        return None
    return WaitingCall(listener, raw)


def take_descriptor(process: int, number: int, waiting: WaitingCall | None = None) -> int:
    """Copy a descriptor of another process into this one. Raises OSError.

    With `waiting`, also if that call's process was killed before its number was looked up.
    """
    with closing_fd(os.pidfd_open(process)) as pidfd:
        if waiting is not None:
            waiting.check()
        return call("pidfd_getfd", pidfd, number, 0)


def process_of(thread: int) -> int:
    """Return the process that a thread belongs to. Raises OSError."""
    with open(f"/proc/{thread}/status", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("Tgid:"):
                return int(line.split()[1])
    raise OSError(errno.ESRCH, "no such process")


def signed(value: int) -> int:
    """Return an argument as the C int that it is."""
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
