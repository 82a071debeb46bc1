"""Tell calls on the sandbox's own processes from calls on others (spec §8).

A kill of a foreign process is noted here as an effect of the candidate.

The kernel numbers the processes of a namespace one after another. So a number above the highest one
that was seen in the sandbox belongs to others. Calls that start a process are not shown: a signal
that comes meanwhile would end them (EINTR), which no program expects of `fork`. Effect: reads
/proc, through `process_memory.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.core.sandbox.harness.audit_hook import Fact
from pulsus.core.sandbox.observation import traced_syscalls
from pulsus.core.sandbox.observation.process_memory import Caller, SandboxView
from pulsus.core.sandbox.observation.syscall_notifications import signed

FIRST = 1  # bubblewrap's own, which the candidate did not start
_GROUP, _USER = 1, 2  # PRIO_PGRP, PRIO_USER
_OWNER_GROUP = 2  # F_OWNER_PGRP
_SIGNALLED = {"kill": 0, "tkill": 0, "tgkill": 0, "rt_sigqueueinfo": 0, "rt_tgsigqueueinfo": 0}
_SIGNAL = {"tgkill": 2, "rt_tgsigqueueinfo": 2}  # its position; else 1
SETTINGS = (
    *("setpriority", "ioprio_set", "prlimit64"),
    *("sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"),
)
"""Calls that change how a process runs."""

OPENS = "pidfd_open"
"""A signal may follow, but only if there is such a process."""


class ProcessTargets:
    """The processes of one sandbox, and the calls that reach others."""

    def __init__(self, inside: SandboxView) -> None:
        self._inside = inside
        self._highest = inside.newest()

    def saw(self, number: int) -> None:
        """Take in a number that a process of the sandbox has."""
        self._highest = max(self._highest, number)

    def signals(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Name the target of a signal, if the candidate did not start it."""
        if not signed(args[_SIGNAL.get(name, 1)]):
            return  # signal 0 only tests if the process exists
        if name == "pidfd_send_signal":
            target = _parse_process_number(caller.facts_of(signed(args[0])))
        else:
            target = signed(args[_SIGNALLED[name]])
        if target == -1:
            yield "s", "signals every process"
        elif self._is_foreign_process(target):
            yield "s", f"signals {_describe_target(target)}"

    def settings(self, name: str, args: Sequence[int]) -> Iterator[Fact]:
        """Name the process whose priority, scheduling or limits change.

        Yield nothing for processes of the sandbox.
        """
        kind, target = 0, signed(args[0])
        if name in ("setpriority", "ioprio_set"):
            # The IOPRIO_WHO_ constants are one more than the PRIO_ constants.
            kind, target = signed(args[0]) - (name == "ioprio_set"), signed(args[1])
        elif name == "prlimit64" and not args[2]:
            return  # it only reads the limits
        if kind == _USER:
            yield "s", f"calls {name} for every process of a user"
        elif self._is_foreign_process(-target if kind == _GROUP else target):
            yield "s", f"calls {name} for {_describe_target(-target if kind == _GROUP else target)}"

    def owner(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Name who is to get the signals of a descriptor, and a signal that is chosen for it."""
        order = args[1] & 0xFFFFFFFF
        if name == "fcntl" and order == traced_syscalls.F_SETSIG:
            yield "s", "calls fcntl F_SETSIG"
            return
        target = signed(args[2])
        if name == "ioctl":
            target = caller.number(args[2])
        elif order == traced_syscalls.F_SETOWN_EX:
            kind = caller.number(args[2])
            target = caller.number(args[2] + 4)
            target = -target if kind == _OWNER_GROUP else target
        if self._is_foreign_process(target):
            yield "s", f"signals {_describe_target(target)}"

    def _is_foreign_process(self, target: int) -> bool:
        number = abs(target)
        self.saw(self._inside.newest())
        return number == FIRST or (number > self._highest and not self._inside.holds(number))


def _describe_target(target: int) -> str:
    return f"process{' group' if target < 0 else ''} {abs(target)}"


def _parse_process_number(facts: str) -> int:
    """Return the number that the process behind a pidfd has in the sandbox."""
    for line in facts.splitlines():
        name, _, numbers = line.partition(":")
        if name == "NSpid":
            return int(numbers.split()[-1])
    return 0
