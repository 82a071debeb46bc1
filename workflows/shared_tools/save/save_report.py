"""Write a text, Markdown or any other report to a file.

The file appears whole or not at all: the text goes to a temporary file in the same folder, which
then takes the name. An existing file is only replaced when `overwrite` is set, and keeps its
permissions. A value that is no text (rows, a summary) is written as indented JSON.
A dry run says what would be written and leaves the disk alone.

Args:
    markdown (str | list[dict[str, Any]] | dict[str, Any]): The report: text, or a value for JSON.
    path (str): The file to write. Its folder must exist.
    dry_run (bool): True changes nothing and reports what would happen.
    overwrite (bool): Replace the file if it exists.

Returns:
    path (str): The absolute path of the report.
    bytes (int): Its size in UTF-8.
    sha256 (str): Checksum of what was, or would be, written.
    existed (bool): Whether a file was there before.
    written (bool): False in a dry run.

Side effects:
    Creates or replaces one file.

Kind: write

Effects:
    paths: the given path
    hosts: none
    commands: none

Secrets: none

Target: path
Verify: shared/hash/hash_file {path: "{{output.path}}", expected: "{{output.sha256}}"}
    expect {bytes: "{{output.bytes}}", matches: true, ...: ...}

Examples:
    - title: a real write into an existing folder
      inputs: {markdown: "hello", path: /tmp/report.md, dry_run: false}
      output:
        path: /tmp/report.md
        bytes: 5
        sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
        existed: false
        written: true
    - title: a dry run only says what would happen
      inputs: {markdown: "hello", path: /tmp/report.md, dry_run: true}
      output: {path: /tmp/report.md, bytes: 5, sha256: ..., existed: false, written: false}
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any


def run(
    markdown: str | list[dict[str, Any]] | dict[str, Any],
    path: str,
    dry_run: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    if isinstance(markdown, str):
        text = markdown
    else:
        text = json.dumps(markdown, ensure_ascii=False, indent=2) + "\n"
    content = text.encode("utf-8")
    target = Path(path).expanduser().absolute()
    folder = target.parent.resolve(strict=True)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder: choose another path")
    if target.is_dir():
        raise ValueError(f"path {path!r} is a folder: name a file inside it")
    existed = target.exists() or target.is_symlink()
    if existed and not overwrite:
        raise FileExistsError(f"{target} exists: choose another path or set overwrite to true")
    if not dry_run:
        _write(target, content, existed)
    return {
        "path": str(target),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "existed": existed,
        "written": not dry_run,
    }


def _write(target: Path, content: bytes, existed: bool) -> None:
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if existed:
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        else:
            # A link, unlike a rename, fails when somebody else created the file meanwhile.
            os.link(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
