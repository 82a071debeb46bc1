"""Follow the links of a path, and find the files that a program's name may start.

Effect: looks at names of files. Nothing is kept from one look to the next, so what was linked,
made or replaced since counts at once.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator


def real_path(path: str) -> str:
    """Return `path` as its links lead, or as far as this user may follow them.

    It is what `os.path.realpath` returns. A path without a link and without `..` is read part by
    part, which takes a fifth of the time.
    """
    plain = _path_without_links(path)
    if plain is not None:
        return plain
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # ValueError: no file can have the name
        return os.path.normpath(path)


def _path_without_links(path: str) -> str | None:
    """Return an absolute path in its usual form, or None if it has a link or a `..`."""
    if path[:1] != "/":
        return None
    at, exists = "", True
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part == "..":
            return None
        at = f"{at}/{part}"
        if not exists:
            continue
        try:
            status = os.lstat(at)
        except FileNotFoundError:
            exists = False  # nothing below it can be a link
        except (OSError, ValueError):
            return None
        else:
            if stat.S_ISLNK(status.st_mode):
                return None
    return at or "/"


def programs_on_path(name: str) -> Iterator[str]:
    """Yield every file of that name in the folders of PATH, as written.

    A shell starts the first one that it may execute. Which one that is may change until then, so
    all of them count. A file that two folders of PATH have, such as `/bin` and `/usr/bin`, comes
    once.
    """
    seen = set[tuple[int, int]]()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder or '.'}/{name}"
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            continue
        identity = status.st_dev, status.st_ino
        # Where a link leads may depend on its folder.
        if identity not in seen or stat.S_ISLNK(status.st_mode):
            seen.add(identity)
            yield path
