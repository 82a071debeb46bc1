"""Put a configuration file back to a backup of it, and keep the present one as a new backup.

The backup has to be in the folder of the file, as `set_config_line` makes it. The file takes
content, mode and owner of the backup in one step. If both are equal, nothing is done. To go back,
restore the new backup.

Args:
    path (str): The configuration file. A link is followed.
    backup (str): The backup to restore; nothing is done when empty.
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    path (str): The file that was restored, without links.
    sha256 (str): Checksum of the file after the run.
    changed (bool): False if nothing was, or would be, done.
    backup (str): The copy of the replaced file beside it; empty if nothing was changed.

Side effects:
    Replaces the file and creates a backup beside it.

Kind: write

Target: path

Verify: shared/hash/hash_file {path: "{{output.path}}", expected: "{{output.sha256}}"}
    expect {matches: true, ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: the given path
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/app.ini, backup: /tmp/app.ini.1.bak, dry_run: false}
      files: {/tmp/app.ini: "a = 2", /tmp/app.ini.1.bak: "a = 1"}
      output:
        path: /tmp/app.ini
        sha256: b5bc1ffd90912fb18bef6e7d80909192c7a6492896320156d67fbaf104c6544a
        changed: true
        backup: ...
    - title: nothing to do
      inputs: {path: /tmp/app.ini, backup: "", dry_run: true}
      files: {/tmp/app.ini: "a = 1"}
      output: {path: /tmp/app.ini, sha256: ..., changed: false, backup: ""}
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import time
from pathlib import Path
from typing import Any


def run(path: str, backup: str, dry_run: bool = False) -> dict[str, Any]:
    file = Path(path).resolve(strict=True)
    present = file.read_bytes()
    content, source = present, file
    if backup:
        source = Path(backup)
        if source.parent.resolve() != file.parent or source.name == file.name:
            raise ValueError(f"backup {backup!r} is not beside {file}: name a backup in its folder")
        if not stat.S_ISREG(source.lstat().st_mode):
            raise ValueError(f"backup {backup!r} is no regular file: name the copy of the file")
        content = source.read_bytes()
    changed = content != present
    kept = ""
    if changed and not dry_run:
        kept = _replace(file, content, source.stat())
    after = content if not dry_run else present
    return {"path": str(file), "sha256": hashlib.sha256(after).hexdigest()} | {
        "changed": changed,
        "backup": kept,
    }


def _replace(file: Path, content: bytes, like: os.stat_result) -> str:
    """Write the file in one step, and return the backup of the replaced one."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    backup = file.with_name(f"{file.name}.{stamp}-{secrets.token_hex(2)}.bak")
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(6)}.tmp")
    try:
        _write(backup, file.read_bytes(), file.stat())
        _write(temporary, content, like)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    return str(backup)


def _write(target: Path, content: bytes, like: os.stat_result) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, like.st_mode & 0o7777)
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)
