"""Classic BPF over system calls, as `linux/seccomp.h` lays it out. Pure."""

from __future__ import annotations

import platform
import struct

LOAD, AND, JEQ, JGE, JSET, RET = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERRNO, ASK, TRACE = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000, 0x7FF00000
"""What a filter answers. ASK hands the call to whoever listens; by TRACE it fails (ENOSYS) unless
it is traced. Of several filters ERRNO wins over ASK, and ASK over TRACE."""

NR, ARCH, ARGS = 0, 4, (16, 24, 32, 40, 48, 56)
"""Where the number, the processor and the lower half of each argument are found."""

ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000


def column(machine: str | None = None) -> int:
    """Which of two numbers is that processor's (default: this one). Raises KeyError."""
    return {"x86_64": 0, "aarch64": 1}[machine or platform.machine()]


def op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction."""
    return struct.pack("<HBBI", code, if_true, if_false, value)


def deny(number: int) -> bytes:
    """Fail the call with that error number."""
    return op(RET, ERRNO | number)


def when(call: int, body: list[bytes]) -> list[bytes]:
    """Run `body`, which must return, for that call only; the accumulator holds the number."""
    return [op(JEQ, call, 0, len(body)), *body]
