"""What a confined process may use and hold: rlimits and capabilities.

Effect: narrows this process for good.
"""

from __future__ import annotations

import resource
import struct
from contextlib import suppress

from pulsus.core.sandbox.harness.system_calls import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

MEGABYTE = 1 << 20
_CAPSET_VERSION = 0x20080522
_NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 38, 47, 4

CAPABILITIES = {
    "dac_read_search": 2,
    "sys_ptrace": 19,
    "net_raw": 13,
    "syslog": 34,
}
"""Those that a read may keep, by name (`linux/capability.h`)."""


def set_limits(max_mem_mb: int, max_files: int) -> None:
    """Bound memory and files of this process and of each that it starts.

    RLIMIT_DATA counts private memory that can be written to; the address space, which libraries
    and shared memory fill too, may be twice as large.
    """
    _at_most(resource.RLIMIT_DATA, max_mem_mb * MEGABYTE)
    _at_most(resource.RLIMIT_AS, 2 * max_mem_mb * MEGABYTE)
    _at_most(resource.RLIMIT_NOFILE, max_files)
    _at_most(resource.RLIMIT_CORE, 0)
    with suppress(AttributeError):  # not everywhere; 0 takes away what counts in the kernel
        _at_most(resource.RLIMIT_MSGQUEUE, 0)
        _at_most(resource.RLIMIT_RTPRIO, 0)


def drop_capabilities(keep: Collection[int]) -> None:
    """Keep only these capabilities. Raises OSError.

    `no_new_privs` makes it final: what is started then, by root too, gets no more of them.
    """
    with suppress(OSError):  # an old kernel has no ambient capabilities
        call("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    now = _permitted()
    mask = sum(1 << each for each in keep) & now
    low, high = mask & 0xFFFFFFFF, mask >> 32
    head = struct.pack("=Ii", _CAPSET_VERSION, 0)
    call("capset", head, struct.pack("=6I", low, low, 0, high, high, 0))


def no_new_privileges() -> None:
    """Let no program give this process more rights than it has. Raises OSError."""
    call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _at_most(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def _permitted() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("CapPrm:"):
                return int(line.split()[1], 16)
    raise OSError("/proc/self/status names no capabilities")
