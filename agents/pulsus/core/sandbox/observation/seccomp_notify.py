"""The host's end of the trapped system calls of one sandbox (spec §17).

A call waits until it was looked at, and is then carried out as if nobody had looked, or refused
where it is one of `seccomp.SHOWN`: what was seen decides nothing. Where this process ends, trapped
calls fail. Effect: takes a descriptor from a process of the sandbox, reads its memory.
Layout: `linux/seccomp.h`.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
import select
import struct
import time
from contextlib import suppress
from pathlib import Path

from pulsus.core.sandbox.confinement.bpf import column
from pulsus.core.sandbox.observation import native_calls, traced_syscalls
from pulsus.core.sandbox.observation.process_memory import Gone, Inside
from pulsus.core.sandbox.observation.syscall_effects import SyscallEffects

_RECV, _SEND, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_CONTINUE = 1
_CALL = struct.Struct("=QIIiIQ6Q")  # id, pid, flags, then number, processor, address, arguments
_ANSWER = struct.Struct("=QqiI")
_GET_SIZES = 3
_ODD = (OSError, ValueError, OverflowError, struct.error)  # addresses that lead nowhere, and so on
_SECONDS_AT_ONCE = 0.02  # then limits are looked at again


_refused: list[str] = []


class NoListener(Exception):
    """System calls cannot be watched here: `objection` says why from now on."""


class Listener:
    """Answers for one sandbox, and notes what its calls tried. Read it like a channel."""

    def __init__(self, fd: int, witness: SyscallEffects) -> None:
        self.witness = witness
        self.ended = False
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)

    @classmethod
    def take(cls, first: int, number: int) -> Listener:
        """That of the sandbox with this first process, which has the number in its harness.

        Raises NoListener where the kernel does not let us have it.
        """
        try:
            harness = harness_of(first)
            witness = SyscallEffects(Inside(first, harness))
            pidfd = os.pidfd_open(harness)
            try:
                return cls(native_calls.call(native_calls.PIDFD_GETFD, pidfd, number, 0), witness)
            finally:
                os.close(pidfd)
        except OSError as error:
            _refused.append(str(error))
            raise NoListener from error

    def fileno(self) -> int:
        """What to wait for."""
        return self._fd

    def read_some(self) -> None:
        """Look at what waits, for a bounded time, and let each call go on."""
        until = time.monotonic() + _SECONDS_AT_ONCE
        while time.monotonic() < until:
            events = dict(self._poll.poll(0)).get(self._fd, 0)
            if not events & select.POLLIN:
                self.ended = bool(events)
                return
            call = bytearray(_CALL.size)
            try:
                fcntl.ioctl(self._fd, _RECV, call)
            except (FileNotFoundError, InterruptedError):
                continue  # it was killed meanwhile
            self._look(call)

    def close(self) -> None:
        """Let go of it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _look(self, call: bytearray) -> None:
        key, pid, _, number, _, _, *args = _CALL.unpack(call)
        name = traced_syscalls.names().get(number)
        allowed = name in traced_syscalls.FILES or name in traced_syscalls.OTHERS
        try:
            with suppress(Gone, *_ODD):
                still = functools.partial(self._still, key)
                allowed = self.witness.note(number, args, pid, still)
        finally:
            with suppress(OSError):
                answer = (0, _CONTINUE) if allowed else (-errno.EPERM, 0)
                fcntl.ioctl(self._fd, _SEND, _ANSWER.pack(key, 0, *answer))

    def _still(self, key: int) -> None:
        """Raise Gone where its process is no more: the number may be somebody else's by now."""
        try:
            fcntl.ioctl(self._fd, _VALID, struct.pack("=Q", key))
        except OSError as error:
            raise Gone from error


def harness_of(first: int) -> int:
    """The host's number of the only child of a sandbox's first process. Raises OSError."""
    found = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
    if len(found) != 1:
        raise ProcessLookupError("the harness is not the only child of the first process")
    return int(found[0])


def objection() -> str:
    """Why no sandbox of this machine can be watched; empty where nothing speaks against it."""
    return _refused[0] if _refused else _lacking()


@functools.cache
def _lacking() -> str:
    try:
        sizes = ctypes.create_string_buffer(6)
        native_calls.call(traced_syscalls.SECCOMP[column()], _GET_SIZES, 0, sizes)
        call, answer, _ = struct.unpack("=3H", sizes.raw)
        if (call, answer) != (_CALL.size, _ANSWER.size):
            return "the kernel describes system calls otherwise than we know"
        native_calls.call(native_calls.PIDFD_GETFD, -1, 0, 0)
    except KeyError:
        return "it is not known how on this processor"
    except OSError as error:
        return "" if error.errno == 9 else f"the kernel does not show system calls: {error}"
    return ""
