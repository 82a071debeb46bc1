"""List what is inside a tar or zip archive and check that it can be read to its end.

Opens tar (plain, gzip, bzip2, xz), zip, and single gzip, bzip2 or xz files by their content, not
their name. Every byte is decompressed and checked in memory, piece by piece; nothing is ever
written to disk. Names that would land outside the target folder when extracted are flagged.
Reading stops at a limit, so that a decompression bomb does no harm.

Args:
    path (str): The archive.
    limit (int): How many members to list, at least 1. All of them are still read.
    max_bytes (int): How many decompressed bytes to read at most.

Returns:
    rows (list[dict[str, Any]]): The first members: `name`, `type` (file, folder, link, other),
        `bytes`, `flags` (`absolute`, `parent`, `link_outside`, `device`, `encrypted`, `control`).
    format (str): For example `zip`, `tar`, `tar.gz`, `gz`.
    complete (bool): Whether the archive could be read to its end without damage.
    error (str | None): Why not.
    members (int): How many members were read.
    total_bytes (int): Their size, decompressed.
    archive_bytes (int): Size of the archive file.
    unsafe (list[str]): Names that are dangerous to extract.

Side effects:
    none

Kind: read

Effects:
    paths: the given archive
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a zip file with a member that escapes
      inputs: {path: /tmp/a.zip}
      files:
        /tmp/a.zip:
          base64: >
            UEsDBBQAAAAAAAAAIQCGphA2BQAAAAUAAAAFAAAAYS50eHRoZWxsb1BLAwQUAAAAAAAAACEAAAAAAAAAAAAA
            AAAABAAAAC4uL3hQSwECFAMUAAAAAAAAACEAhqYQNgUAAAAFAAAABQAAAAAAAAAAAAAAgAEAAAAAYS50eHRQ
            SwECFAMUAAAAAAAAACEAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAgAEoAAAALi4veFBLBQYAAAAAAgACAGUA
            AABKAAAAAAA=
      output:
        rows:
          - {name: a.txt, type: file, bytes: 5, flags: []}
          - {name: ../x, type: file, bytes: 0, flags: [parent]}
        format: zip
        complete: true
        error: null
        members: 2
        total_bytes: 5
        archive_bytes: 197
        unsafe: [../x]
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

_CHUNK = 1 << 20
_DAMAGE = (EOFError, OSError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error)
Member = tuple[str, str, int, list[str]]


class _TooLarge(Exception):
    pass


class _Counted:
    """A stream that stops at a number of bytes."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self.stream, self.left, self.seen = stream, limit, 0

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(_CHUNK if size < 0 else min(size, _CHUNK))
        self.left -= len(data)
        self.seen += len(data)
        if self.left < 0:
            raise _TooLarge
        return data


def run(path: str, limit: int = 1000, max_bytes: int = 4_294_967_296) -> dict[str, Any]:
    if limit < 1 or max_bytes < 1:
        raise ValueError(f"limit {limit} and max_bytes {max_bytes}: give at least 1 for both")
    size = Path(path).stat().st_size
    rows: list[dict[str, Any]] = []
    unsafe: list[str] = []
    members = total = 0
    error = None
    with Path(path).open("rb") as stream:
        kind = _kind(stream)
        try:
            for name, sort, length, flags in _members(stream, kind, Path(path).stem, max_bytes):
                members += 1
                total += length
                if flags and flags != ["encrypted"]:
                    unsafe.append(name)
                if len(rows) < limit:
                    rows.append({"name": name, "type": sort, "bytes": length, "flags": flags})
        except _TooLarge:
            error = f"stopped after {max_bytes} decompressed bytes: raise max_bytes to read on"
        except (*_DAMAGE, NotImplementedError, RuntimeError) as damage:
            error = f"damaged or unreadable after {members} members: {damage}"
    if error is None and any("encrypted" in row["flags"] for row in rows):
        error = "encrypted members could not be checked"
    return {"rows": rows, "format": kind, "complete": error is None, "error": error} | {
        "members": members,
        "total_bytes": total,
        "archive_bytes": size,
        "unsafe": unsafe,
    }


def _kind(stream: BinaryIO) -> str:
    head = stream.read(6)
    stream.seek(0)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06") or zipfile.is_zipfile(stream):
        return "zip"
    stream.seek(0)
    marks = ((b"\x1f\x8b", "gz"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"))
    packed = next((name for mark, name in marks if head.startswith(mark)), "")
    try:
        start = _unpacked(stream, packed).read(512)
    except _DAMAGE:
        start = b""
    stream.seek(0)
    if start[257:262] == b"ustar":
        return f"tar.{packed}" if packed else "tar"
    if not packed:
        raise ValueError("the file is no tar, zip, gzip, bzip2 or xz archive: check its type")
    return packed


def _unpacked(stream: BinaryIO, packed: str) -> BinaryIO:
    match packed:
        case "gz":
            return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
        case "bz2":
            return cast(BinaryIO, bz2.BZ2File(stream))
        case "xz":
            return cast(BinaryIO, lzma.LZMAFile(stream))
        case _:
            return stream


def _members(stream: BinaryIO, kind: str, stem: str, max_bytes: int) -> Iterator[Member]:
    if kind == "zip":
        yield from _zip(stream, max_bytes)
        return
    counted = _Counted(_unpacked(stream, kind.rpartition(".")[2]), max_bytes)
    if kind.startswith("tar"):
        yield from _tar(counted)
    while counted.read():  # to the end: the checksum of the compression comes last
        pass
    if not kind.startswith("tar"):
        yield stem, "file", counted.seen, []


def _tar(counted: _Counted) -> Iterator[Member]:
    with tarfile.open(fileobj=cast(BinaryIO, counted), mode="r|") as archive:
        for info in archive:
            flags = _flags(info.name)
            if info.issym() or info.islnk():
                base = "" if info.islnk() else posixpath.dirname(info.name)
                if _flags(posixpath.normpath(posixpath.join(base, info.linkname))):
                    flags.append("link_outside")
            if info.isdev():
                flags.append("device")
            sort = "file" if info.isfile() else "folder" if info.isdir() else "other"
            yield info.name, "link" if info.issym() or info.islnk() else sort, info.size, flags


def _zip(stream: BinaryIO, max_bytes: int) -> Iterator[Member]:
    left = max_bytes
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            flags = _flags(info.filename)
            length = info.file_size
            if info.flag_bits & 1:
                flags.append("encrypted")
            elif not info.is_dir():
                with archive.open(info) as member:
                    counted = _Counted(cast(BinaryIO, member), left)
                    while counted.read():
                        pass
                length, left = counted.seen, counted.left
            link = info.external_attr >> 28 == 0xA
            yield info.filename, "link" if link else _sort(info), length, flags


def _sort(info: zipfile.ZipInfo) -> str:
    return "folder" if info.is_dir() else "file"


def _flags(name: str) -> list[str]:
    plain = name.replace("\\", "/")
    found = {
        "absolute": plain.startswith("/") or plain[1:3] == ":/",
        "parent": ".." in plain.split("/"),
        "control": any(ord(mark) < 32 or ord(mark) == 127 for mark in name),
    }
    return [flag for flag, present in found.items() if present]
