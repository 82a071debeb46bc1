"""List the rotated copies of a log file, newest first, and check that compressed ones are whole.

Knows copies with a number (`app.log.1`, `app.log.2.gz`) or a date (`app.log-20250301.gz`). Compressed
copies are read to their end in memory, and nothing is written.

Args:
    path (str): The log file itself. It need not exist.
    least_bytes (int): How many bytes of text the newest copy has to hold at least.

Returns:
    rows (list[dict[str, Any]]): One a copy, newest first: `path`, `bytes` (on disk),
        `content_bytes` (not compressed; null if damaged), `compressed`, `intact`.
    newest (str): The newest copy; empty if there is none.
    count (int): How many copies there are.
    log_bytes (int | None): Size of the log file itself; null if it does not exist.
    ok (bool): True if all copies are intact and the newest one holds `least_bytes`.

Side effects:
    none

Kind: read

Effects:
    paths: the given path and files beside it
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: one plain copy and one damaged one
      inputs: {path: /tmp/log/app.log, least_bytes: 3}
      files:
        /tmp/log/app.log: "12345"
        /tmp/log/app.log.1: "123"
        /tmp/log/app.log.2.gz: "not compressed"
        /tmp/log/other.log.1: "1"
      output:
        rows:
          - {path: /tmp/log/app.log.1, bytes: 3, content_bytes: 3, compressed: false, intact: true}
          - {path: /tmp/log/app.log.2.gz, bytes: 14, content_bytes: null, compressed: true,
             intact: false}
        newest: /tmp/log/app.log.1
        count: 2
        log_bytes: 5
        ok: false
"""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20


def run(path: str, least_bytes: int = 0) -> dict[str, Any]:
    log = Path(path)
    copy = re.compile(rf"{re.escape(log.name)}(?:\.(\d+)|[-.](\d{{8}}[-T_.]?\d*))(\.gz)?")
    found = []
    for file in log.parent.iterdir():
        match = copy.fullmatch(file.name)
        if match and file.is_file():
            dated = match[1] is None or len(match[1]) >= 8
            # A date orders the other way round: the highest is the newest.
            order = (1, _reversed(match[1] or match[2])) if dated else (0, int(match[1]))
            found.append((order, file))
    rows = [_row(file) for _, file in sorted(found)]
    newest = rows[0]["path"] if rows else ""
    enough = not least_bytes or (bool(rows) and (rows[0]["content_bytes"] or 0) >= least_bytes)
    return {"rows": rows, "newest": newest, "count": len(rows)} | {
        "log_bytes": log.stat().st_size if log.exists() else None,
        "ok": enough and all(row["intact"] for row in rows),
    }


def _reversed(date: str) -> int:
    return -int(re.sub(r"\D", "", date).ljust(20, "0"))


def _row(file: Path) -> dict[str, Any]:
    size = file.stat().st_size
    compressed = file.suffix == ".gz"
    content: int | None = size
    if compressed:
        try:
            content = 0
            with gzip.open(file) as stream:
                while part := stream.read(_CHUNK):
                    content += len(part)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            content = None
    return {"path": str(file), "bytes": size, "content_bytes": content} | {
        "compressed": compressed,
        "intact": content is not None,
    }
