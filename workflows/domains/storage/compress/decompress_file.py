"""Decompress one gzip file: write NAME without .gz beside it, check it, and remove NAME.gz.

The file is written beside its final name, its checksum is checked to the end, and only then it gets
its name. Owner, mode and time are kept. An existing file is never replaced. A damaged file is
refused, and so is one that would grow beyond `max_bytes`. Archives of several files (tar, zip) are
not unpacked: `restore_backup` does that.

Args:
    path (str): The compressed file, a name that ends in `.gz`; no link.
    keep (bool): Keep the compressed file too.
    max_bytes (int): Refuse a file that is larger than this when decompressed.
    dry_run (bool): True reads the file to its end, changes nothing and reports what would be
        written.

Returns:
    path (str): The decompressed file.
    bytes (int): Its size.
    sha256 (str): Its checksum.
    removed (bool): True if the compressed file was, or would be, removed.
    changed (bool): False in a dry run.

Side effects:
    Creates one file, and removes the compressed file that it replaces.

Kind: write

Target: path

Verify: shared/hash/hash_file {path: "{{output.path}}", expected: "{{output.sha256}}"}
    expect {matches: true, ...: ...}

Undo: storage/compress/compress_file {path: "{{output.path}}"}

Approval: operator

Owner: platform

Effects:
    paths: the given path
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a compressed file is replaced by what is in it
      inputs: {path: /tmp/dump/a.sql.gz, dry_run: false}
      files:
        /tmp/dump/a.sql.gz: {base64: "H4sIAAAAAAACAzM0MjYxBQAcOvXLBQAAAA=="}
      output:
        path: /tmp/dump/a.sql
        bytes: 5
        sha256: 5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5
        removed: true
        changed: true
    - title: a dry run
      inputs: {path: /tmp/dump/a.sql.gz, keep: true, dry_run: true}
      files:
        /tmp/dump/a.sql.gz: {base64: "H4sIAAAAAAACAzM0MjYxBQAcOvXLBQAAAA=="}
      output:
        path: /tmp/dump/a.sql
        bytes: 5
        sha256: 5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5
        removed: false
        changed: false
"""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import zlib
from pathlib import Path
from typing import Any, BinaryIO

_CHUNK = 1 << 20


def run(
    path: str, keep: bool = False, max_bytes: int = 100_000_000_000, dry_run: bool = False
) -> dict[str, Any]:
    if max_bytes < 1:
        raise ValueError(f"max_bytes {max_bytes} allows no file: give 1 or more")
    packed = Path(path).absolute()
    info = packed.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise ValueError(f"path {path!r} is no regular file: name one compressed file")
    if packed.suffix != ".gz" or packed.name == ".gz":
        raise ValueError(f"path {path!r} does not end in .gz: it has no name without that ending")
    if info.st_nlink > 1 and not keep:
        raise ValueError(f"{path} has {info.st_nlink} hard links: give keep to leave them alone")
    target = packed.with_suffix("")
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists: move it away first")
    with packed.open("rb") as stream:
        if stream.read(2) != b"\x1f\x8b":  # an empty file would give an empty file
            raise ValueError(f"{path} is no whole gzip file: it does not begin as one")
    try:
        if dry_run:
            size, digest = _copy(packed, None, max_bytes)
        else:
            size, digest = _decompress(packed, target, info, max_bytes)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is no whole gzip file: {error}") from None
    if not dry_run and not keep:
        packed.unlink()
    return {
        "path": str(target),
        "bytes": size,
        "sha256": digest,
        "removed": not keep,
        "changed": not dry_run,
    }


def _decompress(
    packed: Path, target: Path, info: os.stat_result, max_bytes: int
) -> tuple[int, str]:
    """Write the target and return its size and checksum. It appears whole or not at all."""
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("xb") as raw:
            if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(raw.fileno(), info.st_uid, info.st_gid)
            os.fchmod(raw.fileno(), stat.S_IMODE(info.st_mode))
            size, digest = _copy(packed, raw, max_bytes)
            raw.flush()
            os.fsync(raw.fileno())
        os.utime(temporary, ns=(info.st_atime_ns, info.st_mtime_ns))
        os.link(temporary, target)  # unlike a rename it never replaces a file
    finally:
        temporary.unlink(missing_ok=True)
    return size, digest


def _copy(packed: Path, target: BinaryIO | None, max_bytes: int) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with gzip.open(packed, "rb") as source:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > max_bytes:
                raise ValueError(f"{packed} is larger than {max_bytes} bytes: raise max_bytes")
            digest.update(chunk)
            if target is not None:
                target.write(chunk)
    return size, digest.hexdigest()
