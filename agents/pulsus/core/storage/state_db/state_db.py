"""Open `.pulsus/state.db`, and turn its failures into errors (ADR 42). Effect: reads, writes it.

A database that is corrupt, was made by a newer Pulsus or by another user, or stays locked too long
is refused here, and the file gets mode 0600. `state_tables.py` has the migrations of the schema.
What a run writes into it is in `execution/journal/journal.py`, and requests for approval in
`approvals/cards/stored_requests.py`.

The file is made beside its place and renamed, so an empty or half-made one is always damage. It
carries a seal of this user's key (`config/cache_secret.py`): a repository can bring a `.pulsus/` of
its own, and the runs in it must not be resumed here.
"""

from __future__ import annotations

import errno
import fcntl
import hmac
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, count
from pathlib import Path

from pulsus.config import cache_secret
from pulsus.config.user_state import UserState
from pulsus.core.storage.state_db.state_tables import APPLICATION_ID, MIGRATIONS
from pulsus.core.system.descriptors import closing_fd
from pulsus.errors import (
    Busy,
    DiskFull,
    PulsusError,
    StateCorrupt,
    StorageUnwritable,
    UserStateInvalid,
    storage_errors,
)

FILE = "state.db"
BUSY_SECONDS = 10.0
"""Time to wait for another process that writes to the database."""

_SUFFIXES = ("", "-wal", "-shm")
_NEW = ".new"
_FULL = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE))
_UNWRITABLE = frozenset(
    (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR)
)
_LOCKED = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_DAMAGED = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT))


def open_state_db(
    state_dir: Path,
    project: Path,
    *,
    migrations: Sequence[str] = MIGRATIONS,
    any_thread: bool = False,
) -> sqlite3.Connection:
    """Return a connection to `state_dir/state.db`, made or migrated first if needed.

    `state_dir` must exist. The connection commits each statement unless a transaction was begun.
    It is for the calling thread, or with `any_thread` for one thread at a time. Close it. Raises
    StateCorrupt for a damaged, foreign or newer file, and for one that this user did not make.
    Raises Busy for a locked one, DiskFull, StorageUnwritable, and UserStateInvalid if there is no
    place for the key that seals it.
    """
    path = state_dir / FILE
    with database_errors(path), _locked(state_dir):
        if not _is_present(path):
            _make(path, project, migrations)
        connection = _connect(path, any_thread)
        try:
            _check(connection, path, project, len(migrations))
            _migrate(connection, migrations)
        except BaseException:
            connection.close()
            raise
    return connection


def has_state_db(state_dir: Path) -> bool:
    """Return True if `state_dir` has a database, or what is left of one."""
    return any(os.path.lexists(state_dir / f"{FILE}{suffix}") for suffix in _SUFFIXES)


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Raise the PulsusError that fits for an error of SQLite in the block."""
    try:
        yield
    except sqlite3.Error as failure:
        raise database_error(failure, path) from failure


def database_error(failure: sqlite3.Error, path: Path) -> PulsusError:
    """Return the error to raise for a failed statement on the database at `path`."""
    extended = getattr(failure, "sqlite_errorcode", None) or 0
    code = extended & 0xFF
    if code in _LOCKED:
        return Busy(
            f"{path} is locked: another Pulsus has been writing to it for {BUSY_SECONDS:g} s",
            hint="wait until it has finished, and try again",
            path=str(path),
        )
    if extended in _FULL or (code == sqlite3.SQLITE_IOERR and _is_disk_full(path)):
        return DiskFull(
            f"cannot write {path}: {os.strerror(errno.ENOSPC)}",
            hint="make room on that disk (`pulsus gc` removes old logs and candidates), then retry",
            path=str(path),
        )
    if code == sqlite3.SQLITE_READONLY and _may_write(path):
        return damaged_error(path, f"is damaged: SQLite cannot write it ({failure})")
    if code in _UNWRITABLE:
        return StorageUnwritable(
            f"cannot write {path}: {failure}",
            hint=f"give this user write access to {path} and to its folder",
            path=str(path),
        )
    if code in _DAMAGED or isinstance(failure, sqlite3.OperationalError):
        return damaged_error(path, f"is damaged: {failure}")
    raise failure  # a mistake in a statement is a bug


def check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StateCorrupt unless every page and index is whole, and a write can begin."""
    with database_errors(path):
        # This changes nothing. SQLite lets `BEGIN IMMEDIATE` pass on a file that it cannot write.
        connection.execute("UPDATE seal SET mark = mark WHERE false")
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise damaged_error(path, f"is damaged: {found}")


