"""Retention: remove old candidates and logs, by age alone (spec §16). Effect: deletes files.

The ages are the settings `tmp.retention_days` and `log.retention_days` (`config/settings.py`). Only
below `_tmp/` and the four log folders; never through a link, never below `domains/`,
`shared_tools/` or the state folder, so never a promoted tool nor `.pulsus/audit/`. Directly in the
state folder only what a killed writer left: temporary files.

Old runs of plans, in `state.db` and `.pulsus/runs/`, are removed by
`execution/journal/old_runs.py`. `pulsus gc` calls both (`routing/maintenance/housekeeping.py`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pulsus.core.system.atomic_write import TEMP_SUFFIX
from pulsus.core.telemetry.ids import Clock
from pulsus.errors import ConfigError, storage_error

LOG_ROOMS = ("app", "runs", "validation", "metrics")


@dataclass(frozen=True, slots=True)
class GcReport:
    """The files removed, or to remove, in path order, their bytes, and the number remaining."""

    removed: tuple[Path, ...]
    remaining: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    modified: float
    size: int


def gc(
    *,
    workflows_root: Path,
    tmp_dirname: str,
    log_dir: Path,
    state_dir: Path,
    tmp_days: int,
    log_days: int,
    clock: Clock,
    dry_run: bool,
) -> GcReport:
    """Remove every file last changed more than `*_days` ago, and folders that became empty.

    `dry_run` only reports. Raises ConfigError when `tmp_dirname` is not a folder of candidates,
    StorageUnwritable where a file cannot be removed.
    """
    now = clock()
    keep_out = (workflows_root / "domains", workflows_root / "shared_tools", state_dir)
    protected = tuple(p.resolve() for p in keep_out)
    areas = [(_candidate_folder(workflows_root, tmp_dirname), tmp_days)]
    areas += [(log_dir.resolve() / room, log_days) for room in LOG_ROOMS]
    found = [(area, days, [*_list_files(area, protected)]) for area, days in areas]
    found.append((state_dir.resolve(), tmp_days, _list_temporary_files(state_dir.resolve())))
    removed: list[_Found] = []
    kept = 0
    for area, days, files in found:
        old = [f for f in files if f.modified < _oldest_allowed_time(now, days)]
        kept += len(files) - len(old)
        removed += old
        if not dry_run:
            _remove_files(old, area)
    paths = tuple(sorted(f.path for f in removed))
    return GcReport(paths, kept, sum(f.size for f in removed))


def _candidate_folder(workflows_root: Path, name: str) -> Path:
    if name in ("", ".", "..", "domains", "shared_tools") or "/" in name:
        raise ConfigError(
            f"tmp.dirname {name!r} is not a folder of candidates",
            hint="use a plain name such as _tmp",
        )
    return workflows_root.resolve() / name


def _oldest_allowed_time(now: datetime, days: int) -> float:
    return (now - timedelta(days=days)).timestamp()


def _list_files(folder: Path, protected: tuple[Path, ...]) -> Iterator[_Found]:
    """Yield the regular files below `folder`, in path order."""
    if folder.is_symlink() or any(folder == p or folder.is_relative_to(p) for p in protected):
        return
    for entry in _list_entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _list_files(folder / entry.name, protected)
        else:
            yield from _describe_file(folder, entry)


def _list_temporary_files(state_dir: Path) -> list[_Found]:
    names = (e for e in _list_entries(state_dir) if e.name.endswith(TEMP_SUFFIX))
    return [found for entry in names for found in _describe_file(state_dir, entry)]


def _list_entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda e: e.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as failure:
        raise storage_error(failure, folder) from failure


def _describe_file(folder: Path, entry: os.DirEntry[str]) -> Iterator[_Found]:
    """Yield the entry if it is a regular file and still exists."""
    if not entry.is_file(follow_symlinks=False):
        return
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    yield _Found(folder / entry.name, status.st_mtime, status.st_size)


def _remove_files(files: list[_Found], area: Path) -> None:
    for file in files:
        try:
            _unlink_below(area, file.path)
        except FileNotFoundError:
            continue
        except OSError as failure:
            raise storage_error(failure, file.path) from failure
    for folder in sorted(
        {p for f in files for p in f.path.parents if area in p.parents}, reverse=True
    ):
        with suppress(OSError):  # not empty, or another process's work now
            folder.rmdir()


def _unlink_below(area: Path, path: Path) -> None:
    """Unlink by open folders, so that a folder swapped for a link in between is not followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(area, flags)
    try:
        for name in path.relative_to(area).parts[:-1]:
            below = os.open(name, flags, dir_fd=fd)
            os.close(fd)
            fd = below
        if stat.S_ISREG(os.stat(path.name, dir_fd=fd, follow_symlinks=False).st_mode):
            os.unlink(path.name, dir_fd=fd)
    finally:
        os.close(fd)
