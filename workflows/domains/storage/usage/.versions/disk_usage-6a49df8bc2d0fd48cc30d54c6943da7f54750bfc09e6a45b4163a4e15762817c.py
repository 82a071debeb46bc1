r"""Show how full every mounted file system is, in space and in inodes, and which are above a limit.

Reads the mount table and asks each file system for its free blocks and inodes, the way `df` does:
percent used is counted over what ordinary users may fill, so blocks reserved for root are left
out. File systems without blocks (proc, sysfs, cgroups) and second mounts of the same device are
skipped. Read-only images (squashfs, iso9660, erofs) are always full and never count as above.
A network file system whose server does not answer holds this up, as it does `df`.
To look at another machine, save `(df -Pk; df -Pi) > FILE` there and give that file.

Args:
    limit_percent (float): Space or inode use above this many percent is reported. 0 to 100.
    saved (str): A file with output of `df -Pk`, `df -Pi` or both; empty means this machine.
    mounts (str): The mount table of this machine.

Returns:
    rows (list[dict[str, Any]]): One a file system, fullest first: `mount`, `device`, `fs_type`,
        `size_bytes`, `used_bytes`, `free_bytes`, `used_percent`, `inodes_total`, `inodes_used`,
        `inodes_used_percent`, `above`, `error`. Unknown values are null.
    above (list[str]): Mount points above the limit in space or in inodes.
    unreadable (list[str]): Mount points that could not be measured; their rows say why.
    ok (bool): Whether nothing is above the limit.
    limit_percent (float): The limit that was applied.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/mounts, every mount point, the saved file
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a saved df from another machine with one nearly full disk
      inputs: {saved: /tmp/disk_usage/df.txt, limit_percent: 90}
      files:
        /tmp/disk_usage/df.txt: |
          Filesystem     1024-blocks     Used Available Capacity Mounted on
          /dev/sda1             1000      200       800      20% /
          /dev/sdb1             1000      900        50      95% /var/lib data
          Filesystem       Inodes  IUsed   IFree IUse% Mounted on
          /dev/sda1           100     99       1   99% /
      output:
        rows:
          - {mount: /, device: /dev/sda1, fs_type: null, size_bytes: 1024000, used_bytes: 204800,
             free_bytes: 819200, used_percent: 20.0, inodes_total: 100, inodes_used: 99,
             inodes_used_percent: 99.0, above: true, error: null}
          - {mount: /var/lib data, device: /dev/sdb1, fs_type: null, size_bytes: 1024000,
             used_bytes: 921600, free_bytes: 51200, used_percent: 94.7, inodes_total: null,
             inodes_used: null, inodes_used_percent: null, above: true, error: null}
        above: [/, /var/lib data]
        unreadable: []
        ok: false
        limit_percent: 90.0
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

IMAGES = frozenset({"squashfs", "iso9660", "erofs"})
DF_LINE = re.compile(r"^(\S.*?)\s+(\d+|-)\s+(\d+|-)\s+(-?\d+|-)\s+(?:\d+%|-)\s+(.+)$")


def run(
    limit_percent: float = 90.0, saved: str = "", mounts: str = "/proc/mounts"
) -> dict[str, Any]:
    """Measure this machine, or read what `df` said on another."""
    if not 0 <= limit_percent <= 100:
        raise ValueError(f"limit_percent {limit_percent} is no percentage: give 0 to 100")
    rows = _from_df(Path(saved)) if saved else _from_mounts(Path(mounts))
    for row in rows:
        full = [p for p in (row["used_percent"], row["inodes_used_percent"]) if p is not None]
        row["above"] = row["fs_type"] not in IMAGES and any(p > limit_percent for p in full)
        row["error"] = row.pop("error", None)
    rows.sort(key=lambda r: -max(r["used_percent"] or 0, r["inodes_used_percent"] or 0))
    above = [row["mount"] for row in rows if row["above"]]
    return {
        "rows": rows,
        "above": above,
        "unreadable": [row["mount"] for row in rows if row["error"]],
        "ok": not above,
        "limit_percent": float(limit_percent),
    }


def _from_mounts(table: Path) -> list[dict[str, Any]]:
    # A later mount covers an earlier one at the same place, so the last line of a place counts.
    lines = table.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    places = {fields[1]: fields for line in lines if len(fields := line.split()) > 2}
    rows: list[dict[str, Any]] = []
    seen: set[int] = set()
    for fields in places.values():
        device, mount, fs_type = (_unescape(field) for field in fields[:3])
        if fs_type == "autofs":  # asking it would mount it
            continue
        row = _row(mount, device, fs_type)
        try:
            number = Path(mount).stat().st_dev
            stat = os.statvfs(mount)
        except OSError as error:
            rows.append(row | {"error": str(error)})
            continue
        if stat.f_blocks == 0 or number in seen:
            continue
        seen.add(number)
        _space(row, *(n * stat.f_frsize for n in (stat.f_blocks, stat.f_bfree, stat.f_bavail)))
        if stat.f_files:
            _inodes(row, stat.f_files, stat.f_files - stat.f_ffree)
        rows.append(row)
    return rows


def _from_df(path: Path) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    inodes = False
    unit = 1024
    for line in path.read_text(encoding="utf-8", errors="backslashreplace").splitlines():
        if line.startswith("Filesystem"):
            inodes = "Inodes" in line
            unit = 512 if "512-blocks" in line else 1024
        elif match := DF_LINE.match(line):
            device, total, used, free, mount = match.groups()
            row = rows.setdefault(mount, _row(mount, device, None))
            if "-" in (total, used, free) or total == "0":
                continue
            if inodes:
                _inodes(row, int(total), int(used))
            else:
                size, taken, left = (int(n) * unit for n in (total, used, free))
                _space(row, size, size - taken, left)
    if not rows:
        raise ValueError(f"{path} holds no df table: save the output of `df -Pk` and `df -Pi`")
    return [row for row in rows.values() if row["size_bytes"] or row["inodes_total"]]


def _row(mount: str, device: str, fs_type: str | None) -> dict[str, Any]:
    keys = ("size_bytes", "used_bytes", "free_bytes", "used_percent")
    counts = ("inodes_total", "inodes_used", "inodes_used_percent")
    head = {"mount": mount, "device": device, "fs_type": fs_type}
    return head | dict.fromkeys(keys) | dict.fromkeys(counts)


def _space(row: dict[str, Any], size: int, unused: int, free: int) -> None:
    used = size - unused
    percent = round(100 * used / (used + free), 1) if used + free > 0 else 0.0
    row |= {"size_bytes": size, "used_bytes": used, "free_bytes": free, "used_percent": percent}


def _inodes(row: dict[str, Any], total: int, used: int) -> None:
    percent = round(100 * used / total, 1)
    row |= {"inodes_total": total, "inodes_used": used, "inodes_used_percent": percent}


def _unescape(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)
