"""Delete the packages that apt, dnf or apk downloaded and keeps, to free room.

Installed packages stay, and so do the lists of packages. The package manager downloads a package
again if it needs it.

Args:
    manager (str): `auto` for the one of this machine, or `apt`, `dnf` or `apk`.
    root (str): The root folder of the system; another one than / is that of a mounted image.
    dry_run (bool): True deletes nothing and shows the command and the room.

Returns:
    manager (str): The package manager.
    argv (list[str]): The command.
    folders (list[str]): Where the packages are, below the root.
    files (int): How many packages there were.
    freed_bytes (int): How much room their deletion freed, or would free.
    changed (bool): False in a dry run.

Side effects:
    A package cannot be installed again without a download.

Target: manager, root

Kind: write

Verify: system/packages/package_cache {manager: "{{output.manager}}", root: "{{input.root}}"}
    expect {files: 0, ...: ...}

Approval: operator

Owner: operations

Effects:
    paths: /var/cache/apt, /var/cache/dnf, /var/cache/libdnf5, /var/cache/apk, /etc/apk/cache,
        the given root
    hosts: none
    commands: apt-get, dnf, apk

Secrets: none

Examples:
    - title: a package in the image of another machine
      inputs: {manager: apt, root: /tmp/image, dry_run: true}
      files:
        /tmp/image/var/cache/apt/archives/tree_2.1.0-1_amd64.deb: "0123456789"
        /tmp/image/var/cache/apt/archives/lock: ""
      output:
        manager: apt
        argv: [apt-get, -o, Dir=/tmp/image, clean]
        folders: [/var/cache/apt/archives]
        files: 1
        freed_bytes: 10
        changed: false
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

_MANAGERS = {
    "apt": ("apt-get -o Dir={root} clean", ["/var/cache/apt/archives"], "*.deb"),
    "dnf": (
        "dnf --installroot={root} clean packages",
        ["/var/cache/dnf", "/var/cache/libdnf5"],
        "*.rpm",
    ),
    "apk": ("apk --root={root} cache purge", ["/var/cache/apk", "/etc/apk/cache"], "*.apk"),
}
"""By manager: the command, the folders of the packages, and how their files are named."""
_TIMEOUT_S = 300


def run(manager: str = "auto", root: str = "/", dry_run: bool = False) -> dict[str, Any]:
    """Measure the packages, let the manager delete them, and measure again."""
    if manager != "auto" and manager not in _MANAGERS:
        raise ValueError(f"manager {manager!r} is not known: use auto, {', '.join(_MANAGERS)}")
    if not root.startswith("/") or not Path(root, "var/cache").is_dir():
        raise ValueError(f"root {root!r} is no root folder of a system: it has no var/cache")
    if manager == "auto":
        manager = _own_manager()
    command, folders, pattern = _MANAGERS[manager]
    argv = [word.format(root=root) for word in command.split()]
    if root == "/":
        argv = [word for word in argv if not word.endswith("=/") and word != "-o"]
    before = _sizes(root, folders, pattern)
    after: list[int] = []
    if not dry_run:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"{' '.join(argv)} failed with status {done.returncode}: {said}")
        after = _sizes(root, folders, pattern)
    return {
        "manager": manager,
        "argv": argv,
        "folders": folders,
        "files": len(before),
        "freed_bytes": sum(before) - sum(after),
        "changed": not dry_run and len(after) < len(before),
    }


def _own_manager() -> str:
    for name, (command, _, _) in _MANAGERS.items():
        if shutil.which(command.split()[0]):
            return name
    raise ValueError(f"manager 'auto' finds none of {', '.join(_MANAGERS)} on this machine")


def _sizes(root: str, folders: list[str], pattern: str) -> list[int]:
    """Bytes on disk of each package; a name that is a link has none of its own."""
    paths = (path for folder in folders for path in Path(root.rstrip("/") + folder).rglob(pattern))
    return [path.lstat().st_size for path in paths if path.is_file() and not path.is_symlink()]
