"""Unpack a tar archive into a folder, safely, and keep what it replaces.

First reads the whole archive and refuses it if a member has an absolute path, leaves the folder,
passes through a link, is a device or a pipe, or is a link that points outside. Then unpacks into
a temporary folder and moves the files into place. A file that exists with other content is only
replaced with `overwrite`. The old one is then kept below `.replaced-TIME` in the folder. Files that
are there already with the same content are left alone. As root the files get the owners of the
archive. Set-uid, set-gid and sticky bits are not restored.

Args:
    path (str): The tar archive (plain, gzip, bzip2 or xz).
    folder (str): Where to unpack it. Must exist.
    pattern (str): Only members whose path fits this, for example `etc/*`.
    overwrite (bool): Replace files that exist with other content.
    outside_links (bool): Also create links that point outside the folder. They are never followed.
    dry_run (bool): True changes nothing and reports what would be unpacked.

Returns:
    rows (list[dict[str, Any]]): One a file or link that was, or would be, unpacked: `path`, `bytes`,
        `replaced` (true if one was there).
    restored (int): How many.
    unchanged (int): How many were there already with the same content.
    kept (str): The folder with the replaced files; empty if nothing was replaced.
    dry_run (bool): True if nothing was changed.

Side effects:
    Creates files and folders; with `overwrite` also replaces files.

Kind: write

Target: folder

Verify: backup/archive/compare_archive {path: "{{input.path}}", folder: "{{input.folder}}",
    pattern: "{{input.pattern}}"} expect {ok: true, ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: the given folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: two of three files are missing in the folder
      inputs: {path: /tmp/b.tar.gz, folder: /tmp/site, dry_run: false}
      files:
        /tmp/site/a: "1"
        /tmp/b.tar.gz:
          base64: >
            H4sIAAAAAAAC/+3TwQ2AMAiF4TeKI0ADdJ7qBmr3l5NOUNOk77uQcIHL3zCepDCDaE3xzZdCrYa4ezHJ
            fRQ3bPLDb+jX3c48iTUpaGX7rP07+2f/NNoxa//B/tk/ERGN8gAcxMynABAAAA==
      output:
        rows:
          - {path: /tmp/site/b, bytes: 1, replaced: false}
          - {path: /tmp/site/c, bytes: 1, replaced: false}
        restored: 2
        unchanged: 1
        kept: ""
        dry_run: false
    - title: a dry run
      inputs: {path: /tmp/b.tar.gz, folder: /tmp/site, overwrite: true, dry_run: true}
      files:
        /tmp/site/a: "another text"
        /tmp/b.tar.gz:
          base64: >
            H4sIAAAAAAAC/+3TwQ2AMAiF4TeKI0ADdJ7qBmr3l5NOUNOk77uQcIHL3zCepDCDaE3xzZdCrYa4ezHJ
            fRQ3bPLDb+jX3c48iTUpaGX7rP07+2f/NNoxa//B/tk/ERGN8gAcxMynABAAAA==
      output: {rows: [{path: /tmp/site/a, bytes: 1, replaced: true}, ...], restored: 3,
               unchanged: 0, kept: "", dry_run: true}
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import shutil
import stat
import tarfile
import tempfile
import time
from io import BufferedReader
from pathlib import Path
from typing import Any, cast


def run(
    path: str,
    folder: str,
    pattern: str = "*",
    overwrite: bool = False,
    outside_links: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    base = Path(folder).resolve(strict=True)
    if not base.is_dir():
        raise NotADirectoryError(f"{folder} is no folder: name the folder to unpack into")
    try:
        with tarfile.open(path) as archive:
            members = [m for m in archive if fnmatch.fnmatchcase(m.name, pattern)]
            if not members:
                raise ValueError(f"no member of {path} fits {pattern!r}: list it first")
            links = {str(Path(m.name)) for m in members if m.issym()}
            for member in members:
                _refuse_unsafe(member, base, links, outside_links)
            states = {m.name: _state(archive, m, base / m.name) for m in members if not m.isdir()}
            taken = sorted(name for name, state in states.items() if state == "differs")
            if taken and not overwrite:
                raise FileExistsError(
                    f"{base / taken[0]} exists with other content, and so do {len(taken) - 1} "
                    "more: set overwrite to true to replace them, the old ones are kept"
                )
            kept = "" if dry_run else _unpack(archive, members, states, base)
    except (tarfile.TarError, EOFError) as failure:
        raise ValueError(f"{path} is no whole tar archive: {failure}") from None
    rows = [
        {"path": str(base / m.name), "bytes": m.size, "replaced": states[m.name] == "differs"}
        for m in sorted(members, key=lambda m: m.name)
        if not m.isdir() and states[m.name] != "same"
    ]
    return {"rows": rows, "restored": len(rows), "unchanged": len(states) - len(rows)} | {
        "kept": kept,
        "dry_run": dry_run,
    }


def _refuse_unsafe(m: tarfile.TarInfo, base: Path, links: set[str], outside_links: bool) -> None:
    parts = Path(m.name).parts
    parents = {str(parent) for parent in Path(m.name).parents}
    target = (Path(m.name).parent / m.linkname) if m.issym() else Path(m.linkname)
    inside = os.path.normpath(target).split("/")[0] not in ("..", "")
    present = (base / m.name).parent.resolve()
    if m.name.startswith("/"):
        why = "its path is absolute"
    elif ".." in parts:
        why = "its path leaves the folder"
    elif not (m.isreg() or m.isdir() or m.issym() or m.islnk()):
        why = "it is a device or a pipe"
    elif parents & links or not (present == base or base in present.parents):
        why = "its path passes through a link"
    elif (m.islnk() or (m.issym() and not outside_links)) and not inside:
        why = f"it is a link to {m.linkname}, outside the folder"
    else:
        return
    raise ValueError(f"the archive is refused because of its member {m.name!r}: {why}")


def _state(archive: tarfile.TarFile, member: tarfile.TarInfo, file: Path) -> str:
    """Return `absent`, `same` or `differs`: the file of this name beside the member."""
    stream = None if member.issym() else archive.extractfile(member)
    content = stream and hashlib.file_digest(cast("BufferedReader", stream), "sha256").digest()
    try:
        found = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    if stat.S_ISDIR(found.st_mode):
        raise ValueError(f"{file} is a folder, and a file in the archive: move it away first")
    if stat.S_ISLNK(found.st_mode):
        same = member.issym() and os.readlink(file) == member.linkname
    elif stat.S_ISREG(found.st_mode):
        with file.open("rb") as opened:
            same = hashlib.file_digest(opened, "sha256").digest() == content
    else:
        same = False
    return "same" if same else "differs"


def _unpack(
    archive: tarfile.TarFile, members: list[tarfile.TarInfo], states: dict[str, str], base: Path
) -> str:
    """Move the members into place, and return the folder of the replaced files."""
    kept = base / f".replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    for folder in sorted((m for m in members if m.isdir()), key=lambda m: m.name):
        if not (base / folder.name).exists():
            (base / folder.name).mkdir(parents=True)
            _take_over(base / folder.name, folder)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=base) as room:
        for number, member in enumerate(members):
            if states.get(member.name) not in ("absent", "differs"):
                continue
            target, new = base / member.name, Path(room, str(number))
            _write(archive, member, new)
            target.parent.mkdir(parents=True, exist_ok=True)
            if states[member.name] == "differs":
                old = kept / member.name
                old.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                target.rename(old)
            new.rename(target)
    return str(kept) if kept.exists() else ""


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, new: Path) -> None:
    if member.issym():
        new.symlink_to(member.linkname)
    else:
        stream = archive.extractfile(member)
        assert stream is not None
        with new.open("xb") as target:
            shutil.copyfileobj(stream, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        _take_over(new, member)


def _take_over(path: Path, member: tarfile.TarInfo) -> None:
    """Give the file owner (as root), mode and time of the member."""
    if os.geteuid() == 0:
        os.chown(path, member.uid, member.gid)
    path.chmod(member.mode & 0o777)
    os.utime(path, (member.mtime, member.mtime))
