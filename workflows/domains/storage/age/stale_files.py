"""Find files below a folder that nobody changed for longer than N days, oldest first.

Walks the folder without following links and compares each file's last modification time with the
clock. The time a file was last read is not used: most systems do not keep it up to date. A file
dated in the future has a negative age and is never stale.

Args:
    folder (str): Where to look. Must exist.
    days (float): Files unchanged for longer than this many days are stale. 0 or more.
    pattern (str): Only file names that match this, for example `*.log`.
    limit (int): How many files to return, oldest first; 0 returns all.
    one_file_system (bool): Leave out file systems mounted below the folder.

Returns:
    rows (list[dict[str, Any]]): One a file, oldest first: `path`, `bytes`, `modified` (UTC),
        `age_days`.
    count (int): How many files are stale, returned or not.
    total_bytes (int): What all stale files take together.
    files_seen (int): How many files matched the pattern, stale or not.
    unreadable (list[dict[str, Any]]): Folders and files that could not be read: `path`, `error`.

Side effects:
    none

Kind: read

Effects:
    paths: the given folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: one file older than a week, one fresh
      inputs: {folder: /tmp/stale_files, days: 7}
      files:
        /tmp/stale_files/sub/old.log: {mtime: -864000, text: "12345"}
        /tmp/stale_files/new.log: "1"
      output:
        rows:
          - {path: /tmp/stale_files/sub/old.log, bytes: 5, modified: ..., age_days: 10.0}
        count: 1
        total_bytes: 5
        files_seen: 2
        unreadable: []
    - title: nothing older than a month
      inputs: {folder: /tmp/stale_files, days: 30, pattern: "*.log"}
      files:
        /tmp/stale_files/sub/old.log: {mtime: -864000, text: "12345"}
      output: {rows: [], count: 0, total_bytes: 0, files_seen: 1, unreadable: []}
"""

from __future__ import annotations

import fnmatch
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

DAY = 86_400


def run(
    folder: str,
    days: float = 90.0,
    pattern: str = "*",
    limit: int = 0,
    one_file_system: bool = False,
) -> dict[str, Any]:
    """Walk the folder and keep the files that are older than the limit."""
    if not days >= 0:
        raise ValueError(f"days {days} is no age: give 0 or more days")
    if limit < 0:
        raise ValueError(f"limit {limit} is negative: give how many rows to return, 0 for all")
    now = time.time()
    unreadable: list[dict[str, Any]] = []
    stale: list[tuple[float, str, int]] = []
    seen = 0
    for path, info in _walk(folder, unreadable, one_file_system):
        if not fnmatch.fnmatchcase(os.path.basename(path), pattern):
            continue
        seen += 1
        if now - info.st_mtime > days * DAY:
            stale.append((info.st_mtime, path, info.st_size))
    stale.sort()
    rows = [
        {
            "path": _shown(path),
            "bytes": size,
            "modified": _utc(modified),
            "age_days": round((now - modified) / DAY, 1),
        }
        for modified, path, size in stale[: limit or None]
    ]
    return {
        "rows": rows,
        "count": len(stale),
        "total_bytes": sum(size for _, _, size in stale),
        "files_seen": seen,
        "unreadable": unreadable,
    }


def _walk(
    folder: str, unreadable: list[dict[str, Any]], one_file_system: bool
) -> Iterator[tuple[str, os.stat_result]]:
    os.scandir(folder).close()
    device = os.stat(folder).st_dev
    pending = [folder]
    while pending:
        here = pending.pop()
        for path, info in _listing(here, unreadable):
            if stat.S_ISDIR(info.st_mode):
                # An overlay shows files, but no folders, as those of other file systems.
                if info.st_dev == device or not one_file_system:
                    pending.append(path)
            elif stat.S_ISREG(info.st_mode):
                yield path, info


def _listing(here: str, unreadable: list[dict[str, Any]]) -> Iterator[tuple[str, os.stat_result]]:
    """What lies in one folder; what cannot be read is noted instead."""
    try:
        with os.scandir(here) as entries:
            found = list(entries)
    except OSError as error:
        unreadable.append({"path": _shown(here), "error": error.strerror or str(error)})
        return
    for entry in found:
        try:
            yield entry.path, entry.stat(follow_symlinks=False)
        except OSError as error:
            unreadable.append({"path": _shown(entry.path), "error": error.strerror or str(error)})


def _shown(path: str) -> str:
    """The path as text; bytes that are no UTF-8 are shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _utc(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None
