"""Check whether files still match a list of checksums, such as SHA256SUMS.

Reads the lists that `sha256sum`, `md5sum` and their kin write, in the plain form
(`digest  name`), the binary form (`digest *name`) and the BSD form (`SHA256 (name) = digest`).
The algorithm follows from the length of the digest. Names are taken relative to the list's
folder unless another one is given; names that lead out of that folder are refused, not read.

Args:
    path (str): The list of checksums.
    folder (str): Where the files lie; the list's own folder when empty.
    allow_outside (bool): Also check absolute names and names with `..`.

Returns:
    rows (list[dict[str, Any]]): One a listed file: `name`, `status` (`ok`, `changed`, `missing`,
        `unreadable`, `refused`), `algorithm`, `detail`; those that are not ok come first.
    ok (bool): Whether every listed file matches and every line was understood.
    counts (dict[str, int]): Files of each status.
    malformed (list[int]): Numbers of lines that are no checksum line.

Side effects:
    none

Kind: read

Effects:
    paths: the given list, the files it names
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/rel/MD5SUMS}
      files:
        /tmp/rel/a.txt: hello
        /tmp/rel/b.txt: changed
        /tmp/rel/MD5SUMS: |
          5d41402abc4b2a76b9719d911017c592  a.txt
          5d41402abc4b2a76b9719d911017c592 *b.txt
          MD5 (c.txt) = 5d41402abc4b2a76b9719d911017c592
          oops
      output:
        rows:
          - {name: b.txt, status: changed, algorithm: md5,
             detail: the file has 8977dfac2f8e04cb96e66882235f5aba}
          - {name: c.txt, status: missing, algorithm: md5, detail: No such file or directory}
          - {name: a.txt, status: ok, algorithm: md5, detail: ""}
        ok: false
        counts: {ok: 1, changed: 1, missing: 1, unreadable: 0, refused: 0}
        malformed: [4]
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

_PLAIN = re.compile(r"(\\?)([0-9a-fA-F]{32,128}) [ *](.+)")
_BSD = re.compile(r"(\\?)([A-Za-z0-9-]+) ?\((.+)\) = ([0-9a-fA-F]{32,128})")
_BY_LENGTH = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}
_STATUSES = ("ok", "changed", "missing", "unreadable", "refused")
_ORDER = ("changed", "missing", "unreadable", "refused", "ok")
_CHUNK = 1 << 20


def run(path: str, folder: str = "", allow_outside: bool = False) -> dict[str, Any]:
    base = (Path(folder) if folder else Path(path).parent).resolve(strict=True)
    if not base.is_dir():
        raise ValueError(f"folder {folder!r} is not a folder: name the one with the files")
    rows: list[dict[str, Any]] = []
    malformed: list[int] = []
    with Path(path).open(encoding="utf-8", errors="surrogateescape") as stream:
        for number, raw in enumerate(stream, 1):
            line = raw.rstrip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            entry = _entry(line)
            if entry is None:
                malformed.append(number)
                continue
            rows.append(_check(base, *entry, allow_outside))
    if not rows and not malformed:
        raise ValueError(f"{path} lists no checksum: give a file such as SHA256SUMS")
    counts = {status: sum(row["status"] == status for row in rows) for status in _STATUSES}
    rows.sort(key=lambda row: (_ORDER.index(row["status"]), row["name"]))
    return {
        "rows": rows,
        "ok": counts["ok"] == len(rows) and not malformed,
        "counts": counts,
        "malformed": malformed,
    }


def _entry(line: str) -> tuple[str, str, str] | None:
    """Name, algorithm and digest of a line."""
    if found := _PLAIN.fullmatch(line):
        escaped, digest, name = found.groups()
        algorithm = _BY_LENGTH.get(len(digest), "")
    elif found := _BSD.fullmatch(line):
        escaped, kind, name, digest = found.groups()
        algorithm = kind.lower().replace("-", "")
        if algorithm not in ("blake2b", *_BY_LENGTH.values()):
            return None
    else:
        return None
    if not algorithm or len(digest) != hashlib.new(algorithm).digest_size * 2:
        return None
    if escaped:  # coreutils writes a leading backslash where the name holds \\ or \n
        name = re.sub(r"\\(.)", lambda mark: {"n": "\n", "r": "\r"}.get(mark[1], mark[1]), name)
    return name, algorithm, digest.lower()


def _check(
    base: Path, name: str, algorithm: str, digest: str, allow_outside: bool
) -> dict[str, Any]:
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    row = {"name": shown, "status": "ok", "algorithm": algorithm, "detail": ""}
    file = base / name
    if not allow_outside and not file.resolve().is_relative_to(base):
        detail = "the name leads out of the folder: set allow_outside to check it"
        return row | {"status": "refused", "detail": detail}
    found = hashlib.new(algorithm, usedforsecurity=False)
    try:
        if file.exists() and not file.is_file():
            return row | {"status": "unreadable", "detail": "not a regular file"}
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                found.update(chunk)
    except FileNotFoundError as error:
        return row | {"status": "missing", "detail": error.strerror}
    except OSError as error:
        return row | {"status": "unreadable", "detail": error.strerror or str(error)}
    if found.hexdigest() != digest:
        return row | {"status": "changed", "detail": f"the file has {found.hexdigest()}"}
    return row
