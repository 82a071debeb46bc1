"""List the newest files below a folder, those changed lately or recently, the latest change first.

Walks the folder and all its sub-folders without following links and without leaving the file system
it started on. A file's time is its last modification. `days` and `since` leave out files that were
changed earlier; without them the newest files of any age are listed. A file dated in the future has
a negative age.

Args:
    folder (str): Where to look. Must exist.
    days (float): Only files changed within this many days; of any age when 0.
    since (str): Only files changed at this date or time or later, ISO 8601, in the time zone of
        this machine if it has none; any time when empty.
    until (str): Only files changed before this date or time; any time when empty.
    pattern (str): Only file names that match this, for example `*.log`.
    limit (int): How many files to return, at least 1.
    one_file_system (bool): Stay on the file system of the folder.

Returns:
    rows (list[dict[str, Any]]): One a file, newest first: `path`, `bytes`, `modified` (UTC),
        `age_days`.
    count (int): How many files fit, returned or not.
    files_seen (int): How many files matched the pattern, new or not.
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
    - title: the newest of three files
      inputs: {folder: /tmp/recent_files, limit: 1}
      files:
        /tmp/recent_files/a.log: {mtime: -864000, text: "1"}
        /tmp/recent_files/sub/b.log: {mtime: -86400, text: "12345"}
        /tmp/recent_files/c.log: {mtime: -172800, text: "1"}
      output:
        rows: [{path: /tmp/recent_files/sub/b.log, bytes: 5, modified: ..., age_days: 1.0}]
        count: 3
        files_seen: 3
        unreadable: []
    - title: changed within three days
      inputs: {folder: /tmp/recent_files, days: 3}
      files:
        /tmp/recent_files/a.log: {mtime: -864000, text: "1"}
        /tmp/recent_files/c.log: {mtime: -172800, text: "1"}
      output:
        rows: [{path: /tmp/recent_files/c.log, bytes: 1, modified: ..., age_days: 2.0}]
        count: 1
        files_seen: 2
        unreadable: []
    - title: nothing was changed since that date
      inputs: {folder: /tmp/recent_files, since: "2200-01-01"}
      files: {/tmp/recent_files/c.log: "1"}
      output: {rows: [], count: 0, files_seen: 1, unreadable: []}
"""

from __future__ import annotations

import fnmatch
import heapq
import math
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

DAY = 86_400


def run(
    folder: str,
    days: float = 0.0,
    since: str = "",
    until: str = "",
    pattern: str = "*",
    limit: int = 20,
    one_file_system: bool = True,
) -> dict[str, Any]:
    """Walk the folder and keep the files that were changed last."""
    if not days >= 0:
        raise ValueError(f"days {days} is no age: give 0 or more days")
    if limit < 1:
        raise ValueError(f"limit {limit} asks for no file: give 1 or more")
    now = time.time()
    earliest = _seconds("since", since, -math.inf)
    if days:
        earliest = max(earliest, now - days * DAY)
    latest = _seconds("until", until, math.inf)
    if earliest >= latest:
        raise ValueError(f"no time lies between since {since!r} and until {until!r}: exchange them")
    unreadable: list[dict[str, Any]] = []
    seen = count = 0

    def fitting() -> Iterator[tuple[float, str, int]]:
        nonlocal seen, count
        for path, info in _walk(folder, one_file_system, unreadable):
            if not fnmatch.fnmatchcase(os.path.basename(path), pattern):
                continue
            seen += 1
            if earliest <= info.st_mtime < latest:
                count += 1
                yield info.st_mtime, path, info.st_size

    newest = heapq.nsmallest(limit, fitting(), key=lambda item: (-item[0], item[1]))
    rows = [
        {
            "path": _shown(path),
            "bytes": size,
            "modified": _utc(modified),
            "age_days": round((now - modified) / DAY, 1),
        }
        for modified, path, size in newest
    ]
    return {"rows": rows, "count": count, "files_seen": seen, "unreadable": unreadable}


def _seconds(name: str, text: str, otherwise: float) -> float:
    """Seconds since 1970 of a date or time; a text without a time zone is local time."""
    if not text:
        return otherwise
    try:
        return datetime.fromisoformat(text).timestamp()
    except (OverflowError, ValueError, OSError):
        raise ValueError(
            f"{name} {text!r} is no date: write 2026-03-01 or 2026-03-01T10:00"
        ) from None


def _walk(
    folder: str, one_file_system: bool, unreadable: list[dict[str, Any]]
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
    """The entries of one folder. Those that cannot be read are noted instead."""
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
