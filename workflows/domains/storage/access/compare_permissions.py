"""Compare owner, group and mode of files with a recorded list, and show each difference.

Takes rows as `set_permissions` and `file_permissions` return them. A file that is gone counts as a
difference. Links are not followed.

Args:
    rows (list[dict[str, Any]]): One a file: `path`, and the recorded `owner`, `group` (names or
        numbers) and `mode` (octal). An empty value is not compared.

Returns:
    rows (list[dict[str, Any]]): One a difference: `path`, `what` (owner, group, mode, missing),
        `recorded`, `now`.
    files (int): How many files were compared.
    ok (bool): True if there is no difference.

Side effects:
    none

Kind: read

Effects:
    paths: the files of the given rows
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a file that is gone
      inputs: {rows: [{path: /tmp/app/gone, owner: root, group: root, mode: "0600"}]}
      output:
        rows: [{path: /tmp/app/gone, what: missing, recorded: "0600", now: ""}]
        files: 1
        ok: false
    - title: a file with another mode
      inputs: {rows: [{path: /tmp/app/a, mode: "7777"}]}
      files: {/tmp/app/a: "x"}
      output:
        rows: [{path: /tmp/app/a, what: mode, recorded: "7777", now: ...}]
        files: 1
        ok: false
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from typing import Any


def run(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found = []
    for row in rows:
        path, mode = str(row.get("path", "")), str(row.get("mode", ""))
        if not path:
            raise ValueError(f"a row has no path: {row!r}")
        if mode and not re.fullmatch(r"[0-7]{3,4}", mode):
            raise ValueError(f"mode {mode!r} of {path} is not octal: write 0640")
        try:
            info = os.lstat(path)
        except FileNotFoundError:
            found.append({"path": path, "what": "missing", "recorded": mode, "now": ""})
            continue
        now = f"{stat.S_IMODE(info.st_mode):04o}"
        recorded = {what: str(row.get(what, "")) for what in ("owner", "group")}
        for what, names in (("owner", _user(info.st_uid)), ("group", _group(info.st_gid))):
            if recorded[what] not in ("", *names):
                line = {"path": path, "what": what, "recorded": recorded[what], "now": names[0]}
                found.append(line)
        if mode and int(mode, 8) != int(now, 8):
            found.append({"path": path, "what": "mode", "recorded": mode, "now": now})
    return {"rows": found, "files": len(rows), "ok": not found}


def _user(number: int) -> tuple[str, str]:
    """Return the name of the user, if there is one, and the number."""
    try:
        return pwd.getpwuid(number).pw_name, str(number)
    except KeyError:
        return str(number), str(number)


def _group(number: int) -> tuple[str, str]:
    try:
        return grp.getgrgid(number).gr_name, str(number)
    except KeyError:
        return str(number), str(number)
