"""Back up a file or folder into a new tar.gz archive, and check every member by its SHA-256.

Takes regular files, folders and links with mode, owner and time, on one file system. Sockets, pipes
and devices are listed as skipped. The archive is written beside its final name, read back and
compared with what was read from the disk, and only then gets its name. An existing file is never
replaced. A file that cannot be read ends the backup.

Args:
    folder (str): The file or folder to back up.
    archive (str): The archive to write. If it is an existing folder, the archive gets a name with
        the present time (UTC) in it.
    exclude (list[str] | None): Names or paths below the folder to leave out, for example `*.tmp` or
        `cache/*`.
    dry_run (bool): True writes nothing and reports what would be in the archive.

Returns:
    path (str): The archive.
    members (int): How many files, folders and links it holds.
    total_bytes (int): Size of the files in it.
    archive_bytes (int): Size of the archive; 0 in a dry run.
    sha256 (str): Checksum of the archive; empty in a dry run.
    changed_meanwhile (list[str]): Files that were written to while they were read. Their copies may
        be inconsistent.
    skipped (list[str]): Sockets, pipes, devices and other file systems, which are left out.
    written (bool): False in a dry run.

Side effects:
    Creates one file.

Kind: write

Target: archive

Verify: backup/archive/archive_contents {path: "{{output.path}}", max_bytes: 1000000000000000}
    expect {complete: true, members: "{{output.members}}", total_bytes: "{{output.total_bytes}}",
    ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: the given archive
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a folder without its temporary files
      inputs: {folder: /tmp/site, archive: /tmp/site.tar.gz, exclude: ["*.tmp"], dry_run: false}
      files: {/tmp/site/index.html: hello, /tmp/site/x.tmp: "1"}
      output:
        path: /tmp/site.tar.gz
        members: 2
        total_bytes: 5
        archive_bytes: ...
        sha256: ...
        changed_meanwhile: []
        skipped: []
        written: true
    - title: a dry run
      inputs: {folder: /tmp/site, archive: /tmp/site.tar.gz, dry_run: true}
      files: {/tmp/site/index.html: hello}
      output: {path: /tmp/site.tar.gz, members: 2, total_bytes: 5, archive_bytes: 0, sha256: "",
               changed_meanwhile: [], skipped: [], written: false}
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import secrets
import stat
import tarfile
import time
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast


class _Hashed:
    """A file as it is read: exactly `size` bytes, with their checksum. A short file ends in zeros."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream, self.left, self.digest, self.short = stream, size, hashlib.sha256(), False

    def read(self, size: int) -> bytes:
        wanted = min(size, self.left)
        data = self.stream.read(wanted)
        self.short = self.short or len(data) < wanted
        data += bytes(wanted - len(data))
        self.left -= wanted
        self.digest.update(data)
        return data


def run(
    folder: str, archive: str, exclude: list[str] | None = None, dry_run: bool = False
) -> dict[str, Any]:
    source = Path(folder).absolute()
    if not source.name or not (source.is_dir() or stat.S_ISREG(source.lstat().st_mode)):
        raise ValueError(f"folder {folder!r} is no folder and no file: name what to back up")
    target = Path(archive).absolute()
    if target.is_dir():
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        target /= f"{source.name}-{stamp}.tar.gz"
    if not target.name.endswith((".tar.gz", ".tgz")):
        raise ValueError(f"archive {archive!r} must end with .tar.gz or .tgz: rename it")
    if os.path.lexists(target):
        raise FileExistsError(f"{target} exists: choose another name, archives are not replaced")
    target.parent.resolve(strict=True)
    skipped: list[str] = []
    members = list(_below(source, tuple(exclude or ()), skipped))
    result: dict[str, Any] = {"path": str(target), "members": len(members)} | {
        "total_bytes": sum(i.st_size for _, i in members if stat.S_ISREG(i.st_mode))
    }
    size, digest, changed = 0, "", list[str]()
    if not dry_run:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
        try:
            changed, sums = _write(temporary, source, members)
            _check(temporary, sums)
            digest, size = _sha256(temporary), temporary.stat().st_size
            # A link, unlike a rename, fails if the name was taken meanwhile.
            os.link(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    return (
        result
        | {"archive_bytes": size, "sha256": digest, "changed_meanwhile": changed}
        | {
            "skipped": skipped,
            "written": not dry_run,
        }
    )


def _below(
    source: Path, exclude: tuple[str, ...], skipped: list[str]
) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the members, each folder before what is in it."""
    pending = [source]
    device = source.lstat().st_dev
    while pending:
        path = pending.pop()
        info = path.lstat()
        inside = str(path.relative_to(source))
        if path != source and any(
            fnmatch.fnmatchcase(name, p) for p in exclude for name in (path.name, inside)
        ):
            continue
        kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
        # An overlay shows files, but no folders, as those of other file systems.
        other = stat.S_ISDIR(info.st_mode) and info.st_dev != device
        if other or not any(kind(info.st_mode) for kind in kinds):
            skipped.append(str(path))
            continue
        yield path, info
        if stat.S_ISDIR(info.st_mode):
            pending += sorted(path.iterdir(), reverse=True)


def _write(
    target: Path, source: Path, members: list[tuple[Path, os.stat_result]]
) -> tuple[list[str], dict[str, str]]:
    """Return the files that changed while they were read, and the checksum of each member."""
    changed: list[str] = []
    sums: dict[str, str] = {}
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as raw:
        with tarfile.open(fileobj=raw, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
            for path, seen in members:
                info = archive.gettarinfo(path, str(path.relative_to(source.parent)))
                if not stat.S_ISREG(seen.st_mode):
                    archive.addfile(info)
                    sums[info.name] = info.linkname
                    continue
                with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
                    size = os.fstat(stream.fileno()).st_size
                    # Hard links are stored as files of their own, so that each can be restored.
                    info.type, info.linkname, info.size = tarfile.REGTYPE, "", seen.st_size
                    content = _Hashed(stream, seen.st_size)
                    archive.addfile(info, cast("BinaryIO", content))
                    now = os.fstat(stream.fileno())
                if content.short or size != seen.st_size or now.st_mtime_ns != seen.st_mtime_ns:
                    changed.append(str(path))
                sums[info.name] = content.digest.hexdigest()
        raw.flush()
        os.fsync(raw.fileno())
    return changed, sums


def _check(target: Path, sums: dict[str, str]) -> None:
    """Read the archive to its end. Raise OSError if a member is not what was read."""
    left = dict(sums)
    with tarfile.open(target, "r|gz") as archive:
        for info in archive:
            stream = archive.extractfile(info) if info.isreg() else None
            found = info.linkname
            if stream is not None:
                found = hashlib.file_digest(cast("BufferedReader", stream), "sha256").hexdigest()
            if left.pop(info.name, None) != found:
                raise OSError(f"{info.name} in the archive is not what was read: check the disk")
    if left:
        raise OSError(f"{min(left)} is missing in the archive: check the disk")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
