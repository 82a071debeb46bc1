"""A file of accounts in `.pulsus/accounts/`, which only this user can read (0700). Effect: files.

A change takes a lock between processes and replaces the file whole (`core/system/atomic_write.py`).
A damaged file is refused. Commands change it while a server runs: the server sees the change with
its next request. The records are those of `user_accounts.py` and `bearer_tokens.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from pulsus.core.storage.file_lock import hold_lock
from pulsus.core.system import atomic_write, regular_files
from pulsus.core.system.state_dir import open_state
from pulsus.core.types import JsonValue
from pulsus.errors import Busy, StateCorrupt, storage_errors

FOLDER: Final = "accounts"
_VERSION: Final = 1
_MOST_BYTES: Final = 1 << 20
_LOCK_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.05

_Found = TypeVar("_Found")


class AccountFile:
    """One file of records under a key. The folder is made with the first record."""

    def __init__(self, state_dir: Path, name: str) -> None:
        self._state_dir, self._path = state_dir, state_dir / FOLDER / name
        self._stamp: tuple[int, int] | None = None
        self._loaded = False

    def is_newer(self) -> bool:
        """Return True if the file was not loaded as it is now."""
        return not self._loaded or self._read_stamp() != self._stamp

    def load(self, read: Callable[[Mapping[str, Any]], dict[str, _Found]]) -> dict[str, _Found]:
        """Return what `read` makes of the file; nothing without a file. Raises StateCorrupt."""
        stamp = self._read_stamp()
        if stamp is None:
            found: dict[str, _Found] = {}
        else:
            found = self._read(read)
        self._stamp, self._loaded = stamp, True
        return found

    def save(self, key: str, rows: list[JsonValue]) -> None:
        """Write all records. Raises DiskFull, StorageUnwritable; the file is then as it was."""
        folder = open_state(self._state_dir).path / FOLDER
        with storage_errors(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
        text = json.dumps({"schema_version": _VERSION, key: rows}, indent=1)
        atomic_write.write_text(self._path, f"{text}\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one process at a time change the file. Raises Busy."""
        path = open_state(self._state_dir).locks / f"{self._path.name}.lock"
        busy = Busy(f"{self._path} is being changed", hint="try again")
        with hold_lock(path, _LOCK_SECONDS, _POLL_SECONDS, busy):
            yield

    def _read_stamp(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def _read(self, read: Callable[[Mapping[str, Any]], dict[str, _Found]]) -> dict[str, _Found]:
        try:
            data = json.loads(regular_files.read_file(self._path, _MOST_BYTES)[0])
            if not isinstance(data, dict) or data.get("schema_version") != _VERSION:
                raise ValueError(f"schema_version is not {_VERSION}")
            return read(data)
        except regular_files.UnreadableFile as failure:
            raise self._corrupt(failure.reason) from None
        except (ValueError, KeyError, TypeError, RecursionError) as failure:
            raise self._corrupt(f"{type(failure).__name__}: {failure}") from None

    def _corrupt(self, why: str) -> StateCorrupt:
        return StateCorrupt(
            f"{self._path} cannot be read: {why}",
            hint="repair it, or move it away; its accounts or tokens are then not valid any more",
            path=str(self._path),
        )
