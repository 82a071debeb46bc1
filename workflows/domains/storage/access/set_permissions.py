r"""Set owner, group and mode of a file or folder (chown, chgrp, chmod), and record the old values.

With `recursive` everything below a folder is changed too, on the same file system. Links are
neither changed nor followed. Files that are already as wanted are left alone. Whole system folders
(`/`, `/etc`, `/usr`, `/var` and similar) are refused with `recursive`. Only root may give a file to
another owner.

Args:
    path (str): A file or folder; no link.
    owner (str): The new owner: a user name or number. Unchanged when empty.
    group (str): The new group: a group name or number. Unchanged when empty.
    mode (str): The new mode: octal (`0640`) or symbolic (`u=rwX,go-w`). Unchanged when empty.
    recursive (bool): Also everything below the folder.
    max_files (int): Refuse to change more files than this.
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    rows (list[dict[str, Any]]): One a change: `path`, the old `owner`, `group`, `mode`, and
        `new_owner`, `new_group`, `new_mode`.
    changed (int): How many files were, or would be, changed.
    errors (list[dict[str, Any]]): Files that could not be changed: `path`, `error`.
    dry_run (bool): True if nothing was changed.

Side effects:
    Changes owner, group and mode of files.

Kind: write

Target: path

Verify: storage/access/file_permissions {path: "{{input.path}}", owner: "{{input.owner}}",
    group: "{{input.group}}", mode: "{{input.mode}}", recursive: "{{input.recursive}}"}
    expect {ok: true, ...: ...}

Undo: storage/access/restore_permissions {rows: "{{output.rows}}"}

Approval: operator

Owner: platform

Effects:
    paths: the given path and everything below it
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a file that others may no longer read
      inputs: {path: /tmp/app/key.pem, mode: "600", dry_run: false}
      files: {/tmp/app/key.pem: "x"}
      output:
        rows: [{path: /tmp/app/key.pem, owner: ..., group: ..., mode: ..., new_owner: ...,
                new_group: ..., new_mode: "0600"}]
        changed: 1
        errors: []
        dry_run: false
    - title: a dry run
      inputs: {path: /tmp/app, mode: "u=rwX,go=", recursive: true, dry_run: true}
      files: {/tmp/app/key.pem: "x"}
      output: {rows: [{new_mode: "0700", ...: ...}, {new_mode: "0600", ...: ...}], changed: 2,
               errors: [], dry_run: true}
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CLAUSE = re.compile(r"([ugoa]*)([+=-])([rwxXst]*)")
_SHIFTS = {"u": 6, "g": 3, "o": 0}
_WHOLE = ("/", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/var", "/var/lib", "/var/log")
_TREES = ("bin", "boot", "dev", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys")


def run(
    path: str,
    owner: str = "",
    group: str = "",
    mode: str = "",
    recursive: bool = False,
    max_files: int = 10_000,
    dry_run: bool = False,
) -> dict[str, Any]:
    if not (owner or group or mode):
        raise ValueError("nothing to set: give owner, group or mode")
    uid, gid = _user_number(owner), _group_number(group)
    if recursive:
        _refuse_system_folder(path)
    rows: list[dict[str, Any]] = []
    changes: list[tuple[str, os.stat_result, int, int, int]] = []
    for found, info in _walk(path, recursive):
        old = stat.S_IMODE(info.st_mode)
        folder = stat.S_ISDIR(info.st_mode)
        new = _new_mode(mode, old, folder)
        if recursive and folder and not new & 0o100:
            raise ValueError(f"mode {mode!r} closes the folder {found}: write X, as in u=rwX,go=rX")
        if (info.st_uid, info.st_gid, old) == (_or(uid, info.st_uid), _or(gid, info.st_gid), new):
            continue
        if len(changes) >= max_files:
            raise ValueError(f"more than {max_files} files would change: raise max_files to do so")
        changes.append((found, info, _or(uid, info.st_uid), _or(gid, info.st_gid), new))
    errors = []
    for found, info, new_uid, new_gid, new in changes:
        row = {"path": found} | _named("", info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode))
        row |= _named("new_", new_uid, new_gid, new)
        try:
            if not dry_run:
                _apply(found, info, new_uid, new_gid, new)
            rows.append(row)
        except OSError as failure:
            errors.append({"path": found, "error": failure.strerror or str(failure)})
    return {"rows": rows, "changed": len(rows), "errors": errors, "dry_run": dry_run}


def _apply(path: str, info: os.stat_result, uid: int, gid: int, mode: int) -> None:
    """Change the file that was looked at. It is held open, so that no link can take its place."""
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        now = os.fstat(descriptor)
        if (now.st_dev, now.st_ino) != (info.st_dev, info.st_ino):
            raise OSError(f"{path} was replaced meanwhile: run it again")
        held = f"/proc/self/fd/{descriptor}"
        if (uid, gid) != (now.st_uid, now.st_gid):
            os.chown(held, uid, gid)
        # A change of owner takes away set-uid and set-gid, so the mode comes last.
        os.chmod(held, mode)
    finally:
        os.close(descriptor)


def _walk(path: str, recursive: bool) -> Iterator[tuple[str, os.stat_result]]:
    start = os.lstat(path)
    if stat.S_ISLNK(start.st_mode):
        raise ValueError(f"path {path!r} is a link: name the file that it points to")
    if recursive and not stat.S_ISDIR(start.st_mode):
        raise ValueError(f"path {path!r} is no folder: leave out recursive")
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
                for name, found in sorted(below, reverse=True)
                if (stat.S_ISDIR(found.st_mode) and found.st_dev == start.st_dev)
                or not (stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode))
            ]


def _refuse_system_folder(path: str) -> None:
    place = Path(path).resolve()
    system = place.parts[1:2] and (
        place.parts[1] in _TREES or (place.parts[1] == "usr" and place.parts[2:3] != ("local",))
    )
    if system or str(place) in _WHOLE:
        raise ValueError(f"{place} belongs to the system: name a folder inside it that is yours")


def _new_mode(text: str, mode: int, folder: bool) -> int:
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


def _named(prefix: str, uid: int, gid: int, mode: int) -> dict[str, str]:
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    try:
        group = grp.getgrgid(gid).gr_name
    except KeyError:
        group = str(gid)
    return {f"{prefix}owner": user, f"{prefix}group": group, f"{prefix}mode": f"{mode:04o}"}


def _or(wanted: int | None, present: int) -> int:
    return present if wanted is None else wanted


def _user_number(owner: str) -> int | None:
    if not owner or owner.isdecimal():
        return int(owner) if owner else None
    try:
        return pwd.getpwnam(owner).pw_uid
    except KeyError:
        raise ValueError(f"owner {owner!r} is no user here: create the user first") from None


def _group_number(group: str) -> int | None:
    if not group or group.isdecimal():
        return int(group) if group else None
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        raise ValueError(f"group {group!r} is no group here: create the group first") from None
