"""Answer the traced system calls of one sandbox, on the host's side (spec §17).

If system calls cannot be watched on this machine, the reason is found here.

A call waits until its effects are noted. It is then carried out, or refused if it is one of
`seccomp_filter.SHOWN`. If this process ends, traced calls fail. Effect: takes a descriptor from a
process of the sandbox, reads its memory.
"""

from __future__ import annotations

import functools
import os
import select
import struct
import time
from contextlib import suppress
from errno import EBADF, EPERM
from pathlib import Path

from pulsus.core.sandbox.harness.system_calls import call
from pulsus.core.sandbox.observation import traced_syscalls
from pulsus.core.sandbox.observation.process_memory import SandboxView
from pulsus.core.sandbox.observation.syscall_effects import SyscallEffects
from pulsus.core.sandbox.observation.syscall_notifications import (
    SIZES,
    WaitingCall,
    receive,
    take_descriptor,
)

_GET_SIZES = 3
_ODD = (OSError, ValueError, OverflowError, struct.error)  # such as invalid addresses
_SECONDS_AT_ONCE = 0.02  # after this time limits are checked again


_refused: list[str] = []


class NoListener(Exception):
    """System calls cannot be watched here; `objection` returns the reason from now on."""


class Listener:
    """Answers the traced calls of one sandbox, and notes their effects. Read it like a channel."""

    def __init__(self, fd: int, witness: SyscallEffects) -> None:
        self.witness = witness
        self.ended = False
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)

    @classmethod
    def take(cls, first: int, number: int) -> Listener:
        """Return the listener of the sandbox with this first process.

        `number` is its descriptor in the harness. Raises NoListener if the kernel does not hand it
        over.
        """
        try:
            harness = harness_of(first)
            witness = SyscallEffects(SandboxView(first, harness))
            return cls(take_descriptor(harness, number), witness)
        except OSError as error:
            _refused.append(str(error))
            raise NoListener from error

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._fd

    def read_some(self) -> None:
        """Note the waiting calls, for a bounded time, and let each go on."""
        until = time.monotonic() + _SECONDS_AT_ONCE
        while time.monotonic() < until:
            events = dict(self._poll.poll(0)).get(self._fd, 0)
            if not events & select.POLLIN:
                self.ended = bool(events)
                return
            waiting = receive(self._fd)
            if waiting is not None:
                self._answer_call(waiting)

    def close(self) -> None:
        """Close the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _answer_call(self, waiting: WaitingCall) -> None:
        name = traced_syscalls.names().get(waiting.number)
        allowed = name in traced_syscalls.FILES or name in traced_syscalls.OTHERS
        try:
            with suppress(*_ODD):
                allowed = self.witness.note(waiting)
        finally:
            if allowed:
                waiting.let_run()
            else:
                waiting.fail(EPERM)


def harness_of(first: int) -> int:
    """Return the host's number of the only child of a sandbox's first process. Raises OSError."""
    found = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
    if len(found) != 1:
        raise ProcessLookupError("the harness is not the only child of the first process")
    return int(found[0])


def unavailable_reason() -> str:
    """Return the reason why no sandbox of this machine can be watched, or ""."""
    return _refused[0] if _refused else _find_objection()


@functools.cache
def _find_objection() -> str:
    sizes = bytes(6)  # the kernel fills it in
    try:
        call("seccomp", _GET_SIZES, 0, sizes)
        if struct.unpack("=3H", sizes)[:2] != SIZES:
            return "the kernel describes waiting system calls in an unknown format"
        call("pidfd_getfd", -1, 0, 0)
    except KeyError:
        return "this processor is not supported"
    except OSError as error:
        return "" if error.errno == EBADF else f"the kernel does not show system calls: {error}"
    return ""
