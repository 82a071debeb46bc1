"""One open connection to `state.db`, shared by the threads of a server. Effect: reads, writes it.

A busy or locked database becomes an error in `state_db.py`.

To open the database takes longer than to use it: its owner, its seal and its version are checked,
and the last connection that closes copies the write-ahead log into the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pulsus.core.storage.state_db import state_db

CACHE_KIB: Final = 512
"""Pages that the connection keeps in memory at most. A server uses it for months, and SQLite's own
limit of 2 MiB would be reached after thousands of small changes."""

_Identity = tuple[tuple[int, int] | None, ...]


class SharedConnection:
    """The database of one project, for one process. It is opened with the first use.

    Another file in its place, or an error, ends the connection: the next use opens and checks it
    anew. A child of this process must not use it.
    """

    def __init__(self, state_dir: Path, project: Path) -> None:
        self._state_dir, self._project = state_dir, project
        self._path = os.fspath(state_dir / state_db.FILE)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened: _Identity = ()

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, for one thread at a time. Raises what `open_state_db` raises.

        A transaction that the block leaves open is taken back.
        """
        with self._lock:
            connection = self._open()
            try:
                with state_db.database_errors(self._state_dir / state_db.FILE):
                    yield connection
            except BaseException:
                self._close()
                raise

    def close(self) -> None:
        """End the connection. A further use opens it again."""
        with self._lock:
            self._close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._identity() != self._opened:
            self._close()
        if self._connection is None:
            self._connection = state_db.open_state_db(
                self._state_dir, self._project, any_thread=True
            )
            self._opened = self._identity()
            with state_db.database_errors(self._state_dir / state_db.FILE):
                self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        return self._connection

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _identity(self) -> _Identity:
        """Return which files there are: a database that was moved away must not be written to."""
        return _file_id(self._path), _file_id(f"{self._path}-wal")


def _file_id(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
