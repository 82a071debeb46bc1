"""Show how much space each sub-folder of a folder takes altogether, largest first.

Adds up every regular file below each sub-folder, like `du`, without following links. A file with
several hard links is counted once. `bytes` adds up file lengths; `disk_bytes` adds up the blocks
really occupied. Files that lie directly in the folder are counted in `own_bytes`.

Args:
    folder (str): The folder whose sub-folders are measured. Must exist.
    depth (int): How many levels of sub-folders to list; 1 lists only the direct ones.
    limit (int): How many sub-folders to return; 0 returns all.
    one_file_system (bool): Stay on the file system of the folder.

Returns:
    rows (list[dict[str, Any]]): One a sub-folder, largest first: `path`, `bytes`, `disk_bytes`,
        `files`, `percent` (of everything below the folder).
    total_bytes (int): Everything below the folder.
    own_bytes (int): Files directly in the folder.
    files (int): How many files were counted.
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
    - title: two sub-folders and a file beside them
      inputs: {folder: /tmp/folder_sizes}
      files:
        /tmp/folder_sizes/logs/2024/a.log: "123456"
        /tmp/folder_sizes/logs/b.log: "12"
        /tmp/folder_sizes/cache/c: "1"
        /tmp/folder_sizes/readme: "1"
      output:
        rows:
          - {path: /tmp/folder_sizes/logs, bytes: 8, disk_bytes: ..., files: 2, percent: 80.0}
          - {path: /tmp/folder_sizes/cache, bytes: 1, disk_bytes: ..., files: 1, percent: 10.0}
        total_bytes: 10
        own_bytes: 1
        files: 4
        unreadable: []
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def run(
    folder: str, depth: int = 1, limit: int = 0, one_file_system: bool = True
) -> dict[str, Any]:
    """Walk the folder once and add each file to the sub-folders it lies in."""
    if depth < 1:
        raise ValueError(f"depth {depth} lists no sub-folder: give 1 or more levels")
    if limit < 0:
        raise ValueError(f"limit {limit} is negative: give how many rows to return, 0 for all")
    unreadable: list[dict[str, Any]] = []
    sums: dict[str, list[int]] = {}
    own = total = files = 0
    for owners, info in _walk(folder, depth, one_file_system, unreadable):
        if info is None:
            sums[owners[-1]] = [0, 0, 0]
            continue
        total += info.st_size
        files += 1
        own += 0 if owners else info.st_size
        for owner in owners:
            sums[owner][0] += info.st_size
            sums[owner][1] += info.st_blocks * 512
            sums[owner][2] += 1
    ordered = sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))
    rows = [
        {
            "path": _shown(path),
            "bytes": size,
            "disk_bytes": disk,
            "files": count,
            "percent": round(100 * size / total, 1) if total else 0.0,
        }
        for path, (size, disk, count) in ordered[: limit or None]
    ]
    return {
        "rows": rows,
        "total_bytes": total,
        "own_bytes": own,
        "files": files,
        "unreadable": unreadable,
    }


def _walk(
    folder: str, depth: int, one_file_system: bool, unreadable: list[dict[str, Any]]
) -> Iterator[tuple[tuple[str, ...], os.stat_result | None]]:
    """Each file with the listed folders above it; a listed folder itself comes with None."""
    device = Path(folder).stat().st_dev
    os.scandir(folder).close()
    pending: list[tuple[str, tuple[str, ...], int]] = [(folder, (), 0)]
    linked: set[tuple[int, int]] = set()
    while pending:
        here, owners, level = pending.pop()
        for path, info in _listing(here, unreadable):
            if stat.S_ISDIR(info.st_mode) and (info.st_dev == device or not one_file_system):
                below = (*owners, path) if level < depth else owners
                if level < depth:
                    yield below, None
                pending.append((path, below, level + 1))
            elif stat.S_ISREG(info.st_mode) and (info.st_dev, info.st_ino) not in linked:
                if info.st_nlink > 1:
                    linked.add((info.st_dev, info.st_ino))
                yield owners, info


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
