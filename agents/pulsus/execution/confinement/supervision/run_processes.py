"""Count, measure and end the processes of one run, on the supervisor's side.

The process limit (`run.max_processes` in `config/settings.py`) is enforced here, orphans are
reaped, and a signal to a process of another run is denied. `supervisor.py` ends a run over its
memory limit.

The supervisor is their reaper (PR_SET_CHILD_SUBREAPER), so that none escapes by ending its parent.
Effects: reads /proc, sends signals, waits for children.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from contextlib import suppress

from pulsus.core.sandbox.harness.system_calls import call
from pulsus.core.sandbox.observation.syscall_notifications import (
    LetRun,
    WaitingCall,
    process_of,
    signed,
)
from pulsus.core.system.descriptors import closing_fd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SUBREAPER = 36
_END_S = 2.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


def become_reaper() -> None:
    """Let orphans of this run become children of this process. Raises OSError."""
    call("prctl", _SUBREAPER, 1, 0, 0, 0)


def descendants() -> list[int]:
    """Return every process below this one."""
    found: list[int] = []
    todo = [os.getpid()]
    while todo:
        children = _list_children(todo.pop())
        found += children
        todo += children
    return found


def _list_children(process: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
            with open(f"/proc/{process}/task/{task}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def can_list_children() -> bool:
    """Return True if this kernel lists the children of a process (CONFIG_PROC_CHILDREN)."""
    return os.path.exists("/proc/self/task") and os.path.exists(  # noqa: PTH110
        f"/proc/self/task/{os.getpid()}/children"
    )


def measure_use() -> tuple[int, int]:
    """Return the bytes and the threads of all processes of this run.

    Shared pages count once for each process.
    """
    total = threads = 0
    for process in descendants():
        with suppress(OSError, IndexError), open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123
            total += int(file.read().split()[1]) * _PAGE
            threads += os.stat(f"/proc/{process}/task").st_nlink - 2  # noqa: PTH116
    return total, threads


def end_all(reaped: Callable[[int, int], None]) -> None:
    """Kill every descendant and reap it, for a bounded time."""
    until = time.monotonic() + _END_S
    while time.monotonic() < until:
        remaining = descendants()
        for process in remaining:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    break
                reaped(process, status)
        except ChildProcessError:
            return
        time.sleep(0.001)


class ProcessBroker:
    """Counts the processes of a run, and answers its calls that start or signal one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._alive = 1
        self.refused = False
        self.calls: dict[str, Callable[[WaitingCall], int]] = {
            **dict.fromkeys(("clone", "fork", "vfork"), self._allow_start),
            "kill": self._signal_process,
            "tkill": lambda q: self._signal_thread(q, 0),
            "tgkill": lambda q: self._signal_thread(q, 1),
            "rt_sigqueueinfo": self._signal_process,
            "rt_tgsigqueueinfo": lambda q: self._signal_thread(q, 1),
            "pidfd_send_signal": self._signal_by_descriptor,
        }

    def _allow_start(self, q: WaitingCall) -> int:
        if self._alive >= self._most:
            self._alive = len(descendants())
        if self._alive >= self._most:
            self.refused = True
            raise OSError(errno.EAGAIN, "as many processes as it may have")
        self._alive += 1
        raise LetRun

    def _signal_process(self, q: WaitingCall) -> int:
        target = signed(q.args[0])
        below = descendants()
        if target in below:
            raise LetRun
        group = os.getpgid(q.thread) if target == 0 else -target
        if target > 0 or target == -1 or group == 1:
            raise PermissionError(errno.EPERM, "not a process of this run")
        inside = [each for each in below if _process_group(each) == group]
        if not inside:
            raise PermissionError(errno.EPERM, "not a group of this run")
        for each in inside:
            os.kill(each, signed(q.args[1]))
        return 0

    def _signal_thread(self, q: WaitingCall, position: int) -> int:
        if process_of(signed(q.args[position])) in descendants():
            raise LetRun
        raise PermissionError(errno.EPERM, "not a process of this run")

    def _signal_by_descriptor(self, q: WaitingCall) -> int:
        with closing_fd(q.file(signed(q.args[0]))) as pidfd:
            with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:  # noqa: PTH123
                fields = dict(line.split(None, 1) for line in file if len(line.split()) > 1)
            if int(fields.get("Pid:", "-1")) not in descendants():
                raise PermissionError(errno.EPERM, "not a process of this run")
            signal.pidfd_send_signal(pidfd, signed(q.args[1]))
        return 0


def _process_group(process: int) -> int:
    with suppress(OSError):
        return os.getpgid(process)
    return 0
