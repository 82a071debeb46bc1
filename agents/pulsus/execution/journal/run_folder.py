"""The folder of one run, `.pulsus/runs/RUN_ID/`: its owner's lock and its results (ADR 42).

A result with another sha256 is refused as corrupt. A result file is replaced as a whole (atomic),
and that of a write outlives a power cut (fsync). The lock decides who runs: a second process that
would resume the same run gets `Busy`.

Effect: makes the folder, writes and reads files in it. No link is followed: a repository can bring
a `.pulsus/` of its own.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.system import atomic_write
from pulsus.core.system.descriptors import closing_fd
from pulsus.core.system.jsonl import STRICT
from pulsus.core.types import JsonValue
from pulsus.errors import Busy, StateCorrupt, UsageError, storage_errors

MOST_KEPT_BYTES = 64 * 1024
"""The journal keeps a result of a write up to this size, beside its file."""
_LOCK = "owner.lock"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# A list of runs holds the lock for a moment, to see who owns it.
_CLAIM_SECONDS = 1.0
_RETRY_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class SavedResult:
    """The file with a result, and its hash. `journal_text` is the text for the journal, too."""

    name: str
    sha256: str
    journal_text: str | None = None


class RunFolder:
    """The folder of a run that this process owns until `release`. No other process then runs it."""

    def __init__(self, state_dir: Path, run_id: str) -> None:
        """Make the folder if it is missing, and take its lock.

        Raises Busy if another process runs it, DiskFull, StorageUnwritable.
        """
        self.path = _run_path(state_dir, run_id)
        with storage_errors(self.path):
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            with closing_fd(os.open(self.path.parent, _FOLDER)) as runs:
                with suppress(FileExistsError):
                    os.mkdir(run_id, 0o700, dir_fd=runs)
                self._folder = os.open(run_id, _FOLDER, dir_fd=runs)
            try:
                self._lock = os.open(_LOCK, _LOCK_FILE, 0o600, dir_fd=self._folder)
            except BaseException:
                os.close(self._folder)
                raise
        try:
            self._claim(run_id)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Give the run up. May be called again."""
        for number in (self._lock, self._folder):
            if number >= 0:
                os.close(number)
        self._lock = self._folder = -1

    def save(self, name: str, value: JsonValue, *, durable: bool) -> str:
        """Write `value` to the file of that name, whole or not at all. Return its sha256.

        With `durable` it outlives a power cut. Without, a lost file is found by its hash.
        Raises DiskFull, StorageUnwritable, and ValueError for NaN and infinities.
        """
        return self._save_bytes(name, _encode(value), durable=durable)

    def _save_bytes(self, name: str, data: bytes, *, durable: bool) -> str:
        temp = f".{name}{atomic_write.TEMP_SUFFIX}"
        with storage_errors(self.path / name):
            atomic_write.unlink(self._folder, temp)  # a killed owner left it
            _write(self._folder, temp, data, synced=durable)
            os.rename(temp, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            if durable:
                os.fsync(self._folder)
        return hashlib.sha256(data).hexdigest()

    def save_result(self, name: str, value: JsonValue, *, is_write: bool) -> SavedResult:
        """Write the result of a call, as `save`. The journal keeps a small one of a write."""
        data = _encode(value)
        if not is_write or len(data) > MOST_KEPT_BYTES:
            return SavedResult(name, self._save_bytes(name, data, durable=is_write))
        return SavedResult(name, self._save_bytes(name, data, durable=False), data.decode("utf-8"))

    def restore(self, saved: SavedResult) -> None:
        """Write a result from the journal again if its file was lost, as in a power cut."""
        if saved.journal_text is not None and not self.has(saved.name, saved.sha256):
            self._save_bytes(saved.name, saved.journal_text.encode("utf-8"), durable=True)

    def load(self, name: str, sha256: str) -> JsonValue:
        """Return the value in that file. Raises StateCorrupt if it is not the one of that hash."""
        return _load(self.path / name, sha256, self._folder)

    def has(self, name: str, sha256: str) -> bool:
        """Return True if the file is there with that hash."""
        try:
            data = _read(name, self._folder)
        except OSError:
            return False
        return hashlib.sha256(data).hexdigest() == sha256

    def _claim(self, run_id: str) -> None:
        until = time.monotonic() + _CLAIM_SECONDS
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(_RETRY_SECONDS)
                    continue
                owner = os.pread(self._lock, 20, 0).decode("ascii", "replace").strip()
                raise Busy(
                    f"{run_id} is being run by another process (pid {owner or 'unknown'})",
                    hint="wait until it has ended, or end it with SIGTERM, then try again",
                    run_id=run_id,
                ) from None
            break
        with storage_errors(self.path / _LOCK):
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)


def result_name(step: str, item: int | None = None) -> str:
    """Return the name of the file with the result of a step, or of one item of it."""
    return f"{step}.json" if item is None else f"{step}.{item}.json"


def items_name(step: str) -> str:
    """Return the name of the file with the items of a step with `for_each`."""
    return f"{step}.items.json"


def is_owned(state_dir: Path, run_id: str) -> bool:
    """Return True if a living process owns the run."""
    path = _run_path(state_dir, run_id)
    try:
        with (
            closing_fd(os.open(path, _FOLDER)) as folder,
            closing_fd(os.open(_LOCK, _READ, dir_fd=folder)) as lock,
        ):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def load_result(state_dir: Path, run_id: str, name: str, sha256: str) -> JsonValue:
    """Return a result of any run, owned or not. Raises StateCorrupt if it is missing or changed."""
    path = _run_path(state_dir, run_id)
    try:
        folder = os.open(path, _FOLDER)
    except OSError as failure:
        raise _corrupt(path / name, failure.strerror or str(failure)) from failure
    with closing_fd(folder):
        return _load(path / name, sha256, folder)


def require_plain_name(name: str, what: str) -> str:
    """Return `name`. Raises UsageError unless it is a plain word, which may name a file."""
    if not _PLAIN.fullmatch(name):
        raise UsageError(
            f"{what} {name[:100]!r} is no plain name",
            hint="use letters, digits, `_` and `-`, at most 100",
        )
    return name


def _run_path(state_dir: Path, run_id: str) -> Path:
    return state_dir / "runs" / require_plain_name(run_id, "the run id")


def _encode(value: JsonValue) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _write(folder: int, temp: str, data: bytes, *, synced: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(temp, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
    except OSError:
        atomic_write.unlink(folder, temp)
        raise


def _read(name: str, folder: int) -> bytes:
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
        return file.read()


def _load(path: Path, sha256: str, folder: int) -> JsonValue:
    try:
        data = _read(path.name, folder)
    except OSError as failure:
        raise _corrupt(path, failure.strerror or str(failure)) from failure
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise _corrupt(path, f"its sha256 is {found[:12]}…, the journal has {sha256[:12]}…")
    value: JsonValue = STRICT.decode(data.decode("utf-8"))
    return value


def _corrupt(path: Path, why: str) -> StateCorrupt:
    return StateCorrupt(
        f"the result {path} cannot be used: {why}",
        hint="restore that file, or apply the plan again as a new run",
        path=str(path),
    )
