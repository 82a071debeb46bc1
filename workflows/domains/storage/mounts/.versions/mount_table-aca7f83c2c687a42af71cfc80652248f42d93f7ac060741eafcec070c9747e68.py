r"""Show what is mounted where, with which file system and options, and which mounts are read-only.

Reads the kernel's mount table. Virtual file systems (proc, sysfs, cgroup and the like) are left
out unless asked for. A mount point that was mounted over by a later mount is marked `covered`. A
disk that is read-only without being an image (squashfs, iso9660, erofs) often means the kernel
stopped writing after an error; those mounts are named in `suspicious`.

Args:
    include_virtual (bool): Also list file systems that hold no files of their own.
    fs_type (str): Only mounts of this file system type, for example `ext4`; empty means every type.
    mounts (str): The mount table, or a copy of `/proc/mounts` from another machine.

Returns:
    rows (list[dict[str, Any]]): One a mount, in mount order: `mount`, `device`, `fs_type`,
        `options` (list), `read_only`, `virtual`, `covered`.
    read_only (list[str]): Mount points of the rows that are read-only.
    suspicious (list[str]): Read-only mounts of a block device that is not an image.
    count (int): How many rows there are.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/mounts
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a data disk that went read-only
      inputs: {mounts: /tmp/mount_table/mounts}
      files:
        /tmp/mount_table/mounts: |
          proc /proc proc rw,nosuid 0 0
          /dev/sda1 / ext4 rw,relatime,errors=remount-ro 0 0
          /dev/sdb1 /srv/my\040data xfs ro,relatime 0 0
          /dev/loop0 /snap/core squashfs ro 0 0
      output:
        rows:
          - {mount: /, device: /dev/sda1, fs_type: ext4, read_only: false, virtual: false,
             options: [rw, relatime, errors=remount-ro], covered: false}
          - {mount: /srv/my data, device: /dev/sdb1, fs_type: xfs, read_only: true, virtual: false,
             options: [ro, relatime], covered: false}
          - {mount: /snap/core, device: /dev/loop0, fs_type: squashfs, read_only: true,
             virtual: false, options: [ro], covered: false}
        read_only: [/srv/my data, /snap/core]
        suspicious: [/srv/my data]
        count: 3
    - title: this machine, virtual file systems too
      inputs: {include_virtual: true}
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

IMAGES = frozenset({"squashfs", "iso9660", "erofs"})
VIRTUAL = frozenset(
    """
    autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl
    hugetlbfs mqueue nsfs proc pstore ramfs rpc_pipefs securityfs selinuxfs sysfs tracefs
    fuse.gvfsd-fuse fuse.lxcfs fuse.portal
    """.split()
)


def run(
    include_virtual: bool = False, fs_type: str = "", mounts: str = "/proc/mounts"
) -> dict[str, Any]:
    """Read the mount table."""
    table = [
        row
        for line in Path(mounts).read_text(encoding="utf-8", errors="backslashreplace").splitlines()
        if (row := _row(line)) is not None
    ]
    last = {row["mount"]: position for position, row in enumerate(table)}
    for position, row in enumerate(table):
        row["covered"] = last[row["mount"]] != position
    rows = [
        row
        for row in table
        if (include_virtual or not row["virtual"]) and fs_type in ("", row["fs_type"])
    ]
    read_only = [row for row in rows if row["read_only"]]
    return {
        "rows": rows,
        "read_only": [row["mount"] for row in read_only],
        "suspicious": [
            row["mount"]
            for row in read_only
            if row["device"].startswith("/dev/") and row["fs_type"] not in IMAGES
        ],
        "count": len(rows),
    }


def _row(line: str) -> dict[str, Any] | None:
    """One mount; None for a line that is too short to be one."""
    fields = [_unescape(field) for field in line.split()]
    if len(fields) < 4:
        return None
    device, mount, fs_type, options = fields[:4]
    flags = options.split(",")
    return {
        "mount": mount,
        "device": device,
        "fs_type": fs_type,
        "options": flags,
        "read_only": "ro" in flags,
        "virtual": fs_type in VIRTUAL,
    }


def _unescape(field: str) -> str:
    """The kernel writes a space as backslash 040, and so on."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)
