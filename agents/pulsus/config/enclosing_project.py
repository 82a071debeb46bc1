"""A project above a folder, whose settings do not hold there. Effect: looks at folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def ignored_enclosing_project(folder: Path) -> Path | None:
    """Return the nearest project above `folder`, where that has no settings of its own, or None.

    Only folders that no other user can write to are looked at, up to the home folder.
    """
    if _has_settings(folder):
        return None
    return next(filter(_has_settings, _trusted_parents(folder)), None)


def _trusted_parents(folder: Path) -> Iterator[Path]:
    for above in folder.parents:
        with suppress(OSError):
            found = above.stat()
            if found.st_uid in {0, os.geteuid()} and not found.st_mode & stat.S_IWOTH:
                yield above
                if above != Path(os.environ.get("HOME", "/")):
                    continue
        return


def _has_settings(folder: Path) -> bool:
    with suppress(OSError):
        if (folder / "config/pulsus.toml").is_file() or (folder / "config/commands").is_dir():
            return True
        project = (folder / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
        return "[tool.pulsus" in project
    return False
