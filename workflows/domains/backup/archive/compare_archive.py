"""Compare the members of a tar archive with the files of a folder, by their SHA-256.

Reads the archive to its end and the files on the disk, and lists every member that is missing there
or differs: content, type, or target of a link. Modes, owners and times are not compared. Files of
the folder that are not in the archive do not count. Nothing is written.

Args:
    path (str): The tar archive (plain, gzip, bzip2 or xz).
    folder (str): The folder into which the archive was, or would be, unpacked.
    pattern (str): Only members whose path fits this, for example `etc/*`.
    limit (int): How many differences to list, at least 1. All are counted.

Returns:
    rows (list[dict[str, Any]]): One a difference: `member`, `difference` (`missing`, `type`,
        `content`, `link`, `outside`).
    differences (int): How many members differ.
    compared (int): How many members were compared.
    ok (bool): True if at least one member was compared and none differs.

Side effects:
    none

Kind: read

Effects:
    paths: the given archive and folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: one file is as in the archive, one differs, one is gone
      inputs: {path: /tmp/b.tar.gz, folder: /tmp/site}
      files:
        /tmp/site/a: "1"
        /tmp/site/b: "x"
        /tmp/b.tar.gz:
          base64: >
            H4sIAAAAAAAC/+3TwQ2AMAiF4TeKI0ADdJ7qBmr3l5NOUNOk77uQcIHL3zCepDCDaE3xzZdCrYa4ezHJ
            fRQ3bPLDb+jX3c48iTUpaGX7rP07+2f/NNoxa//B/tk/ERGN8gAcxMynABAAAA==
      output:
        rows: [{member: b, difference: content}, {member: c, difference: missing}]
        differences: 2
        compared: 3
        ok: false
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import stat
import tarfile
from io import BufferedReader
from pathlib import Path
from typing import Any, cast


def run(path: str, folder: str, pattern: str = "*", limit: int = 1000) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    base = Path(folder).resolve(strict=True)
    rows: list[dict[str, str]] = []
    compared = 0
    try:
        with tarfile.open(path, "r|*") as archive:
            for info in archive:
                if not fnmatch.fnmatchcase(info.name, pattern):
                    continue
                compared += 1
                if difference := _difference(archive, info, base):
                    rows.append({"member": info.name, "difference": difference})
    except (tarfile.TarError, EOFError) as failure:
        raise ValueError(f"{path} is no whole tar archive: {failure}") from None
    return {"rows": rows[:limit], "differences": len(rows), "compared": compared} | {
        "ok": compared > 0 and not rows
    }


def _difference(archive: tarfile.TarFile, info: tarfile.TarInfo, base: Path) -> str:
    """Return how the member differs from the file of its name; empty if it does not."""
    file = base / info.name
    parent = file.parent.resolve()
    if ".." in Path(info.name).parts or not (parent == base or base in parent.parents):
        return "outside"
    try:
        found = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    if info.issym():
        same = stat.S_ISLNK(found.st_mode) and os.readlink(file) == info.linkname
        return "" if same else "link"
    if info.isdir():
        return "" if stat.S_ISDIR(found.st_mode) else "type"
    if info.islnk():
        other = base / info.linkname
        return "" if other.exists() and _sha256(other) == _sha256(file) else "content"
    stream = archive.extractfile(info) if info.isreg() else None
    if stream is None or not stat.S_ISREG(found.st_mode):
        return "type"
    kept = hashlib.file_digest(cast("BufferedReader", stream), "sha256").hexdigest()
    return "" if found.st_size == info.size and kept == _sha256(file) else "content"


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
