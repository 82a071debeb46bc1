"""Starts mypy before anything else is imported (spec §8.2). Effect: a process, a folder.

Its flags and findings are in `mypy.py`, its timeout in `checker_process.py`.

Importing mypy takes most of the time that a single module needs. This module needs `os` and `sys`
alone, so that the other core works on it from the first moment.
"""

from __future__ import annotations

import os
import signal
import sys

from pulsus.core.sandbox.child_process import ChildProcess
from pulsus.core.system import machine_slots
from pulsus.core.system.private_folders import Scratch

CHECKER = "checker"
"""The kind of slot that a checker takes: as many as there are cores."""

# Everything is loaded before the order comes; collecting garbage meanwhile finds none. mypy asks
# psutil for the number of cores only, and takes its absence for an answer.
WAIT = """
import gc, os, sys
gc.disable()
os.chdir(sys.argv[1])
sys.modules["psutil"] = None
import mypy.main
gc.freeze()
gc.enable()
order = sys.stdin.readline()
if order:
    import json
    mypy.main.main(args=json.loads(order))
"""


def make_environment(folder: str) -> dict[str, str]:
    """Return all the variables that a checker gets: none of ours."""
    return {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}


class PrestartedMypy:
    """A mypy that waits for its order in a working folder.

    `order`, `output` and `errors` are the descriptors of its input, output and errors. The caller
    kills it, or hands it to a `Checker`. It ends by itself when `order` is closed.
    """

    def __init__(self, scratch: Scratch, slot: machine_slots.Slot) -> None:
        self.scratch, self.slot = scratch, slot
        folder = scratch.path
        self.output, self.errors = (
            _create_file(f"{folder}/{name}") for name in (".output", ".said")
        )
        theirs, self.order = os.pipe()
        try:
            pid = os.posix_spawn(
                sys.executable,
                # Isolated: neither the current folder nor PYTHON* variables count.
                [sys.executable, "-I", "-B", "-c", WAIT, folder],
                make_environment(folder),
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs, 0),
                    (os.POSIX_SPAWN_DUP2, self.output, 1),
                    (os.POSIX_SPAWN_DUP2, self.errors, 2),
                ],
                setpgroup=0,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        except OSError:
            for fd in (self.order, self.output, self.errors):
                os.close(fd)
            raise
        finally:
            os.close(theirs)
        self.child = ChildProcess(pid)

    def end(self) -> None:
        """Kill it, remove its folder and release its slot."""
        for fd in (self.order, self.output, self.errors):
            os.close(fd)
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.scratch.remove()
        self.slot.release()


def prestart_mypy() -> PrestartedMypy | None:
    """Start a mypy in a working folder; return None if it must be started later.

    That is while other checkers take every slot of this machine, and where no folder can be had.
    """
    slot = machine_slots.try_take(CHECKER, machine_slots.cores())
    if slot is None:
        return None
    try:
        scratch = Scratch("mypy")
    except OSError:
        slot.release()
        return None
    try:
        return PrestartedMypy(scratch, slot)
    except OSError:
        scratch.remove()
        slot.release()
        return None


def _create_file(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
