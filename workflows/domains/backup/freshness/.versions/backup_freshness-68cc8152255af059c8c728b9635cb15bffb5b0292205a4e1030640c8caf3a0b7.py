"""Tell whether the newest backup in a folder is recent and large enough.

Looks at the files below a folder, groups them by series (the name without dates, times and
counters, so that `db-2025-03-01.sql.gz` and `db-2025-03-02.sql.gz` belong together), and checks
the newest of each: not older than the given hours, not smaller than the given size, and not
much smaller than the one before it. A folder without backups is not fresh.

Args:
    folder (str): Where the backups lie. Must exist.
    pattern (str): Which file names count, such as `*.tar.gz`.
    max_age_hours (float): How old the newest backup may be, more than 0.
    min_bytes (int): How large the newest backup must be at least.
    max_shrink_percent (float): How much smaller than its predecessor it may be, 0 to 100.

Returns:
    rows (list[dict[str, Any]]): One a series, problems first: `series`, `newest`, `age_hours`,
        `bytes`, `previous_bytes`, `count`, `ok`, `problems` (list of text).
    ok (bool): Whether there is a backup and every series is in order.
    total (int): How many backup files there are.
    error (str | None): Why the answer is no when there is nothing to list.

Side effects:
    none

Kind: read

Effects:
    paths: the given folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {folder: /tmp/backups, min_bytes: 4}
      files:
        /tmp/backups/db-2025-03-01.sql: {mtime: -180000, text: "0123456789"}
        /tmp/backups/db-2025-03-02.sql: {mtime: -93600, text: "012345678"}
        /tmp/backups/www-7.tar: {mtime: -3600, text: "01234"}
      output:
        rows:
          - {series: db-*.sql, newest: /tmp/backups/db-2025-03-02.sql, age_hours: 26.0, bytes: 9,
             previous_bytes: 10, count: 2, ok: false,
             problems: ["26.0 hours old, more than 25"]}
          - {series: www-*.tar, newest: /tmp/backups/www-7.tar, age_hours: 1.0, bytes: 5,
             previous_bytes: null, count: 1, ok: true, problems: []}
        ok: false
        total: 3
        error: null
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import time
from pathlib import Path
from typing import Any

# Dates and counters vary within a series; the digits of `web1` or `bz2` do not.
_VARYING = re.compile(
    r"(?<![A-Za-z0-9])\d+(?:[-_.:Th]?\d+)*Z?(?![A-Za-z0-9])|\d{6,}(?:[-_.:Th]?\d+)*Z?"
)
Backup = tuple[float, int, str]


def run(
    folder: str,
    pattern: str = "*",
    max_age_hours: float = 25.0,
    min_bytes: int = 1,
    max_shrink_percent: float = 50.0,
) -> dict[str, Any]:
    if max_age_hours <= 0:
        raise ValueError(f"max_age_hours {max_age_hours} can never be met: give more than 0")
    if not 0 <= max_shrink_percent <= 100:
        raise ValueError(f"max_shrink_percent {max_shrink_percent}: give 0 to 100")
    now = time.time()
    series: dict[str, list[Backup]] = {}
    for path, info in _files(folder, pattern):
        name = _VARYING.sub("*", os.path.relpath(path, folder))
        series.setdefault(name, []).append((info.st_mtime, info.st_size, path))
    rows = [
        _judge(name, sorted(backups), now, max_age_hours, min_bytes, max_shrink_percent)
        for name, backups in series.items()
    ]
    rows.sort(key=lambda row: (row["ok"], row["series"]))
    return {
        "rows": rows,
        "ok": bool(rows) and all(row["ok"] for row in rows),
        "total": sum(row["count"] for row in rows),
        "error": None if rows else f"no file in {folder} fits {pattern!r}",
    }


def _files(folder: str, pattern: str) -> list[tuple[str, os.stat_result]]:
    if not Path(folder).is_dir():
        os.listdir(folder)  # raises the OSError that says why
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in fnmatch.filter(names, pattern):
            path = os.path.join(parent, name)
            info = os.lstat(path)
            if stat.S_ISREG(info.st_mode) and not name.startswith("."):
                found.append((path, info))
    return found


def _judge(
    name: str,
    backups: list[Backup],
    now: float,
    max_age_hours: float,
    min_bytes: int,
    max_shrink_percent: float,
) -> dict[str, Any]:
    changed, size, path = backups[-1]
    previous = backups[-2][1] if len(backups) > 1 else None
    age = round((now - changed) / 3600, 1)
    problems = []
    if age > max_age_hours:
        problems.append(f"{age} hours old, more than {max_age_hours:g}")
    if age < -1:
        problems.append("its time lies in the future")
    if size < min_bytes:
        problems.append(f"{size} bytes, less than {min_bytes}")
    if previous and size < previous * (1 - max_shrink_percent / 100):
        percent = 100 * (1 - size / previous)
        problems.append(f"{percent:.0f} percent smaller than the one before")
    return {
        "series": name,
        "newest": path,
        "age_hours": age,
        "bytes": size,
        "previous_bytes": previous,
        "count": len(backups),
        "ok": not problems,
        "problems": problems,
    }
