"""Limit the checkers and sandboxes of this user that run at once here. Effect: locks files.

`core/validators/stage_runner.py` and `core/validators/steps/mypy.py` say how many slots there are,
and how long a validation waits (`validation.wait_seconds`).

Thirty promotions at once would start thirty mypy on two cores, and each would run out of time for
lack of a core. A slot is a locked file. The kernel releases the lock with its process. This module
imports little: mypy is started before anything else is loaded.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress

from pulsus.core.system.private_folders import own_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_RETRY_SECONDS = 0.03
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class NoSlot(Exception):
    """No slot became free in time."""


class Slot:
    """A permission to work. `release` it after the work; the end of the process does so too."""

    def __init__(self, lock: int) -> None:
        self._lock = lock

    def release(self) -> None:
        """Free the slot for another process. May be called again."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def cores() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def try_take(kind: str, count: int) -> Slot | None:
    """Return one of `count` slots of a kind; None if all are taken.

    If the locks cannot be made, each caller gets a slot: the limit only saves time.
    """
    try:
        folder = _lock_folder()
        for number in range(count):
            lock = os.open(f"{folder}/{kind}-{number}", _FLAGS, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
            else:
                return Slot(lock)
    except OSError:
        return Slot(-1)
    return None


def take(
    kind: str, count: int, seconds: float, given_up: Callable[[], bool] = lambda: False
) -> Slot:
    """Return a slot as soon as one is free. Raises NoSlot after `seconds`, or once `given_up`."""
    until = time.monotonic() + seconds
    while not given_up():
        slot = try_take(kind, count)
        if slot is not None:
            return slot
        if time.monotonic() >= until:
            break
        time.sleep(_RETRY_SECONDS)
    raise NoSlot


def _lock_folder() -> str:
    """Return the folder of this user's locks, which does not depend on TMPDIR."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    path = f"{runtime}/pulsus" if runtime.startswith("/") else f"/tmp/pulsus-{os.geteuid()}"
    slots = f"{own_folder(path)}/slots"
    with suppress(FileExistsError):
        os.mkdir(slots, 0o700)  # noqa: PTH102 - pathlib is not loaded yet
    return slots
