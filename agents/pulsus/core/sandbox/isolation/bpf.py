"""Classic BPF over system calls, as `linux/seccomp.h` lays it out. Pure."""

from __future__ import annotations

import errno
import platform
import struct

LOAD, AND, JEQ, JGE, JSET, RET = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERRNO, ASK, TRACE = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000, 0x7FF00000
"""Answers of a filter. ASK passes the call to the process that listens. With TRACE the call fails
(ENOSYS) unless it is traced. Of several filters ERRNO wins over ASK, and ASK over TRACE."""

NR, ARCH, ARGS = 0, 4, (16, 24, 32, 40, 48, 56)
"""Offsets of the number, the processor and the lower half of each argument."""

ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000


def column(machine: str | None = None) -> int:
    """Return the position of that processor's number in a pair (default: this one's).

    Raises KeyError for a processor that is not known.
    """
    return {"x86_64": 0, "aarch64": 1}[machine or platform.machine()]


def op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction."""
    return struct.pack("<HBBI", code, if_true, if_false, value)


def deny(number: int) -> bytes:
    """Return the instruction that lets the call fail with that error number."""
    return op(RET, ERRNO | number)


def begin(own: int) -> list[bytes]:
    """Load the number of the call. Kill a process that uses another processor's numbers.

    `own` is the column of this processor.
    """
    code = [op(LOAD, ARCH), op(JEQ, list(ARCHES.values())[own], 1, 0), op(RET, KILL), op(LOAD, NR)]
    return [*code, op(JGE, _X32_BIT, 0, 1), op(RET, KILL)] if own == 0 else code


def when(value: int, body: list[bytes]) -> list[bytes]:
    """Run `body`, which must return, only if the accumulator holds that value."""
    return [op(JEQ, value, 0, len(body)), *body]


def answer(values: tuple[int, ...], reply: bytes) -> list[bytes]:
    """Return `reply` if the accumulator holds one of these values, else go on."""
    return [part for each in values for part in when(each, [reply])]


def allow_only(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Allow the call with these values of an argument, and deny it otherwise."""
    return [op(LOAD, ARGS[argument]), *answer(values, op(RET, ALLOW)), deny(errno.EPERM)]


def allow_but(argument: int, values: tuple[int, ...], reply: bytes) -> list[bytes]:
    """Return `reply` for these values of an argument, and allow the call otherwise."""
    return [op(LOAD, ARGS[argument]), *answer(values, reply), op(RET, ALLOW)]
