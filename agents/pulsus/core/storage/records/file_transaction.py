"""Several files replaced together or not at all (atomic). Effect: writes files below one folder.

One file alone is replaced in `core/system/atomic_write.py`; the lock is held by
`core/storage/catalogue_lock.py`. Ctrl-C and SIGTERM wait while the files are renamed.

A journal names what is about to happen. Then every new content is staged beside its target, where a
full disk or a read-only folder shows before anything has changed; then come the renames, then
`commit` with the journal's note, then the journal goes. After a crash, the process that finds a
journal later finishes all that where everything was staged, and clears it away otherwise. `commit`
is called at least once for what stays, so it must be idempotent. The journal lies in the project,
and finishing one logs its decisions. So it is sealed with a key of this user, and one that a
repository brings is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pulsus.config import cache_secret
from pulsus.core.storage.records.promotion_target import open_below, refuse_irregular
from pulsus.core.system import atomic_write
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError, StateCorrupt, storage_error, storage_errors

Note = Mapping[str, JsonValue]
Commit = Callable[[Note], None]
"""Takes the note of what has just happened. Raises PulsusError where it must not stay so."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file `root/folders/name` and its content.

    `before` None: not there yet. `after` None: it is deleted.
    """

    folders: tuple[str, ...]
    name: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class _Planned:
    """A change as the journal keeps it: digests instead of contents."""

    folders: tuple[str, ...]
    name: str
    before: str | None
    after: str | None

    @property
    def temp(self) -> str:
        return f".{self.name}{atomic_write.TEMP_SUFFIX}"

    @property
    def old(self) -> str:
        """A second name of what is replaced: taking it back needs no room on a full disk."""
        return f".{self.name}.old{atomic_write.TEMP_SUFFIX}"


_Progress = Literal["done", "ready", "lost"]


def apply_changes(
    root: Path, changes: tuple[FileChange, ...], journal: Path, note: Note, commit: Commit
) -> None:
    """Make every change, in order, and commit them.

    Raises TargetRefused, DiskFull, StorageUnwritable or what `commit` raises, and then nothing has
    changed.
    """
    planned = [_Planned(c.folders, c.name, _digest(c.before), _digest(c.after)) for c in changes]
    with ExitStack() as folders, ExitStack() as staged:
        staged.callback(_remove_journal, journal)
        _write_journal(journal, root, planned, note)
        fds: list[int] = []
        for change, plan in zip(changes, planned, strict=True):
            fd = folders.enter_context(open_below(root, change.folders, create=True))
            fds.append(fd)
            shown = root.joinpath(*change.folders, change.name)
            refuse_irregular(fd, change.name, shown)
            with storage_errors(shown):
                atomic_write.unlink(fd, plan.temp)
                if change.after is not None:
                    atomic_write.stage(fd, plan.temp, change.after)
            staged.callback(atomic_write.unlink, fd, plan.temp)
        with _block_interrupts():
            staged.pop_all()  # from here on the journal owns the staged files
            steps = list(zip(changes, planned, fds, strict=True))
            _rename_all(root, steps, journal)
            try:
                commit(note)
            except PulsusError:
                _undo_renames(steps, len(steps), root, journal)
                raise
            for _, plan, fd in steps:
                atomic_write.unlink(fd, plan.old)
            _remove_journal(journal)


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait for the renames: recovery would put them right, but only the next time."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def recover(journal: Path, commit: Commit, root: Path) -> None:
    """Finish or take back what an interrupted `apply` left; does nothing without a journal.

    `root` counts where the journal's own is gone: the project was moved.

    Raises StateCorrupt if files were changed by hand in between and neither is safe, and what
    `commit` raises.
    """
    found = _read_journal(journal, root)
    if found is None:
        return
    there, planned, note = found
    root = there if there.is_dir() else root
    progress = [_find_progress(root, p) for p in planned]
    if "lost" not in progress:
        for plan, step in zip(planned, progress, strict=True):
            _finish_change(root, plan, rename=step == "ready")
        commit(note)
    elif "done" in progress:
        files = ", ".join(str(root.joinpath(*p.folders, p.name)) for p in planned)
        raise StateCorrupt(
            f"an interrupted promotion cannot be finished: {files} were changed since",
            hint=f"bring these files in order (version control knows them), then delete {journal}",
        )
    else:
        for plan in planned:
            _finish_change(root, plan, rename=False)
    _remove_journal(journal)


_Step = tuple[FileChange, _Planned, int]


def _rename_all(root: Path, steps: list[_Step], journal: Path) -> None:
    for done, (change, plan, fd) in enumerate(steps):
        try:
            _keep_old_file(change, plan, fd)
            if change.after is not None:
                os.rename(plan.temp, plan.name, src_dir_fd=fd, dst_dir_fd=fd)
            os.fsync(fd)
        except OSError as failure:
            _undo_renames(steps, done + 1, root, journal)
            shown = root.joinpath(*change.folders, change.name)
            raise storage_error(failure, shown) from failure


def _keep_old_file(change: FileChange, plan: _Planned, fd: int) -> None:
    atomic_write.unlink(fd, plan.old)
    if change.after is None:
        os.rename(plan.name, plan.old, src_dir_fd=fd, dst_dir_fd=fd)
    elif change.before is not None:
        with suppress(OSError):  # a file system without hard links: it is written anew if need be
            os.link(plan.name, plan.old, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)


def _undo_renames(steps: list[_Step], done: int, root: Path, journal: Path) -> None:
    """Take the first `done` renames back, and remove the staged files.

    If this fails too, the next promotion finishes the work by the journal.
    """
    for change, plan, fd in steps[:done]:
        with storage_errors(root.joinpath(*change.folders, change.name)):
            _restore_old_file(change, plan, fd)
    _remove_journal(journal)
    for _, plan, fd in steps:
        atomic_write.unlink(fd, plan.temp)
        atomic_write.unlink(fd, plan.old)


def _restore_old_file(change: FileChange, plan: _Planned, fd: int) -> None:
    """Restore the old file. Its new content is staged first, so recovery works after a kill."""
    if _digest(_read_file(fd, change.name)) != plan.after:
        return  # the rename itself failed
    if change.before is None:
        os.rename(change.name, plan.temp, src_dir_fd=fd, dst_dir_fd=fd)
        return
    if change.after is not None:
        atomic_write.unlink(fd, plan.temp)
        try:
            os.link(change.name, plan.temp, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except OSError:
            atomic_write.stage(fd, plan.temp, change.after)
    if _digest(_read_file(fd, plan.old)) != plan.before:
        atomic_write.unlink(fd, plan.old)
        atomic_write.stage(fd, plan.old, change.before)
    os.rename(plan.old, change.name, src_dir_fd=fd, dst_dir_fd=fd)


def _find_progress(root: Path, plan: _Planned) -> _Progress:
    try:
        with open_below(root, plan.folders, create=False) as fd:
            now, staged = _read_file(fd, plan.name), _read_file(fd, plan.temp)
    except FileNotFoundError:
        return "lost"
    if _digest(now) == plan.after:
        return "done"
    ready = _digest(now) == plan.before and _digest(staged) == plan.after
    return "ready" if ready else "lost"


def _finish_change(root: Path, plan: _Planned, *, rename: bool) -> None:
    try:
        with open_below(root, plan.folders, create=False) as fd:
            if rename and plan.after is None:
                os.unlink(plan.name, dir_fd=fd)
                os.fsync(fd)
            elif rename:
                os.rename(plan.temp, plan.name, src_dir_fd=fd, dst_dir_fd=fd)
                os.fsync(fd)
            else:
                atomic_write.unlink(fd, plan.temp)
            atomic_write.unlink(fd, plan.old)
    except FileNotFoundError:
        return  # the folder is gone, and with it what was staged there
    except OSError as failure:
        raise storage_error(failure, root.joinpath(*plan.folders, plan.name)) from failure


def _write_journal(journal: Path, root: Path, planned: list[_Planned], note: Note) -> None:
    files = [asdict(plan) for plan in planned]
    body = json.dumps({"root": str(root), "files": files, "note": dict(note)}).encode("utf-8")
    key = cache_secret.get_or_make(root)
    # Without a key nothing can be sealed: after a crash a person has to look.
    atomic_write.write_bytes(
        journal, body + b"\n" + (_seal_journal(key, body) if key else b""), locked=True
    )


def _seal_journal(key: bytes, body: bytes) -> bytes:
    return cache_secret.seal(key, b"journal\0" + body).encode("ascii")


def _read_journal(journal: Path, root: Path) -> tuple[Path, list[_Planned], Note] | None:
    try:
        body, _, code = journal.read_bytes().rpartition(b"\n")
        key = cache_secret.read_secret(root)
        if key is None or not hmac.compare_digest(code, _seal_journal(key, body)):
            raise ValueError("this user did not write it on this machine")
        return _parse_journal(body)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as failure:
        raise StateCorrupt(
            f"cannot read the promotion journal {journal}: {failure}",
            hint="check the latest promotion by `git status`, then delete that file",
        ) from failure


def _parse_journal(body: bytes) -> tuple[Path, list[_Planned], Note]:
    """Raises ValueError, KeyError, TypeError, RecursionError."""
    found = json.loads(body)
    planned = [
        _Planned(
            tuple(map(_require_plain_name, f["folders"])),
            _require_plain_name(f["name"]),
            f["before"],
            f["after"],
        )
        for f in found["files"]
    ]
    return Path(found["root"]), planned, dict(found.get("note", {}))


def _require_plain_name(name: object) -> str:
    if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is not a plain file name")
    return name


def _remove_journal(journal: Path) -> None:
    with storage_errors(journal):
        journal.unlink(missing_ok=True)


def _read_file(folder: int, name: str) -> bytes | None:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
