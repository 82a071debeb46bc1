"""Manages mypy's cache of libraries. Effect: makes and removes files below one folder.

When this cache is stale is decided here; the cache of verdicts is
`core/validators/verdict_cache.py`. Each mypy, Python, set of flags and set of installed stubs has
its own folder, so that none undoes another's work. mypy replaces its files whole, so several runs
may share them. The cache holds nothing about candidates.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

NOWHERE = Path(os.devnull)
_KEPT = 3  # folders of other versions or flags


def prepare_cache(cache_dir: Path | None, packages: Path, settings: str) -> Path:
    """Make and return the folder to use, or `NOWHERE`. `settings` are the settings.

    `packages` is the folder that mypy is installed in.
    """
    if cache_dir is None:
        return NOWHERE
    key = hashlib.sha256(
        f"{sys.version}\n{_list_versions(packages)}\n{settings}".encode()
    ).hexdigest()
    folder = cache_dir / key[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return NOWHERE
    if not os.access(folder, os.W_OK | os.X_OK):
        return NOWHERE
    _prune_folders(cache_dir, folder)
    return folder.resolve()


def remove_entries(cache: Path, stems: Collection[str] | None = None) -> None:
    """Remove the entries of the modules of those names, or all entries without names."""
    if cache == NOWHERE:
        return
    if stems is None:
        shutil.rmtree(cache, ignore_errors=True)
        return
    with suppress(OSError):
        for folder in cache.iterdir():
            if folder.is_dir():
                _remove_stems(folder, stems)


def _remove_stems(folder: Path, stems: Collection[str]) -> None:
    for name in os.listdir(folder):  # noqa: PTH208 - thousands of names, and no use for paths
        if name.partition(".")[0] in stems:
            with suppress(FileNotFoundError):
                (folder / name).unlink()


def _list_versions(packages: Path) -> str:
    names = os.listdir(packages)  # noqa: PTH208
    return "\n".join(sorted(n for n in names if n.endswith(".dist-info") and _is_type_package(n)))


def _is_type_package(name: str) -> bool:
    return name.startswith(("mypy-", "types_")) or "_stubs-" in name


def _prune_folders(cache_dir: Path, used: Path) -> None:
    """Remove the folders that were not used for longest."""
    with suppress(OSError):
        others = [p for p in cache_dir.iterdir() if p.is_dir() and p != used]
        others.sort(key=lambda p: p.stat().st_mtime)
        for old in others[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
