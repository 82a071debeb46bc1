r"""Show owner, group and mode of a file or folder, and find those that differ from wanted ones.

With `recursive` everything below a folder is looked at too, on the same file system. Links are
neither listed nor followed. If an owner, group or mode is wanted, each row says if it deviates.

Args:
    path (str): A file or folder.
    owner (str): The wanted user name or number; any when empty.
    group (str): The wanted group name or number; any when empty.
    mode (str): The wanted mode: octal (`0640`) or symbolic (`u=rwX,go-w`); any when empty.
    recursive (bool): Also everything below the folder.
    limit (int): How many rows to return, deviating ones first, at least 1. All are counted.

Returns:
    rows (list[dict[str, Any]]): One a file: `path`, `type` (file, folder, other), `owner`, `group`,
        `mode` (octal), `deviates`.
    total (int): How many files and folders were looked at.
    deviating (int): How many of them are not as wanted.
    ok (bool): True if none deviates.

Side effects:
    none

Kind: read

Effects:
    paths: the given path
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a folder whose files are too open
      inputs: {path: /tmp/app, mode: "go-rwx", recursive: true}
      files: {/tmp/app/key.pem: "x"}
      output:
        rows: [{path: /tmp/app, type: folder, deviates: true, ...: ...}, ...]
        total: 2
        deviating: 2
        ok: false
    - title: nothing is wanted, so nothing deviates
      inputs: {path: /tmp/app/key.pem}
      files: {/tmp/app/key.pem: "x"}
      output:
        rows: [{path: /tmp/app/key.pem, type: file, owner: ..., group: ..., mode: ...,
                deviates: false}]
        total: 1
        deviating: 0
        ok: true
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator
from typing import Any

_CLAUSE = re.compile(r"([ugoa]*)([+=-])([rwxXst]*)")
_SHIFTS = {"u": 6, "g": 3, "o": 0}


def run(
    path: str,
    owner: str = "",
    group: str = "",
    mode: str = "",
    recursive: bool = False,
    limit: int = 1000,
) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    wanted_mode(mode, 0, folder=False)
    rows: list[dict[str, Any]] = []
    for found, info in _walk(path, recursive):
        mine = stat.S_IMODE(info.st_mode)
        names = {"owner": _user(info.st_uid), "group": _group(info.st_gid)}
        wrong = (
            owner not in ("", names["owner"], str(info.st_uid))
            or group not in ("", names["group"], str(info.st_gid))
            or wanted_mode(mode, mine, folder=stat.S_ISDIR(info.st_mode)) != mine
        )
        kind = {stat.S_IFDIR: "folder", stat.S_IFREG: "file"}.get(stat.S_IFMT(info.st_mode))
        rows.append(
            {"path": os.fsencode(found).decode("utf-8", "backslashreplace")}
            | {"type": kind or "other", **names, "mode": f"{mine:04o}", "deviates": wrong}
        )
    deviating = sum(row["deviates"] for row in rows)
    rows.sort(key=lambda row: (not row["deviates"], row["path"]))
    return {"rows": rows[:limit], "total": len(rows), "deviating": deviating, "ok": not deviating}


def wanted_mode(text: str, mode: int, *, folder: bool) -> int:
    """Return `mode` after the change that `text` describes, as chmod does it."""
    if not text:
        return mode
    if re.fullmatch(r"[0-7]{3,4}", text):
        kept = mode & 0o6000 if folder and len(text) == 3 else 0
        return int(text, 8) | kept
    for clause in text.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise ValueError(f"mode {text!r} is no mode: write 0640 or u=rw,g=r,o=")
        who = set(match[1].replace("a", "ugo")) or set("ugo")
        mode = _change(mode, who, match[2], match[3], folder)
    return mode


def _change(mode: int, who: set[str], sign: str, letters: str, folder: bool) -> int:
    each = sum({"r": 4, "w": 2, "x": 1}.get(letter, 0) for letter in set(letters))
    if "X" in letters and (folder or mode & 0o111):
        each |= 1
    bits = sum(each << _SHIFTS[name] for name in who)
    bits |= (0o4000 if "u" in who else 0) | (0o2000 if "g" in who else 0) if "s" in letters else 0
    bits |= 0o1000 if "t" in letters else 0
    if sign == "=":
        mode &= ~sum(7 << _SHIFTS[name] for name in who)
    return mode & ~bits if sign == "-" else mode | bits


def _walk(path: str, recursive: bool) -> Iterator[tuple[str, os.stat_result]]:
    start = os.lstat(path)
    if stat.S_ISLNK(start.st_mode):
        raise ValueError(f"path {path!r} is a link: name the file that it points to")
    pending = [(path, start)]
    while pending:
        here, info = pending.pop()
        yield here, info
        if recursive and stat.S_ISDIR(info.st_mode):
            with os.scandir(here) as entries:
                below = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
            # An overlay shows files, but no folders, as those of other file systems.
            pending += [
                (name, found)
                for name, found in below
                if (stat.S_ISDIR(found.st_mode) and found.st_dev == start.st_dev)
                or not (stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode))
            ]


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
