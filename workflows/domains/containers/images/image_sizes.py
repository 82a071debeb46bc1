"""List container images of docker or podman, largest first, and the room that they take.

Asks the engine on this machine, or reads what `docker images --format json` or `podman images
--format json` printed. Images share layers, so the sum can be more than the room on disk.

Args:
    engine (str): `auto`, `docker` or `podman`.
    name (str): Only images whose name contains this text.
    limit (int): How many images to return, at least 1.
    path (str): A saved listing to read instead.

Returns:
    rows (list[dict[str, Any]]): One an image: `image`, `id`, `bytes`, `created`; largest first.
    total (int): How many images there are.
    bytes (int): Sum of their sizes.
    untagged (int): How many have no name.

Side effects:
    none

Kind: read

Owner: platform

Effects:
    paths: the given path
    hosts: none
    commands: docker images, podman images

Secrets: none

Examples:
    - title: what docker printed, a line each
      inputs: {path: /tmp/images.json, limit: 1}
      files:
        /tmp/images.json: |
          {"Repository":"alpine","Tag":"3.20","ID":"aaaaaaaaaaaa","Size":"7.8MB"}
          {"Repository":"<none>","ID":"bbbbbbbbbbbb","Size":"1.05GB","CreatedSince":"2 days ago"}
      output:
        rows: [{image: "<none>", id: bbbbbbbbbbbb, bytes: 1050000000, created: 2 days ago}]
        total: 2
        bytes: 1057800000
        untagged: 1
    - title: what podman printed
      inputs: {path: /tmp/images.json}
      files:
        /tmp/images.json: |
          [{"Id": "cccccccccccccccc", "Names": ["docker.io/library/nginx:1.27"], "Size": 192000000,
            "CreatedAt": "2024-05-01T10:00:00Z"}]
      output:
        rows: [{image: "docker.io/library/nginx:1.27", id: cccccccccccc, bytes: 192000000,
                created: "2024-05-01T10:00:00Z"}]
        ...: ...
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

_ENGINES = ("docker", "podman")
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_NONE = "<none>"
_TIMEOUT_S = 60


def run(engine: str = "auto", name: str = "", limit: int = 20, path: str = "") -> dict[str, Any]:
    if engine not in ("auto", *_ENGINES):
        raise ValueError(f"engine {engine!r} is not known: use auto, docker or podman")
    if limit < 1:
        raise ValueError(f"limit {limit} asks for no image: give 1 or more")
    text = Path(path).read_text(encoding="utf-8-sig") if path else _listing(engine)
    try:
        items = json.loads(text) if text.lstrip().startswith("[") else _lines(text)
        rows = [_row(item) for item in items]
    except (ValueError, AttributeError, TypeError) as error:
        source = path or engine
        raise ValueError(
            f"{source} gives no list of images ({error}): save `docker images --format json`"
        ) from None
    rows = [row for row in rows if name.casefold() in row["image"].casefold()]
    rows.sort(key=lambda row: (-row["bytes"], row["image"], row["id"]))
    return {
        "rows": rows[:limit],
        "total": len(rows),
        "bytes": sum(row["bytes"] for row in rows),
        "untagged": sum(row["image"] == _NONE for row in rows),
    }


def _listing(engine: str) -> str:
    if engine == "auto":
        engine = next((each for each in _ENGINES if shutil.which(each)), "")
        if not engine:
            raise ValueError("engine 'auto' finds neither docker nor podman: give a saved listing")
    argv = [engine, "images", "--format", "json"]
    done = subprocess.run(
        argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"{' '.join(argv)} failed with status {done.returncode}: {said}")
    return done.stdout.decode("utf-8", "replace")


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _row(item: dict[str, Any]) -> dict[str, Any]:
    fields = {key.lower(): value for key, value in item.items()}
    names = fields.get("names") or []
    named = fields.get("repository", _NONE) != _NONE
    image = f"{fields['repository']}:{fields.get('tag')}" if named else _NONE
    return {
        "image": str(names[0]) if names else image,
        "id": str(fields.get("id", "")).removeprefix("sha256:")[:12],
        "bytes": _bytes(fields.get("size", 0)),
        "created": str(fields.get("createdsince") or fields.get("createdat") or ""),
    }


def _bytes(size: Any) -> int:
    if isinstance(size, int):
        return size
    match = re.fullmatch(r"([\d.]+) ?([kMGT]?B)", str(size).strip())
    if match is None:
        raise ValueError(f"size {size!r} is not understood")
    return round(float(match[1]) * _UNITS[match[2].lower()])
