"""Lets the host look at this process's system calls, and at those of what it starts (spec §17).

Runs inside the sandbox, before the candidate is loaded. Standard library only, and little of it:
`ctypes` costs as much as the interpreter, what it is made of does not.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
NONE = -1
"""No descriptor: nothing is watched."""


def listen(program: bytes, number: int) -> int:
    """The descriptor at which the calls wait that `program` asks about; NONE where it cannot be.

    `number` is that of `seccomp(2)`. The filter holds from here on, for good.
    """
    if not program:
        return NONE
    try:
        import _ctypes

        native: Any = _ctypes
        call = native.dlsym(native.dlopen(None, 0), "syscall")
    except (ImportError, OSError):
        return NONE
    # struct sock_fprog: how many instructions, and where they are: behind the head of the bytes.
    where = id(program) + bytes.__basicsize__ - 1
    count = len(program) // 8
    order = count.to_bytes(8, "little") + where.to_bytes(8, "little")
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        found: int = native.call_function(call, (number, _SET_FILTER, flags, order))
        if found >= 0:
            return found
    return NONE
