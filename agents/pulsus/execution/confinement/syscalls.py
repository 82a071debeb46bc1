"""Bare system calls of the confinement, for both of its processes.

Standard library only, and little of it: `ctypes` costs as much as the interpreter, and the part
that is needed of it does not (as in `core/sandbox/harness/trace_request.py`). Integers travel as C
ints.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# fmt: off
NUMBERS: dict[str, tuple[int, int]] = {  # name: x86_64, aarch64
    "prctl": (157, 167), "seccomp": (317, 277), "capset": (126, 91), "openat2": (437, 437),
    "pidfd_getfd": (438, 438), "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}
# fmt: on

_COLUMNS = {"x86_64": 0, "aarch64": 1}
_found: list[Any] = []


def call(name: str, *arguments: int | bytes | bytearray) -> int:
    """The return value of that system call; below zero where it failed, without its reason.

    Bytes are passed by address. Raises KeyError on an unknown processor, OSError or ImportError
    where the C library is out of reach.
    """
    if not _found:
        import _ctypes

        native: Any = _ctypes
        _found.extend((native.call_function, native.dlsym(native.dlopen(None, 0), "syscall")))
    function, symbol = _found
    number = NUMBERS[name][_COLUMNS[os.uname().machine]]
    given = tuple(bytes(a) if isinstance(a, bytearray) else a for a in arguments)
    result: int = function(symbol, (number, *given))
    return result


def address(data: bytes) -> int:
    """Where the content of these bytes lies: behind the head of the object."""
    return id(data) + bytes.__basicsize__ - 1
