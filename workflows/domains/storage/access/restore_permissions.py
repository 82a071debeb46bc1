"""Give files back the owner, group and mode that were recorded before a change.

Takes the rows that `set_permissions` returned: each names a file and its old values. Links are
refused and never followed. Nothing else about the files changes. To go back, restore the rows that it
returns.

Args:
    rows (list[dict[str, Any]]): One a file: `path`, `owner`, `group` (names or numbers) and `mode`
        (octal).
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    rows (list[dict[str, Any]]): One a changed file: `path`, and the `owner`, `group` and `mode`
        that it had before this run.
    changed (int): How many files were, or would be, changed.
    wanted (list[dict[str, Any]]): The values that were asked for, one a file.
    errors (list[dict[str, Any]]): Files that could not be changed: `path`, `error`.
    dry_run (bool): True if nothing was changed.

Side effects:
    Changes owner, group and mode of files.

Kind: write

Target: rows

Verify: storage/access/compare_permissions {rows: "{{output.wanted}}"}
    expect {ok: true, ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: the files of the given rows
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: the mode of one file, with its present owner
      inputs:
        rows: [{path: /tmp/app/key.pem, owner: "", group: "", mode: "0640"}]
        dry_run: false
      files: {/tmp/app/key.pem: "x"}
      output:
        rows: [{path: /tmp/app/key.pem, owner: ..., group: ..., mode: ...}]
        changed: 1
        wanted: [{path: /tmp/app/key.pem, owner: "", group: "", mode: "0640"}]
        errors: []
        dry_run: false
    - title: a dry run
      inputs:
        rows: [{path: /tmp/app/key.pem, owner: "", group: "", mode: "0600"}]
        dry_run: true
      files: {/tmp/app/key.pem: "x"}
      output: {rows: ..., changed: 1, wanted: ..., errors: [], dry_run: true}
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from typing import Any


def run(rows: list[dict[str, Any]], dry_run: bool = False) -> dict[str, Any]:
    wanted = [_checked(row) for row in rows]
    before: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for row in wanted:
        try:
            old = _set(row, dry_run)
        except OSError as failure:
            errors.append({"path": row["path"], "error": failure.strerror or str(failure)})
            continue
        if old is not None:
            before.append(old)
    return {"rows": before, "changed": len(before), "wanted": wanted} | {
        "errors": errors,
        "dry_run": dry_run,
    }


def _checked(row: dict[str, Any]) -> dict[str, str]:
    found = {name: str(row.get(name, "")) for name in ("path", "owner", "group", "mode")}
    if not found["path"]:
        raise ValueError(f"a row has no path: {row!r}")
    if not re.fullmatch(r"[0-7]{3,4}", found["mode"]):
        raise ValueError(f"mode {found['mode']!r} of {found['path']} is not octal: write 0640")
    return found


def _set(row: dict[str, str], dry_run: bool) -> dict[str, Any] | None:
    """Return the values before, or None if the file has the wanted ones."""
    descriptor = os.open(row["path"], os.O_PATH | os.O_NOFOLLOW)
    try:
        now = os.fstat(descriptor)
        if stat.S_ISLNK(now.st_mode):
            raise OSError("it is a link")
        uid, gid = _user(row["owner"], now.st_uid), _group(row["group"], now.st_gid)
        mode, present = int(row["mode"], 8), stat.S_IMODE(now.st_mode)
        if (uid, gid, mode) == (now.st_uid, now.st_gid, present):
            return None
        if not dry_run:
            # Held open, so that no link can take the place of the file.
            held = f"/proc/self/fd/{descriptor}"
            if (uid, gid) != (now.st_uid, now.st_gid):
                os.chown(held, uid, gid)
            os.chmod(held, mode)
    finally:
        os.close(descriptor)
    old = {"owner": str(now.st_uid), "group": str(now.st_gid), "mode": f"{present:04o}"}
    return {"path": row["path"], **old}


def _user(owner: str, present: int) -> int:
    if not owner or owner.isdecimal():
        return int(owner) if owner else present
    try:
        return pwd.getpwnam(owner).pw_uid
    except KeyError:
        raise ValueError(f"owner {owner!r} is no user here: give a number") from None


def _group(group: str, present: int) -> int:
    if not group or group.isdecimal():
        return int(group) if group else present
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        raise ValueError(f"group {group!r} is no group here: give a number") from None
