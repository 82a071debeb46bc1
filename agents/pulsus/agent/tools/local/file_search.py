"""Find files below a folder, and its largest parts, in limits of time and number.

A search ends after 8 seconds or 500,000 entries.

Effect: lists folders. Links are not followed; file systems of the kernel are left out.
"""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pulsus.agent.tools.local.readable_files import require_readable
from pulsus.commands.risk.secret_paths import is_secret
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_MOST_ENTRIES: Final = 500_000
_SECONDS: Final = 8.0
_KERNEL: Final = frozenset({"/proc", "/sys", "/dev", "/run"})


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Files as rows, and a note if the search ended early."""

    rows: tuple[dict[str, JsonValue], ...]
    note: str = ""


class _Budget:
    """Ends a search after a number of entries, after a time, or when it is cancelled."""

    def __init__(self, is_cancelled: Callable[[], bool]) -> None:
        self._cancelled, self._left = is_cancelled, _MOST_ENTRIES
        self._deadline = time.monotonic() + _SECONDS
        self.note = ""

    def spend(self) -> bool:
        """Count one entry; return False if the search has to end."""
        self._left -= 1
        if self._left < 0:
            self.note = f"the search ended after {_MOST_ENTRIES:,} entries: name a smaller folder"
        elif self._left % 256 == 0 and time.monotonic() > self._deadline:
            self.note = f"the search ended after {_SECONDS:g} s: name a smaller folder"
        elif self._left % 256 == 0 and self._cancelled():
            self.note = "the search was cancelled"
        return not self.note


def find_files(
    folder: str,
    pattern: str,
    limit: int,
    protected: Sequence[Path],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> FoundFiles:
    """Return the entries below `folder` whose name fits `pattern`, the newest first.

    `pattern` is a shell pattern, or a part of the name if it has no wildcard; empty is every name.
    Raises FileRefused for a folder of secrets, OSError if `folder` cannot be listed.
    """
    require_readable(folder, protected)
    require_readable(os.path.realpath(folder), protected)
    fits = _name_test(pattern)
    budget = _Budget(is_cancelled)
    found = _walk(folder, protected, budget)
    rows = [_row(entry) for entry in found if fits(entry.name)]
    rows.sort(key=lambda row: str(row["modified"]), reverse=True)
    note = budget.note
    if len(rows) > limit:
        note = f"{note}; " * bool(note) + f"the {limit} newest of {len(rows)} are shown"
    return FoundFiles(tuple(rows[:limit]), note)


def largest_folders(
    folder: str,
    limit: int,
    protected: Sequence[Path],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> FoundFiles:
    """Return the direct parts of `folder` by the bytes that they use on disk, the largest first.

    Other file systems below are left out. Raises FileRefused, OSError.
    """
    require_readable(folder, protected)
    require_readable(os.path.realpath(folder), protected)
    budget = _Budget(is_cancelled)
    device = os.stat(folder).st_dev  # noqa: PTH116 - beside the entries' own stat
    sums: dict[str, int] = {}
    start = len(Path(folder).parts)
    for entry in _walk(folder, protected, budget, device):
        status = _status(entry)
        if status is not None:
            part = "/".join(Path(entry.path).parts[: start + 1]).replace("//", "/")
            sums[part] = sums.get(part, 0) + status.st_blocks * 512
    ordered = sorted(sums.items(), key=lambda each: -each[1])[:limit]
    rows: list[dict[str, JsonValue]] = [{"path": path, "used_bytes": n} for path, n in ordered]
    return FoundFiles(tuple(rows), budget.note)


def _walk(
    folder: str, protected: Sequence[Path], budget: _Budget, device: int | None = None
) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    first = True
    while waiting:
        current = waiting.pop()
        try:
            entries = os.scandir(current)
        except OSError:
            if first:
                raise
            continue
        first = False
        with entries:
            for entry in entries:
                if not budget.spend():
                    return
                if not _is_open(entry, folder, protected):
                    continue
                yield entry
                if entry.is_dir(follow_symlinks=False) and _is_on(entry, device):
                    waiting.append(entry.path)


def _is_open(entry: os.DirEntry[str], folder: str, protected: Sequence[Path]) -> bool:
    if entry.path in _KERNEL and entry.path != folder:
        return False
    if not entry.is_dir(follow_symlinks=False):
        return True
    inside = f"{entry.path}/"
    return not is_secret(inside) and not any(Path(entry.path) == each for each in protected)


def _is_on(entry: os.DirEntry[str], device: int | None) -> bool:
    if device is None:
        return True
    status = _status(entry)
    return status is not None and status.st_dev == device


def _name_test(pattern: str) -> Callable[[str], bool]:
    if any(letter in pattern for letter in "*?["):
        return lambda name: fnmatch.fnmatch(name, pattern)
    return lambda name: pattern.casefold() in name.casefold()


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _row(entry: os.DirEntry[str]) -> dict[str, JsonValue]:
    status = _status(entry)
    kind = "folder" if entry.is_dir(follow_symlinks=False) else "file"
    if status is None:
        return {"path": entry.path, "type": kind, "size_bytes": None, "modified": ""}
    modified = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.st_mtime))
    shown = "link" if entry.is_symlink() else kind
    size = status.st_size
    return {"path": entry.path, "type": shown, "size_bytes": size, "modified": modified}
