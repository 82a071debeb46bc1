"""Find the project of a folder: itself, or one above it. Effect: looks at folders.

A folder above the current one can be another user's, or one that everybody writes to, such as
`/tmp`. So the search stays inside the git work tree of the folder, and inside folders that only
this user writes to. If values of the project's files count is decided in
`bootstrap/project_trust.py`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def find_project(folder: Path) -> Path:
    """Return `folder`, or the nearest project above it in its git work tree.

    Every folder from `folder` to the root of the work tree must belong to this user, be on the same
    file system, and not be writable by every user. Otherwise, and without a work tree or a project,
    the result is `folder`. `folder` is absolute, without links.
    """
    if _is_project(folder) or _is_work_tree(folder):
        return folder
    found = folder
    for above in _own_parents(folder):
        if found == folder and _is_project(above):
            found = above
        if _is_work_tree(above):
            return found
    return folder


def ignored_enclosing_project(folder: Path) -> Path | None:
    """Return the nearest project above `folder`, where that has no settings of its own, or None.

    Only folders that no other user can write to are looked at, up to the home folder.
    """
    if _has_settings(folder):
        return None
    return next(filter(_has_settings, _trusted_parents(folder)), None)


def _own_parents(folder: Path) -> Iterator[Path]:
    """Yield the folders above, as long as they are this user's and on the same file system."""
    with suppress(OSError):
        start = folder.stat()
        if not _is_own(start):
            return
        for above in folder.parents:
            found = above.stat()
            if not _is_own(found) or found.st_dev != start.st_dev:
                return
            yield above


def _is_own(folder: os.stat_result) -> bool:
    """Return True if the folder is this user's, and not every user can write to it."""
    return folder.st_uid == os.geteuid() and not folder.st_mode & stat.S_IWOTH


def _trusted_parents(folder: Path) -> Iterator[Path]:
    for above in folder.parents:
        with suppress(OSError):
            found = above.stat()
            if found.st_uid in {0, os.geteuid()} and not found.st_mode & stat.S_IWOTH:
                yield above
                if above != Path(os.environ.get("HOME", "/")):
                    continue
        return


def _is_work_tree(folder: Path) -> bool:
    """Return True for the root of a git work tree: it has a `.git` of this user, and no link.

    In a submodule and in a linked work tree `.git` is a file.
    """
    with suppress(OSError):
        found = (folder / ".git").lstat()
        regular = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        return regular and found.st_uid == os.geteuid()
    return False


def _is_project(folder: Path) -> bool:
    workflows = folder / "workflows"
    with suppress(OSError):
        if (workflows / "domains").is_dir() or (workflows / "shared_tools").is_dir():
            return True
    return _has_settings(folder)


def _has_settings(folder: Path) -> bool:
    with suppress(OSError):
        if (folder / "config/pulsus.toml").is_file() or (folder / "config/commands").is_dir():
            return True
        project = (folder / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
        return "[tool.pulsus" in project
    return False
