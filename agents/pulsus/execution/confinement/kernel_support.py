"""Find which parts of the confinement this machine has. Effect: asks the kernel.

A machine without seccomp, user notifications or Landlock gets its reason here, as `pulsus doctor`
(`cli/setup/doctor_checks.py`) shows it. `choose_confinement.py` decides if a run is then refused or
runs with less.
"""

from __future__ import annotations

import functools
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pulsus.core.sandbox.harness.system_calls import call, landlock_version
from pulsus.core.sandbox.isolation.bpf import ARCHES, ASK, ERRNO
from pulsus.execution.confinement.landlock import LANDLOCK_LEAST
from pulsus.execution.confinement.supervision import run_processes

Files = Literal["landlock", "supervised", "none"]

_ACTION_AVAILABLE = 2
_ANSWERS_WITH_FILES = (5, 14)  # SECCOMP_ADDFD_FLAG_SEND


@dataclass(frozen=True, slots=True)
class KernelSupport:
    """The measures that can be enforced here.

    `landlock` is its version (0: none). `supervisor` means that waiting system calls can be
    answered. `files` is the strongest way to refuse changes to files. `why` has one text for each
    missing part.
    """

    landlock: int
    filter: bool
    supervisor: bool
    user_namespaces: bool
    why: tuple[str, ...]

    @property
    def files(self) -> Files:
        """Return the way in which changes to files are refused."""
        if not self.filter:
            return "none"
        if self.landlock >= LANDLOCK_LEAST:
            return "landlock"
        return "supervised" if self.supervisor else "none"


@functools.cache
def find_support() -> KernelSupport:
    """Return what this machine supports, found once in a process."""
    if sys.platform != "linux":
        why = f"{sys.platform} has neither Landlock nor filters of system calls"
        return KernelSupport(0, False, False, False, (why,))
    if os.uname().machine not in ARCHES:
        why = f"no filter of system calls is known for {os.uname().machine}"
        return KernelSupport(0, False, False, False, (why,))
    known = landlock_version()
    missing: list[str] = []
    if known < LANDLOCK_LEAST:
        found = f"Landlock has version {known}" if known else "the kernel has no Landlock"
        missing.append(f"{found}, version {LANDLOCK_LEAST} (Linux 6.2) is needed")
    no_filter = _why_no_filter()
    no_supervisor = no_filter or _why_no_supervisor()
    missing += [f"no filter of system calls: {no_filter}"] if no_filter else []
    if no_supervisor and not no_filter:
        missing.append(f"no supervised system calls: {no_supervisor}")
    return KernelSupport(
        known, not no_filter, not no_supervisor, _has_user_namespaces(), tuple(missing)
    )


def can_confine() -> bool:
    """Return True if a tool that reads can be kept from changing files here."""
    return find_support().files != "none"


def _why_no_filter() -> str:
    try:
        call("seccomp", _ACTION_AVAILABLE, 0, ERRNO.to_bytes(4, "little"))
    except (OSError, ImportError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def _why_no_supervisor() -> str:
    try:
        call("seccomp", _ACTION_AVAILABLE, 0, ASK.to_bytes(4, "little"))
    except OSError:
        return "the kernel has no user notification"
    if _kernel_release() < _ANSWERS_WITH_FILES:
        return f"Linux {os.uname().release} is older than 5.14"
    if not run_processes.can_list_children():
        return "/proc does not list children"
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    try:
        strict = int(scope.read_text(encoding="ascii")) >= (3 if os.geteuid() == 0 else 2)
    except (OSError, ValueError):
        strict = False
    if strict:
        return f"{scope} forbids access to the memory of child processes"
    pidfd = os.pidfd_open(os.getpid())
    try:
        os.close(call("pidfd_getfd", pidfd, pidfd, 0))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        os.close(pidfd)
    return ""


def _kernel_release() -> tuple[int, ...]:
    numbers = os.uname().release.split("-")[0].split(".")[:2]
    return tuple(int(each) for each in numbers if each.isdigit())


def _has_user_namespaces() -> bool:
    with suppress(OSError, ValueError):
        return int(Path("/proc/sys/user/max_user_namespaces").read_text(encoding="ascii")) > 0
    return False
