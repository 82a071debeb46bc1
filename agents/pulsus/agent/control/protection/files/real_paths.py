"""Follow the links of a path, and find the files that a program's name may start.

Symlinks are resolved here for all rules of self-protection.

Effect: looks at names of files, once in one check. Nothing is kept from one check to the next, so
what was linked, made or replaced since counts at once.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from pulsus.agent.control.protection.files.file_looks import FileId, FileLooks, current_looks


def real_path(path: str) -> str:
    """Return `path` as its links lead, or as far as this user may follow them.

    It is what `os.path.realpath` returns. A path without a link and without `..` is read part by
    part, which takes a fifth of the time.
    """
    looks = current_looks()
    known = looks.real_paths.get(path)
    if known is None:
        known = looks.real_paths[path] = _path_without_links(path, looks) or _followed(path)
    return known


def _followed(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # ValueError: no file can have the name
        return os.path.normpath(path)


def _path_without_links(path: str, looks: FileLooks) -> str:
    """Return an absolute path in its usual form, or "" if it has a link or a `..`."""
    if path[:1] != "/":
        return ""
    at, exists = "", True
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part == "..":
            return ""
        at = f"{at}/{part}"
        if not exists:
            continue
        facts = looks.facts(at)
        if facts == "missing":
            exists = False  # nothing below it can be a link
        elif facts == "unknown" or stat.S_ISLNK(facts.st_mode):
            return ""
    return at or "/"


def programs_on_path(name: str) -> Iterator[str]:
    """Yield every file of that name in the folders of PATH, as written.

    A shell starts the first one that it may execute. Which one that is may change until then, so
    all of them count. A file that two folders of PATH have, such as `/bin` and `/usr/bin`, comes
    once.
    """
    seen, looks = set[FileId](), current_looks()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder or '.'}/{name}"
        facts = looks.facts(path)
        if facts == "missing" or facts == "unknown":
            continue
        identity = facts.st_dev, facts.st_ino
        # Where a link leads may depend on its folder.
        if identity not in seen or stat.S_ISLNK(facts.st_mode):
            seen.add(identity)
            yield path
