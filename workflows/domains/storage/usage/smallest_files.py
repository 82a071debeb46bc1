"""List the smallest files anywhere below a folder, smallest first, and count the empty ones.

Walks the folder and all its sub-folders without following links and without leaving the file
system it started on, and keeps the N smallest regular files. A file with several hard links is
counted once. Folders that may not be read are named in `unreadable`.

Args:
    folder (str): Where to start. Must exist.
    limit (int): How many files to return, at least 1.
    least_bytes (int): Leave out files smaller than this; 1 leaves out empty files.
    pattern (str): Only file names that match this, for example `*.log`.
    one_file_system (bool): Stay on the file system of the folder.

Returns:
    rows (list[dict[str, Any]]): One a file, smallest first: `path`, `bytes`, `modified` (UTC).
    empty (int): How many files are empty, returned or not.
    files_seen (int): How many files matched the pattern.
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
    - title: the two smallest of three files
      inputs: {folder: /tmp/smallest_files, limit: 2}
      files:
        /tmp/smallest_files/a.log: "1234567890"
        /tmp/smallest_files/old/deep/b.dump: ""
        /tmp/smallest_files/c.txt: "1"
      output:
        rows:
          - {path: /tmp/smallest_files/old/deep/b.dump, bytes: 0, modified: ...}
          - {path: /tmp/smallest_files/c.txt, bytes: 1, modified: ...}
        empty: 1
        files_seen: 3
        unreadable: []
"""

from __future__ import annotations

import fnmatch
import heapq
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any


def run(
    folder: str,
    limit: int = 10,
    least_bytes: int = 0,
    pattern: str = "*",
    one_file_system: bool = True,
) -> dict[str, Any]:
    """Walk the folder and keep the smallest files."""
    if limit < 1:
        raise ValueError(f"limit {limit} asks for no file: give 1 or more")
    if least_bytes < 0:
        raise ValueError(f"least_bytes {least_bytes} is negative: give 0 or more bytes")
    unreadable: list[dict[str, Any]] = []
    seen = empty = 0

    def fitting() -> Iterator[tuple[int, str, float]]:
        nonlocal seen, empty
        for path, info in _walk(folder, one_file_system, unreadable):
            if not fnmatch.fnmatchcase(os.path.basename(path), pattern):
                continue
            seen += 1
            empty += not info.st_size
            if info.st_size >= least_bytes:
                yield info.st_size, path, info.st_mtime

    smallest = heapq.nsmallest(limit, fitting())
    rows = [
        {"path": _shown(path), "bytes": size, "modified": _utc(modified)}
        for size, path, modified in smallest
    ]
    return {"rows": rows, "empty": empty, "files_seen": seen, "unreadable": unreadable}


def _walk(
    folder: str, one_file_system: bool, unreadable: list[dict[str, Any]]
) -> Iterator[tuple[str, os.stat_result]]:
    """Every regular file once, with its size; a folder that does not exist raises OSError."""
    os.scandir(folder).close()
    device = os.stat(folder).st_dev
    pending = [folder]
    linked: set[tuple[int, int]] = set()
    while pending:
        here = pending.pop()
        for path, info in _listing(here, unreadable):
            if stat.S_ISDIR(info.st_mode):
                # An overlay shows files, but no folders, as those of other file systems.
                if info.st_dev == device or not one_file_system:
                    pending.append(path)
            elif stat.S_ISREG(info.st_mode):
                if info.st_nlink > 1:
                    if (info.st_dev, info.st_ino) in linked:
                        continue
                    linked.add((info.st_dev, info.st_ino))
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
