"""Rotate a log file now: move it to `NAME.1`, shift and compress older copies, keep the last N.

Renames the log and creates an empty one with the same owner and mode, as logrotate does. A program
that still has the log open goes on writing to the renamed copy until it opens its log again. So the
newest copy is compressed at once only if no program writes to it, and otherwise by the next run.
With `copytruncate` the log is copied and emptied instead, for programs that never open it again.
Lines written between the two steps are then lost. An empty log is left alone.

Args:
    path (str): The log file; no link.
    keep (int): How many rotated copies to keep, 1 to 1000. Older ones are deleted.
    compress (bool): Compress the copies with gzip.
    copytruncate (bool): Copy and empty the log instead of renaming it.
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    newest (str): The newest copy after the run; empty if there is none.
    bytes (int): How much text was, or would be, rotated; 0 if the log is empty.
    still_open (bool): True if a program may still write to the newest copy, so that it is not
        compressed yet.
    deleted (list[str]): Copies that were, or would be, deleted.
    changed (bool): False if nothing was, or would be, done.

Side effects:
    Renames, compresses, creates and deletes files in the folder of the log.

Kind: write

Target: path

Verify: logs/rotate/rotation_history {path: "{{input.path}}", least_bytes: "{{output.bytes}}"}
    expect {ok: true, newest: "{{output.newest}}", ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: the given path and its rotated copies
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: the oldest copy goes
      inputs: {path: /tmp/log/app.log, keep: 1, copytruncate: true, dry_run: false}
      files: {/tmp/log/app.log: "12345", /tmp/log/app.log.1: "old"}
      output:
        newest: /tmp/log/app.log.1.gz
        bytes: 5
        still_open: false
        deleted: [/tmp/log/app.log.1]
        changed: true
    - title: a dry run
      inputs: {path: /tmp/log/app.log, compress: false, dry_run: true}
      files: {/tmp/log/app.log: "12345"}
      output: {newest: /tmp/log/app.log.1, bytes: 5, still_open: false, deleted: [], changed: true}
    - title: an empty log
      inputs: {path: /tmp/log/app.log}
      files: {/tmp/log/app.log: ""}
      output: {newest: "", bytes: 0, still_open: false, deleted: [], changed: false}
"""

from __future__ import annotations

import fcntl
import gzip
import os
import re
import shutil
import stat
from pathlib import Path
from typing import Any


def run(
    path: str,
    keep: int = 7,
    compress: bool = True,
    copytruncate: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    if not 1 <= keep <= 1000:
        raise ValueError(f"keep {keep} is out of range: give 1 to 1000")
    log = Path(path).absolute()
    info = log.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise ValueError(f"path {path!r} is no regular file: name the log file itself")
    copies = _copies(log)
    if not info.st_size:
        return _result(str(copies[0][1]) if copies else "", 0, False, [], changed=False)
    deleted = [str(file) for number, file in copies if number >= keep]
    newest = log.with_name(f"{log.name}.1")
    if dry_run:
        name = f"{newest}.gz" if compress and copytruncate else str(newest)
        return _result(name, info.st_size, False, deleted, changed=True)
    _shift(log, copies, keep, compress)
    if copytruncate:
        size = _copy_and_empty(log, newest, info)
    else:
        size = info.st_size
        log.rename(newest)
        _create_like(log, info)
    compressed = compress and _compress(newest)
    if compressed:
        newest = newest.with_name(f"{newest.name}.gz")
    return _result(str(newest), size, compress and not compressed, deleted, changed=True)


def _result(
    newest: str, size: int, still_open: bool, deleted: list[str], *, changed: bool
) -> dict[str, Any]:
    return {"newest": newest, "bytes": size, "still_open": still_open} | {
        "deleted": deleted,
        "changed": changed,
    }


def _copies(log: Path) -> list[tuple[int, Path]]:
    """Return the numbered copies, newest first."""
    pattern = re.compile(rf"{re.escape(log.name)}\.(\d{{1,4}})(?:\.gz)?")
    found = []
    for file in log.parent.iterdir():
        match = pattern.fullmatch(file.name)
        if match and stat.S_ISREG(file.lstat().st_mode):
            found.append((int(match[1]), file))
    numbers = [number for number, _ in found]
    if twice := [number for number in numbers if numbers.count(number) > 1]:
        raise ValueError(f"{log}.{twice[0]} exists with and without .gz: remove one of them")
    return sorted(found)


def _shift(log: Path, copies: list[tuple[int, Path]], keep: int, compress: bool) -> None:
    for number, file in reversed(copies):
        if number >= keep:
            file.unlink()
            continue
        ending = ".gz" if file.suffix == ".gz" else ""
        moved = file.rename(log.with_name(f"{log.name}.{number + 1}{ending}"))
        if compress and not ending:
            _compress(moved)


def _create_like(log: Path, info: os.stat_result) -> None:
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return  # the program created its log again by itself
    try:
        _take_over(descriptor, info)
    finally:
        os.close(descriptor)


def _take_over(descriptor: int, info: os.stat_result) -> None:
    if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(descriptor, info.st_uid, info.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(info.st_mode))


def _copy_and_empty(log: Path, newest: Path, info: os.stat_result) -> int:
    """Copy the log to its end, empty it, and return how many bytes were copied."""
    with log.open("r+b") as source, newest.open("xb") as target:
        _take_over(target.fileno(), info)
        shutil.copyfileobj(source, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
        source.truncate(0)
        return target.tell()


def _compress(file: Path) -> bool:
    """Compress the file. Return False if a program may have it open for writing.

    The kernel grants a read lease only on a file that no program has open for writing.
    """
    target = file.with_name(f"{file.name}.gz")
    temporary = file.with_name(f".{file.name}.gz.tmp")
    with file.open("rb") as source:
        try:
            fcntl.fcntl(source, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError:
            return False
        try:
            with temporary.open("xb") as raw:
                info = os.fstat(source.fileno())
                _take_over(raw.fileno(), info)
                with gzip.GzipFile(file.name, "wb", fileobj=raw, mtime=info.st_mtime) as packed:
                    shutil.copyfileobj(source, packed, 1 << 20)
                raw.flush()
                os.fsync(raw.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))
        file.unlink()
    return True
