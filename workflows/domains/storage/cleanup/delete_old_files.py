"""Delete the files below a folder that were not changed for more than N days, and list them.

Looks at regular files whose names fit a pattern. Links are neither followed nor deleted, other file
systems below the folder are left alone, and folders stay. System folders (`/`, `/etc`, `/usr`,
`/var/lib`, `/home` and similar) are refused. Deleted files cannot be brought back.

Args:
    folder (str): Where to look; no link.
    days (float): Delete files unchanged for longer than this many days. More than 0.
    pattern (str): Only file names that fit this, for example `*.log`.
    max_files (int): Refuse to delete more files than this.
    dry_run (bool): True deletes nothing and lists what would be deleted.

Returns:
    rows (list[dict[str, Any]]): One a deleted file, oldest first: `path`, `bytes`, `modified` (UTC),
        `age_days`.
    deleted (int): How many files were, or would be, deleted.
    freed_bytes (int): Their size.
    errors (list[dict[str, Any]]): Files that could not be deleted, and folders that could not be
        read: `path`, `error`.
    dry_run (bool): True if nothing was deleted.

Side effects:
    Deletes files for good.

Kind: write

Target: folder

Verify: storage/age/stale_files {folder: "{{input.folder}}", days: "{{input.days}}",
    pattern: "{{input.pattern}}", one_file_system: true}
    expect {count: 0, unreadable: [], ...: ...}

Approval: approver

Owner: platform

Effects:
    paths: the given folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: one old file of two
      inputs: {folder: /tmp/builds, days: 30, pattern: "*.log", dry_run: false}
      files:
        /tmp/builds/a/old.log: {mtime: -4320000, text: "12345"}
        /tmp/builds/new.log: "1"
        /tmp/builds/old.txt: {mtime: -4320000, text: "1"}
      output:
        rows: [{path: /tmp/builds/a/old.log, bytes: 5, modified: ..., age_days: 50.0}]
        deleted: 1
        freed_bytes: 5
        errors: []
        dry_run: false
    - title: a dry run
      inputs: {folder: /tmp/builds, days: 30, dry_run: true}
      files: {/tmp/builds/old.txt: {mtime: -4320000, text: "1"}}
      output: {rows: [...], deleted: 1, freed_bytes: 1, errors: [], dry_run: true}
"""

from __future__ import annotations

import fnmatch
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_DAY = 86_400
_WHOLE = ("/", "/home", "/opt", "/root", "/srv", "/var", "/var/lib", "/mnt", "/media")
_TREES = (
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "proc",
    "run",
    "sbin",
    "sys",
    "usr",
)
Found = tuple[float, str, os.stat_result]


def run(
    folder: str,
    days: float,
    pattern: str = "*",
    max_files: int = 10_000,
    dry_run: bool = False,
) -> dict[str, Any]:
    if not days > 0:
        raise ValueError(f"days {days} would delete new files too: give more than 0 days")
    if not pattern or "/" in pattern:
        raise ValueError(f"pattern {pattern!r} fits no file name: give one such as *.log")
    start = Path(folder)
    info = start.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise ValueError(f"folder {folder!r} is a link or file: name the folder itself")
    _refuse_system_folder(start)
    now = time.time()
    errors: list[dict[str, Any]] = []
    old = sorted(
        (found.st_mtime, path, found)
        for path, found in _files(folder, info.st_dev, errors)
        if now - found.st_mtime > days * _DAY and fnmatch.fnmatchcase(Path(path).name, pattern)
    )
    if len(old) > max_files:
        raise ValueError(f"{len(old)} files would go, more than {max_files}: raise max_files")
    rows: list[dict[str, Any]] = []
    for modified, path, found in old:
        try:
            if not dry_run:
                _delete(path, found)
        except OSError as failure:
            errors.append({"path": _shown(path), "error": failure.strerror or str(failure)})
            continue
        age = round((now - modified) / _DAY, 1)
        row = {"path": _shown(path), "bytes": found.st_size, "modified": _utc(modified)}
        rows.append({**row, "age_days": age})
    freed = sum(row["bytes"] for row in rows)
    return {"rows": rows, "deleted": len(rows), "freed_bytes": freed, "errors": errors} | {
        "dry_run": dry_run
    }


def _refuse_system_folder(folder: Path) -> None:
    place = folder.resolve()
    parts = place.parts[1:]
    tree = parts and parts[0] in _TREES
    system = tree and parts[:2] != ("usr", "local")
    if system or str(place) in _WHOLE:
        raise ValueError(f"{place} belongs to the system: name a folder inside it that is yours")


def _files(
    folder: str, device: int, errors: list[dict[str, Any]]
) -> Iterator[tuple[str, os.stat_result]]:
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(here) as entries:
                found = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError as failure:
            errors.append({"path": _shown(here), "error": failure.strerror or str(failure)})
            continue
        for path, info in found:
            # An overlay shows files, but no folders, as those of other file systems.
            if stat.S_ISDIR(info.st_mode) and info.st_dev == device:
                pending.append(path)
            elif stat.S_ISREG(info.st_mode):
                yield path, info


def _delete(path: str, seen: os.stat_result) -> None:
    """Delete the file that was looked at, by the folder that holds it."""
    parent = os.open(Path(path).parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        name = Path(path).name
        now = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if (now.st_dev, now.st_ino, now.st_mtime_ns) != (
            (seen.st_dev, seen.st_ino, seen.st_mtime_ns)
        ):
            raise OSError("it was changed meanwhile")
        os.unlink(name, dir_fd=parent)
    finally:
        os.close(parent)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _utc(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None