def damaged_error(path: Path, why: str) -> StateCorrupt:
    """Return the error for a database that cannot be used, with the way to begin a new one."""
    kept = _unused_folder(path.parent / "damaged")
    return StateCorrupt(
        f"{path} {why}",
        hint=f"keep it for a look and start anew: mkdir {kept} && mv {path}* {kept}/ (runs can "
        "then not be resumed, and waiting requests and approvals in doubt are lost)",
        path=str(path),
    )


@contextmanager
def _locked(state_dir: Path) -> Iterator[None]:
    """Let one process at a time make or migrate the database."""
    path = state_dir / "locks" / f"{FILE}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with storage_errors(path):
        path.parent.mkdir(exist_ok=True)
        lock = os.open(path, flags, 0o600)
    with closing_fd(lock):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_present(path: Path) -> bool:
    """Return True if there is a database. Raises StateCorrupt for anything else in its place."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        # SQLite would replay the log of the lost database into a new one.
        wal = path.with_name(f"{FILE}-wal")
        if os.path.lexists(wal) and wal.lstat().st_size:
            raise damaged_error(path, f"is missing, but its log {wal.name} is there") from None
        return False
    if not stat.S_ISREG(found.st_mode):
        raise damaged_error(path, "is not a regular file")
    if found.st_uid != os.geteuid() and os.geteuid() != 0:
        raise damaged_error(path, f"belongs to another user (uid {found.st_uid})")
    if not found.st_size:
        raise damaged_error(path, "is empty")
    if found.st_mode & 0o077:
        with storage_errors(path):
            path.chmod(0o600)
    return True


def _make(path: Path, project: Path, migrations: Sequence[str]) -> None:
    key = cache_secret.get_or_make(project)
    if key is None:
        UserState.of(project).read(cache_secret.FILE)  # raises UserStateInvalid without a place
        raise UserStateInvalid(
            f"cannot make {path}: this user has no folder for the key that seals it",
            hint="set XDG_STATE_HOME to an absolute folder of this user, outside the project",
            path=str(path),
        )
    new = path.with_name(FILE + _NEW)
    for suffix in (*_SUFFIXES, "-journal"):  # what a killed maker left; the lock is ours
        with suppress(FileNotFoundError):
            new.with_name(new.name + suffix).unlink()
    with storage_errors(new):
        os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    try:
        # A rollback journal, so that the one file is the whole database when it is renamed.
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _migrate(connection, migrations)
            mark = os.urandom(16).hex()
            connection.execute("INSERT INTO seal VALUES (?, ?)", (_seal(key, mark), mark))
        with storage_errors(path):
            new.rename(path)
            with closing_fd(os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)) as folder:
                os.fsync(folder)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _seal(key: bytes, mark: str) -> str:
    return cache_secret.seal(key, b"state.db\0" + mark.encode("utf-8", "replace"))


def _connect(path: Path, any_thread: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=not any_thread
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path, project: Path, newest: int) -> None:
    """Raise StateCorrupt unless this user's Pulsus made the file, and not a newer one."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise damaged_error(path, f"is no database of Pulsus (application_id {application})")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > newest:
        raise StateCorrupt(
            f"{path} was written by a newer Pulsus (version {version}, this one knows {newest})",
            hint="upgrade Pulsus, or set state_dir to another folder",
            path=str(path),
        )
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        raise damaged_error(path, "cannot keep a write-ahead log on this file system")
    rows = connection.execute("SELECT code, mark FROM seal").fetchall()
    key = cache_secret.read_secret(project)
    if key is None:
        UserState.of(project).read(cache_secret.FILE)  # raises UserStateInvalid without a place
    if key is None or len(rows) != 1 or not hmac.compare_digest(rows[0][0], _seal(key, rows[0][1])):
        raise damaged_error(path, "was not made by this user on this machine")


def _migrate(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    """Apply the changes that the file has not seen, each in a transaction of its own."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, script in enumerate(migrations[version:], start=version + 1):
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {number}; COMMIT"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _unused_folder(folder: Path) -> Path:
    """Return the folder, or with a number after it the first one that does not exist."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(each for each in chain((folder,), numbered) if not os.path.lexists(each))


def _may_write(path: Path) -> bool:
    """Return True if this user may write the database, the files beside it, and the folder."""
    beside = (path.with_name(f"{FILE}{suffix}") for suffix in _SUFFIXES)
    return all(os.access(each, os.W_OK) for each in (path.parent, *filter(os.path.lexists, beside)))


def _is_disk_full(path: Path) -> bool:
    with suppress(OSError):
        found = os.statvfs(path.parent)
        return not found.f_bavail or (found.f_files > 0 and not found.f_favail)
    return False
