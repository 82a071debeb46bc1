"""Compress one file with gzip: write NAME.gz beside it, check it, and remove the file.

The compressed file is written beside its final name, read back and compared with the file, and only
then gets its name. Owner, mode and time are kept. An existing file is never replaced. A file that a
program writes to is refused, because its further lines would be lost: rotate a log instead. So is a
link, a file with several hard links, and a file that is compressed already.

Args:
    path (str): The file to compress; no link, no folder.
    level (int): How hard to compress, 1 (fast) to 9 (small).
    keep (bool): Keep the file too.
    dry_run (bool): True changes nothing and reports what would be written.

Returns:
    path (str): The compressed file.
    bytes (int): Size of the file.
    compressed_bytes (int): Size of the compressed file; 0 in a dry run.
    removed (bool): True if the file was, or would be, removed.
    changed (bool): False in a dry run.

Side effects:
    Creates one file, and removes the file that it replaces.

Kind: write

Target: path

Verify: backup/archive/archive_contents {path: "{{output.path}}", max_bytes: 1000000000000000}
    expect {complete: true, format: gz, total_bytes: "{{output.bytes}}", ...: ...}

Undo: storage/compress/decompress_file {path: "{{output.path}}"}

Approval: operator

Owner: platform

Effects:
    paths: the given path
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a file is replaced by its compressed form
      inputs: {path: /tmp/dump/a.sql, dry_run: false}
      files: {/tmp/dump/a.sql: "aaaaaaaaaaaaaaaaaaaa"}
      output:
        path: /tmp/dump/a.sql.gz
        bytes: 20
        compressed_bytes: ...
        removed: true
        changed: true
    - title: a dry run
      inputs: {path: /tmp/dump/a.sql, keep: true, dry_run: true}
      files: {/tmp/dump/a.sql: "12345"}
      output:
        path: /tmp/dump/a.sql.gz
        bytes: 5
        compressed_bytes: 0
        removed: false
        changed: false
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Any, BinaryIO

_MARKS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"7z\xbc\xaf")
_CHUNK = 1 << 20


def run(path: str, level: int = 6, keep: bool = False, dry_run: bool = False) -> dict[str, Any]:
    if not 1 <= level <= 9:
        raise ValueError(f"level {level} is out of range: give 1 (fast) to 9 (small)")
    file = Path(path).absolute()
    info = file.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise ValueError(f"path {path!r} is no regular file: name one file")
    if info.st_nlink > 1 and not keep:
        raise ValueError(f"{path} has {info.st_nlink} hard links: give keep to leave them alone")
    target = file.with_name(f"{file.name}.gz")
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists: move it away first")
    with file.open("rb") as source:
        if source.read(6).startswith(_MARKS):
            raise ValueError(f"{path} is compressed already: a second time saves nothing")
        source.seek(0)
        _refuse_writers(source, path)
        size = 0 if dry_run else _compress(source, file, target, level)
    if not dry_run and not keep:
        file.unlink()
    return {
        "path": str(target),
        "bytes": info.st_size,
        "compressed_bytes": size,
        "removed": not keep,
        "changed": not dry_run,
    }


def _refuse_writers(source: BinaryIO, path: str) -> None:
    """Raise if a program has the file open for writing. The kernel then grants no read lease.

    A file system without leases, or a file of another user, is compared after the copy instead.
    """
    try:
        fcntl.fcntl(source, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EBUSY):
            raise ValueError(f"a program writes to {path}: end it, or rotate the log") from None


def _compress(source: BinaryIO, file: Path, target: Path, level: int) -> int:
    """Write the target and return its size. It appears whole or not at all."""
    before = os.fstat(source.fileno())
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("xb") as raw:
            _take_over(raw.fileno(), before)
            with gzip.GzipFile(file.name, "wb", level, raw, before.st_mtime) as packed:
                shutil.copyfileobj(source, packed, _CHUNK)
            raw.flush()
            os.fsync(raw.fileno())
            size = raw.tell()
        source.seek(0)
        with gzip.open(temporary, "rb") as back:
            if _digest(back) != _digest(source):
                raise OSError(f"{target} read back is not {file}: nothing was changed")
        after = file.lstat()
        if (after.st_ino, after.st_size, after.st_mtime_ns) != (
            before.st_ino,
            before.st_size,
            before.st_mtime_ns,
        ):
            raise OSError(f"{file} was changed meanwhile: nothing was changed")
        os.utime(temporary, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.link(temporary, target)  # unlike a rename it never replaces a file
    finally:
        temporary.unlink(missing_ok=True)
    return size


def _take_over(descriptor: int, info: os.stat_result) -> None:
    if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(descriptor, info.st_uid, info.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(info.st_mode))


def _digest(stream: Any) -> bytes:
    return hashlib.file_digest(stream, "sha256").digest()
