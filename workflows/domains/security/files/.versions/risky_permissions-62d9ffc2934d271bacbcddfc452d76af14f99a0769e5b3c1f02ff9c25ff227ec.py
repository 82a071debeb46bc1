"""Find files that everybody may write to, and set-uid or set-gid programs, below a folder.

Walks the folder without following links and without leaving its file system. World-writable
folders with the sticky bit (as /tmp has it) are fine and not listed. Files without a known
owner are listed too, since whoever gets that user number next owns them.
Folders that may not be read are listed as errors.

Args:
    folder (str): Where to start. Must exist.
    limit (int): How many findings to list at most, at least 1. The rest is only counted.
    other_filesystems (bool): Also walk into file systems mounted below the folder.

Returns:
    rows (list[dict[str, Any]]): One a finding, most dangerous first: `path`, `risk`
        (`setuid`, `setgid`, `world_writable`, `no_owner`), `mode` (octal), `owner`, `type`.
    counts (dict[str, int | None]): Findings of each risk; `no_owner` is null on a system
        without a list of accounts, where it cannot be told.
    scanned (int): How many files and folders were looked at.
    errors (list[dict[str, Any]]): What could not be read: `path`, `error`.

Side effects:
    none

Kind: read

Effects:
    paths: the given folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: nothing risky
      inputs: {folder: /tmp/app}
      files: {/tmp/app/conf/app.ini: "[a]"}
      output:
        rows: []
        counts: {setuid: 0, setgid: 0, world_writable: 0, no_owner: ...}
        scanned: 3
        errors: []
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_RISKS = ("setuid", "setgid", "world_writable", "no_owner")
_ERRORS = 100


def run(folder: str, limit: int = 500, other_filesystems: bool = False) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    start = Path(folder).lstat()
    if not stat.S_ISDIR(start.st_mode):
        raise NotADirectoryError(f"{folder} is not a folder: name the folder to search")
    device = None if other_filesystems else start.st_dev
    errors: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    owners = {account.pw_uid: account.pw_name for account in pwd.getpwall()}
    counts: dict[str, int | None] = dict.fromkeys(_RISKS, 0)
    if not owners:
        counts["no_owner"] = None
    scanned = 0
    for path, info in _walk(folder, start, device, errors):
        scanned += 1
        for risk in _risks(info, owners):
            counts[risk] = (counts[risk] or 0) + 1
            found.append(
                {
                    "path": path,
                    "risk": risk,
                    "mode": f"{stat.S_IMODE(info.st_mode):04o}",
                    "owner": _owner(info.st_uid, owners) or str(info.st_uid),
                    "type": "folder" if stat.S_ISDIR(info.st_mode) else "file",
                }
            )
    found.sort(key=lambda row: (_RISKS.index(row["risk"]), row["path"]))
    return {"rows": found[:limit], "counts": counts, "scanned": scanned, "errors": errors}


def _walk(
    folder: str, info: os.stat_result, device: int | None, errors: list[dict[str, Any]]
) -> Iterator[tuple[str, os.stat_result]]:
    pending = [(folder, info)]
    while pending:
        path, info = pending.pop()
        yield path, info
        if not stat.S_ISDIR(info.st_mode):
            continue
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # it vanished meanwhile
                        below = entry.stat(follow_symlinks=False)
                        if device is None or below.st_dev == device:
                            pending.append((entry.path, below))
        except OSError as error:
            if len(errors) < _ERRORS:
                errors.append({"path": path, "error": error.strerror or str(error)})


def _risks(info: os.stat_result, owners: dict[int, str]) -> Iterator[str]:
    mode = info.st_mode
    if stat.S_ISREG(mode) and mode & stat.S_ISUID:
        yield "setuid"
    # Without the group's execute bit, set-gid on a file asks for locking and grants nothing.
    if stat.S_ISREG(mode) and mode & stat.S_ISGID and mode & stat.S_IXGRP:
        yield "setgid"
    plain = stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and not mode & stat.S_ISVTX)
    if plain and mode & stat.S_IWOTH:
        yield "world_writable"
    if owners and _owner(info.st_uid, owners) is None:
        yield "no_owner"


def _owner(uid: int, owners: dict[int, str]) -> str | None:
    """The account's name, from the local list or else from the directory service."""
    if uid not in owners:
        try:
            owners[uid] = pwd.getpwuid(uid).pw_name
        except KeyError:
            return None
    return owners[uid]
