r"""Check if one mount point is writable or read-only now.

Reads the kernel's list of mounts, and compares the mode of one mount point with the expected one.

Args:
    mount_point (str): The folder at which the file system is mounted.
    mode (str): The mode that it should have, `ro` or `rw`; empty accepts both.
    mountinfo (str): The kernel's list, or a copy of it.

Returns:
    mount_point (str): The mount point.
    mounted (bool): Whether something is mounted there.
    mode (str): `ro`, `rw`, or empty.
    device (str): What is mounted.
    ok (bool): Whether it is mounted with the mode asked for.

Side effects:
    none

Kind: read

Owner: storage

Effects:
    paths: /proc/self/mountinfo, the given mountinfo
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {mount_point: /data, mode: ro, mountinfo: /tmp/mountinfo}
      files:
        /tmp/mountinfo: "30 1 8:17 / /data rw,noatime shared:2 - ext4 /dev/sdb1 rw\n"
      output: {mount_point: /data, mounted: true, mode: rw, device: /dev/sdb1, ok: false}
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any


def run(
    mount_point: str, mode: str = "", mountinfo: str = "/proc/self/mountinfo"
) -> dict[str, Any]:
    if mode not in ("", "ro", "rw"):
        raise ValueError(f"mode {mode!r} is not known: use ro or rw")
    folder = os.path.normpath(mount_point)
    device, found = "", ""
    for line in Path(mountinfo).read_text(encoding="utf-8", errors="replace").splitlines():
        fields, _, source = line.partition(" - ")
        words, rest = fields.split(), source.split()
        if len(words) >= 6 and len(rest) >= 3 and _plain(words[4]) == folder:
            options = {*words[5].split(","), *rest[2].split(",")}
            device, found = _plain(rest[1]), "ro" if "ro" in options else "rw"
    return {
        "mount_point": folder,
        "mounted": bool(found),
        "mode": found,
        "device": device,
        "ok": bool(found) and mode in ("", found),
    }


def _plain(text: str) -> str:
    r"""The kernel writes a blank as \040."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
