"""A lock for each execution, which ends with its process. Effect: files in `.pulsus/locks/`.

The ledger says that an execution was started. The lock says if the process that carries it out
still lives: after a crash nothing holds it, so no lock is ever stale. If two people decide one card
at the same time, `waiting_approvals.py` lets one of them win. Other locks between processes are in
`core/storage/file_lock.py`.
"""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from pulsus.core.system.descriptors import closing_fd
from pulsus.errors import storage_errors

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class ExecutionLocks:
    """The locks of one project. Safe for use by several threads."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "locks"
        self._held: dict[str, int] = {}
        self._guard = threading.Lock()

    def hold(self, card_id: str) -> None:
        """Hold the lock of a card until `release`, or until this process ends.

        Raises DiskFull, StorageUnwritable.
        """
        path = self._path(card_id)
        with storage_errors(path):
            path.parent.mkdir(exist_ok=True)
            lock = os.open(path, _FLAGS, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with self._guard:
            self._held[card_id] = lock

    def release(self, card_id: str) -> None:
        """Release the lock of a card, and remove its file."""
        with self._guard:
            lock = self._held.pop(card_id, None)
        if lock is None:
            return
        with suppress(OSError):
            self._path(card_id).unlink()
        os.close(lock)

    def is_held(self, card_id: str) -> bool:
        """Return True if a process that lives carries the card out."""
        try:
            lock = os.open(self._path(card_id), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        with closing_fd(lock):
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def _path(self, card_id: str) -> Path:
        return self._folder / f"execution-{card_id}.lock"
