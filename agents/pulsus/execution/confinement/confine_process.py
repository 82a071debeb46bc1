"""Confine this process before a tool is loaded (ADR 28): rlimits, capabilities, Landlock, filter.

Runs in the tool's own process, forked from the worker. Effect: everything here holds for good.

What the process may do is decided before, in `choose_confinement.py`.

Here the limits on memory and open files (`run.max_files`) are set; writable folders are in
`landlock.py`. The memory of all processes together is checked in
`execution/confinement/supervision/supervisor.py`, their number in
`execution/confinement/supervision/run_processes.py`.
"""

from __future__ import annotations

import os
import resource
import signal
import struct
from contextlib import suppress

from pulsus.core.sandbox.harness.system_calls import call, install_filter
from pulsus.execution.confinement.landlock import (
    WRITABLE_DEVICES,
    WRITABLE_TERMINALS,
    enter_landlock,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

_PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_LAST_FILE = 1 << 20

MEGABYTE = 1 << 20
_CAPSET_VERSION = 0x20080522
_NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 38, 47, 4

CAPABILITIES = {
    "dac_override": 1,
    "dac_read_search": 2,
    "fowner": 3,
    "sys_ptrace": 19,
    "net_raw": 13,
    "syslog": 34,
}
"""Capabilities that a confined tool may keep, by name (`linux/capability.h`)."""


def enter(plan: dict[str, Any], scratch: str, keep: tuple[int, ...]) -> int:
    """Confine this process as planned. Return the descriptor of its supervised calls, or -1 for
    none.

    `keep` are the descriptors that stay open beside 0 to 2. Raises OSError if a planned measure
    cannot be enforced.
    """
    call("prctl", _PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)
    close_others(keep)
    set_run_limits(plan["max_mem_mb"], plan["max_files"])
    drop_capabilities(plan["capabilities"])
    no_new_privileges()
    if plan["landlock"]:
        folders = tuple(dict.fromkeys((scratch, WRITABLE_TERMINALS, *plan["folders"])))
        enter_landlock(folders, WRITABLE_DEVICES, plan["landlock"])
    return install_filter(bytes.fromhex(plan["filter"]), listen=plan["supervised"])


def close_others(keep: tuple[int, ...]) -> None:
    """Close every descriptor but 0 to 2 and these."""
    start = 3
    for number in (*sorted(keep), _LAST_FILE):
        if number >= start:
            os.closerange(start, number)
            start = number + 1


def set_run_limits(max_mem_mb: int, max_files: int) -> None:
    """Limit memory and files of this process and of each that it starts.

    RLIMIT_DATA counts private memory that can be written to. Libraries and shared memory fill the
    address space too, so it may be twice as large.
    """
    _lower_limit(resource.RLIMIT_DATA, max_mem_mb * MEGABYTE)
    _lower_limit(resource.RLIMIT_AS, 2 * max_mem_mb * MEGABYTE)
    _lower_limit(resource.RLIMIT_NOFILE, max_files)
    _lower_limit(resource.RLIMIT_CORE, 0)
    with suppress(
        AttributeError
    ):  # some systems lack these; 0 takes away what counts in the kernel
        _lower_limit(resource.RLIMIT_MSGQUEUE, 0)
        _lower_limit(resource.RLIMIT_RTPRIO, 0)


def drop_capabilities(keep: Collection[int]) -> None:
    """Keep only these capabilities. Raises OSError.

    `no_new_privs` makes it final: a program that is started afterwards gets no more, by root too.
    """
    with suppress(OSError):  # an old kernel has no ambient capabilities
        call("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    now = _permitted_capabilities()
    mask = sum(1 << each for each in keep) & now
    low, high = mask & 0xFFFFFFFF, mask >> 32
    head = struct.pack("=Ii", _CAPSET_VERSION, 0)
    call("capset", head, struct.pack("=6I", low, low, 0, high, high, 0))


def no_new_privileges() -> None:
    """Let no program give this process more rights than it has. Raises OSError."""
    call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _lower_limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def _permitted_capabilities() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("CapPrm:"):
                return int(line.split()[1], 16)
    raise OSError("/proc/self/status names no capabilities")
