"""Confine this process before a tool is loaded (ADR 28).

Runs in the tool's own process, forked from the worker. Effect: everything here holds for good.
"""

from __future__ import annotations

import os
import signal

from pulsus.core.sandbox.harness.system_calls import call, install_filter
from pulsus.execution.confinement import landlock, limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    call("prctl", _PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)
    close_others(keep)
    limits.set_limits(plan["max_mem_mb"], plan["max_files"])
    limits.drop_capabilities(plan["capabilities"])
    limits.no_new_privileges()
    if plan["landlock"]:
        trees = tuple(dict.fromkeys((scratch, PTYS, *plan["folders"])))
        landlock.enter(trees, DEVICES, plan["landlock"])
    return install_filter(bytes.fromhex(plan["filter"]), listen=plan["supervised"])


def close_others(keep: tuple[int, ...]) -> None:
    """Close every descriptor but 0 to 2 and these."""
    start = 3
    for number in (*sorted(keep), _LAST_FILE):
        if number >= start:
            os.closerange(start, number)
            start = number + 1
