"""Confine this process before a tool is loaded (ADR 28).

Runs in the tool's own process, forked from the worker. Effect: everything here holds for good.
"""

from __future__ import annotations

import os
import signal

from pulsus.execution.confinement import landlock, limits
from pulsus.execution.confinement.syscalls import address, call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_LAST_FILE = 1 << 20

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx")
"""Devices that stay writable: they keep nothing, or are the terminal."""
PTYS = "/dev/pts"


def enter(plan: dict[str, Any], scratch: str, keep: tuple[int, ...]) -> int:
    """Confine this process as planned. The descriptor of its supervised calls, or -1 for none.

    `keep` are the descriptors that stay open beside 0 to 2. Raises OSError where something that
    was planned cannot be enforced.
    """
    if call("prctl", _PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0) < 0:
        raise OSError("the kernel does not tie a process to its parent")
    close_others(keep)
    limits.set_limits(plan["max_mem_mb"], plan["max_files"])
    limits.drop_capabilities(plan["capabilities"])
    limits.no_new_privileges()
    if plan["landlock"]:
        trees = tuple(dict.fromkeys((scratch, PTYS, *plan["folders"])))
        landlock.enter(trees, DEVICES, plan["landlock"])
    return _filter(bytes.fromhex(plan["filter"]), listen=plan["supervised"])


def close_others(keep: tuple[int, ...]) -> None:
    """Close every descriptor but 0 to 2 and these."""
    start = 3
    for number in (*sorted(keep), _LAST_FILE):
        if number >= start:
            os.closerange(start, number)
            start = number + 1


def _filter(program: bytes, *, listen: bool) -> int:
    order = (len(program) // 8).to_bytes(8, "little") + address(program).to_bytes(8, "little")
    ways = (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER) if listen else (0,)
    for flags in ways:
        found = call("seccomp", _SET_FILTER, flags, order)
        if found >= 0:
            return found if listen else -1
    raise OSError("the kernel takes no filter of system calls")
