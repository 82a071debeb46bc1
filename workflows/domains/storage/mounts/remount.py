r"""Remount a mounted file system read-only or read-write.

Changes the mode of one mount point until the next boot or remount. `/etc/fstab` stays as it is. If
a part of a file system is mounted (a bind mount, a subvolume), only this mount changes.

Args:
    mount_point (str): The folder at which it is mounted.
    mode (str): `ro` or `rw`; `read-only` and `read-write` mean the same.
    dry_run (bool): True changes nothing and shows the command.
    mountinfo (str): Another file like `/proc/self/mountinfo`, for a dry run only.

Returns:
    mount_point (str): The mount point.
    device (str): What is mounted.
    fs_type (str): Its type.
    previous_mode (str): `ro` or `rw`.
    mode (str): The mode asked for.
    argv (list[str]): The command; empty if the mode is already right.
    changed (bool): Whether the mode changed; False in a dry run.

Side effects:
    Programs can no longer write to a file system that is read-only.

Target: mount_point

Kind: write

Verify: storage/mounts/mount_mode {mount_point: "{{output.mount_point}}", mode: "{{output.mode}}"}
    expect {ok: true, ...: ...}

Undo: storage/mounts/remount {mount_point: "{{output.mount_point}}",
    mode: "{{output.previous_mode}}"}

Approval: operator

Owner: storage

Effects:
    paths: /proc/self/mountinfo, the given mountinfo, the given mount_point
    hosts: none
    commands: mount

Secrets: none

Examples:
    - title: a data volume becomes read-only
      inputs: {mount_point: /data/, mode: read-only, dry_run: true, mountinfo: /tmp/mountinfo}
      files:
        /tmp/mountinfo: "30 1 8:17 / /data rw,noatime shared:2 - ext4 /dev/sdb1 rw\n"
      output:
        mount_point: /data
        device: /dev/sdb1
        fs_type: ext4
        previous_mode: rw
        mode: ro
        argv: [mount, -o, "remount,ro", /data]
        changed: false
    - title: a bind mount changes alone
      inputs: {mount_point: /srv/www, mode: ro, dry_run: true, mountinfo: /tmp/mountinfo}
      files:
        /tmp/mountinfo: "31 1 8:17 /www /srv/www rw - ext4 /dev/sdb1 rw\n"
      output: {argv: [mount, -o, "remount,bind,ro", /srv/www], ...: ...}
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

_MODES = {"ro": "ro", "rw": "rw", "read-only": "ro", "read-write": "rw"}
_TABLE = "/proc/self/mountinfo"
_TIMEOUT_S = 60


def run(
    mount_point: str,
    mode: str,
    dry_run: bool = False,
    mountinfo: str = _TABLE,
) -> dict[str, Any]:
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r} is not known: use ro or rw")
    if not mount_point.startswith("/"):
        raise ValueError(f"mount_point {mount_point!r} is no absolute path: start it with /")
    if mountinfo != _TABLE and not dry_run:
        raise ValueError(f"mountinfo {mountinfo!r} is for a dry run only: leave it out")
    folder = os.path.normpath(mount_point)
    found = _mount(Path(mountinfo).read_text(encoding="utf-8", errors="replace"), folder)
    if found is None:
        raise ValueError(f"mount_point {folder!r} is no mount point: `mount_table` lists them")
    wanted = _MODES[mode]
    changes = found["previous_mode"] != wanted
    options = f"remount,bind,{wanted}" if found.pop("part") else f"remount,{wanted}"
    argv = ["mount", "-o", options, folder] if changes else []
    if argv and not dry_run:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())
            raise RuntimeError(
                f"{' '.join(argv)} failed with status {done.returncode}: {said} "
                "(if it is busy, `open_files` shows who has files open)"
            )
    return {
        "mount_point": folder,
        **found,
        "mode": wanted,
        "argv": argv,
        "changed": changes and not dry_run,
    }


def _mount(table: str, folder: str) -> dict[str, Any] | None:
    """The mount that is seen at the folder: the last one covers those before it."""
    found = None
    for line in table.splitlines():
        fields, _, source = line.partition(" - ")
        words, rest = fields.split(), source.split()
        if len(words) < 6 or len(rest) < 3 or _plain(words[4]) != folder:
            continue
        read_only = "ro" in words[5].split(",") or "ro" in rest[2].split(",")
        found = {
            "device": _plain(rest[1]),
            "fs_type": rest[0],
            "previous_mode": "ro" if read_only else "rw",
            "part": words[3] != "/",
        }
    return found


def _plain(text: str) -> str:
    r"""The kernel writes a blank as \040."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
