"""Measure the downloaded packages that apt, dnf or apk keeps on this machine.

Args:
    manager (str): `auto` for the one of this machine, or `apt`, `dnf` or `apk`.
    root (str): The root folder of the system; another one than / is that of a mounted image.

Returns:
    manager (str): The package manager.
    folders (list[str]): Where its packages are, below the root.
    files (int): How many packages there are.
    bytes (int): How much room they take.
    rows (list[dict[str, Any]]): The packages, largest first: `path`, `bytes`.

Side effects:
    none

Kind: read

Owner: operations

Effects:
    paths: /var/cache/apt, /var/cache/dnf, /var/cache/libdnf5, /var/cache/apk, /etc/apk/cache,
        the given root
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: two packages in the image of another machine
      inputs: {manager: dnf, root: /tmp/image}
      files:
        /tmp/image/var/cache/dnf/updates-1/packages/tree-2.1.rpm: "0123456789"
        /tmp/image/var/cache/dnf/updates-1/packages/bash-5.2.rpm: "0123456789abcdef"
        /tmp/image/var/cache/dnf/updates-1/repodata/primary.xml: "not a package"
      output:
        manager: dnf
        folders: [/var/cache/dnf, /var/cache/libdnf5]
        files: 2
        bytes: 26
        rows:
          - {path: /tmp/image/var/cache/dnf/updates-1/packages/bash-5.2.rpm, bytes: 16}
          - {path: /tmp/image/var/cache/dnf/updates-1/packages/tree-2.1.rpm, bytes: 10}
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

_MANAGERS = {
    "apt": ("apt-get", ["/var/cache/apt/archives"], "*.deb"),
    "dnf": ("dnf", ["/var/cache/dnf", "/var/cache/libdnf5"], "*.rpm"),
    "apk": ("apk", ["/var/cache/apk", "/etc/apk/cache"], "*.apk"),
}
"""By manager: its program, the folders of its packages, and how their files are named."""


def run(manager: str = "auto", root: str = "/") -> dict[str, Any]:
    """Look for the files of packages; the lists of packages are not counted."""
    if manager != "auto" and manager not in _MANAGERS:
        raise ValueError(f"manager {manager!r} is not known: use auto, {', '.join(_MANAGERS)}")
    if not root.startswith("/") or not Path(root, "var/cache").is_dir():
        raise ValueError(f"root {root!r} is no root folder of a system: it has no var/cache")
    if manager == "auto":
        found = (name for name, (program, _, _) in _MANAGERS.items() if shutil.which(program))
        manager = next(found, "")
        if not manager:
            raise ValueError(f"manager 'auto' finds none of {', '.join(_MANAGERS)} here")
    _, folders, pattern = _MANAGERS[manager]
    paths = [
        path
        for folder in folders
        for path in Path(root.rstrip("/") + folder).rglob(pattern)
        if path.is_file() and not path.is_symlink()
    ]
    sizes = sorted((-path.lstat().st_size, str(path)) for path in paths)
    rows = [{"path": path, "bytes": -size} for size, path in sizes]
    return {
        "manager": manager,
        "folders": folders,
        "files": len(rows),
        "bytes": -sum(size for size, _ in sizes),
        "rows": rows,
    }
