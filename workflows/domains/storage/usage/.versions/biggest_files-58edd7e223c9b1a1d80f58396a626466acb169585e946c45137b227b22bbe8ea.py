"""List the largest files anywhere below a folder, biggest first.

Walks the folder and all its sub-folders without following links and without leaving the file
system it started on, and keeps the N largest regular files. A file with several hard links is
counted once. `bytes` is the length of the file; `disk_bytes` is what it really occupies, which is
less for sparse files. Folders that may not be read are named in `unreadable`.

Args:
    folder (str): Where to start. Must exist.
    limit (int): How many files to return, at least 1.
    min_bytes (int): Leave out files smaller than this.
    one_file_system (bool): Stay on the file system of the folder.

Returns:
    rows (list[dict[str, Any]]): One a file, largest first: `path`, `bytes`, `disk_bytes`,
        `modified` (UTC).
    total_bytes (int): Sum of `bytes` over the rows.
    files_seen (int): How many files were looked at.
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
    - title: the two largest of three files
      inputs: {folder: /tmp/biggest_files, limit: 2}
      files:
        /tmp/biggest_files/a.log: "1234567890"
        /tmp/biggest_files/old/deep/b.dump: "12345678901234567890"
        /tmp/biggest_files/c.txt: "1"
      output:
        rows:
          - {path: /tmp/biggest_files/old/deep/b.dump, bytes: 20, disk_bytes: ..., modified: ...}
          - {path: /tmp/biggest_files/a.log, bytes: 10, disk_bytes: ..., modified: ...}
        total_bytes: 30
        files_seen: 3
        unreadable: []
"""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def run(
    folder: str, limit: int = 10, min_bytes: int = 0, one_file_system: bool = True
) -> dict[str, Any]:
    """Walk the folder and keep the largest files."""
    if limit < 1:
        raise ValueError(f"limit {limit} asks for no file: give 1 or more")
    if min_bytes < 0:
        raise ValueError(f"min_bytes {min_bytes} is negative: give 0 or more bytes")
    unreadable: list[dict[str, Any]] = []
    seen = 0

    def wanted() -> Iterator[tuple[int, str, os.stat_result]]:
        nonlocal seen
        for path, info in _walk(folder, one_file_system, unreadable):
            seen += 1
            if info.st_size >= min_bytes:
                yield info.st_size, path, info

    largest = heapq.nsmallest(limit, wanted(), key=lambda item: (-item[0], item[1]))
    rows = [
        {
            "path": _shown(path),
            "bytes": size,
            "disk_bytes": info.st_blocks * 512,
            "modified": _utc(info.st_mtime),
        }
        for size, path, info in largest
    ]
    return {
        "rows": rows,
        "total_bytes": sum(size for size, _, _ in largest),
        "files_seen": seen,
        "unreadable": unreadable,
    }


def _walk(
    folder: str, one_file_system: bool, unreadable: list[dict[str, Any]]
) -> Iterator[tuple[str, os.stat_result]]:
    """Every regular file once, with its size; a folder that does not exist raises OSError."""
    device = Path(folder).stat().st_dev
    os.scandir(folder).close()
    pending = [folder]
    linked: set[tuple[int, int]] = set()
    while pending:
        here = pending.pop()
        for path, info in _listing(here, unreadable):
            if stat.S_ISDIR(info.st_mode):
                if info.st_dev == device or not one_file_system:
                    pending.append(path)
            elif stat.S_ISREG(info.st_mode):
                if info.st_nlink > 1:
                    if (info.st_dev, info.st_ino) in linked:
                        continue
                    linked.add((info.st_dev, info.st_ino))
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
