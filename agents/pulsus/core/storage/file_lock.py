"""A lock between processes: a file that one of them locks, with a limit of the wait (filelock).

A killed process leaves no stale lock, because the kernel releases it. The caller turns the timeout
into an error. The catalogue is locked in `catalogue_lock.py`, the decision log in
`core/storage/decision_log/decision_log.py`, the accounts of the web page in
`web/accounts/account_file.py`, a run of a plan in `execution/journal/run_folder.py`. Concurrent
checkers are limited in `core/system/machine_slots.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from pulsus.errors import Busy, storage_error


@contextmanager
def hold_lock(path: Path, seconds: float, poll_seconds: float, busy: Busy) -> Iterator[None]:
    """Hold the lock file in the block. `poll_seconds` lie between two tries to get it.

    Raises `busy` if another process holds it for so many seconds, DiskFull, StorageUnwritable.
    """
    try:
        lock = filelock.FileLock(path, timeout=seconds).acquire(poll_interval=poll_seconds)
    except filelock.Timeout as failure:
        raise busy from failure
    except OSError as failure:
        raise storage_error(failure, path) from failure
    with lock:
        yield
