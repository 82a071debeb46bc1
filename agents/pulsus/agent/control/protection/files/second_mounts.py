"""Find the other names that mounts give to places: bind mounts, and a file system mounted twice.

`protected_places.py` asks it.

Effect: `MountTable` reads the kernel's table of mounts. The rest is pure.

The table says of each mount which folder of which file system stands there. So the other names of
a place follow from the table alone, without a walk, also if only a folder or a file within the
place is mounted elsewhere.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pulsus.fast_dataclass import dataclass

_TABLE: Final = Path("/proc/self/mountinfo")
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")
_FRESH_SECONDS: Final = 1.0
"""The table is read again after so long: one command asks for dozens of paths."""


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount: its file system, the folder of it that is mounted, and where it is mounted."""

    device: str
    root: str
    point: str


def parse_mounts(table: str) -> tuple[Mount, ...]:
    """Return the mounts of a table in the form of `/proc/self/mountinfo`, in its order."""
    found = []
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) > 5:
            found.append(Mount(fields[2], _plain(fields[3]), _plain(fields[4])))
    return tuple(found)


def names_by_mounts(places: Sequence[str], mounts: Sequence[Mount]) -> tuple[str, ...]:
    """Return the paths at which mounts show `places`, or a part of one, beside their own paths."""
    found: dict[str, None] = {}
    for place in places:
        for name in _names_of(place, mounts):
            if name not in places:
                found[name] = None
    return tuple(found)


def _names_of(place: str, mounts: Sequence[Mount]) -> Iterator[str]:
    # Of mounts at one point the last one is seen. One further above may show the place too.
    holders = [each for each in mounts if _is_below(place, each.point)]
    if not holders:
        return
    deepest = max(len(each.point) for each in holders)
    holder = [each for each in holders if len(each.point) == deepest][-1]
    inside = posixpath.join(holder.root, posixpath.relpath(place, holder.point))
    inside = posixpath.normpath(inside)
    for mount in mounts:
        if mount.device != holder.device:
            continue
        if _is_below(mount.root, inside):
            yield mount.point  # the place, or a part of it, is mounted there
        elif _is_below(inside, mount.root):
            yield posixpath.normpath(
                posixpath.join(mount.point, posixpath.relpath(inside, mount.root))
            )


def _is_below(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(f"{folder}/")


def _plain(field: str) -> str:
    """Return a path without the octal codes that stand for blanks and tabs."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), field)


def read_table() -> str:
    """Return the kernel's table of mounts; an empty text on a system without one."""
    try:
        return _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


class MountTable:
    """The other names of `places`, as the mounts of now give them."""

    def __init__(
        self,
        places: Sequence[str],
        read: Callable[[], str] = read_table,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places, self._read, self._clock = tuple(places), read, clock
        self._table, self._names = "", tuple[str, ...]()
        self._fresh_until = float("-inf")

    def names(self) -> tuple[str, ...]:
        """Return the names. A mount is known a second after it was made, at the latest."""
        now = self._clock()
        if now >= self._fresh_until:
            self._fresh_until = now + _FRESH_SECONDS
            table = self._read()
            if table != self._table:
                self._table, self._names = table, names_by_mounts(self._places, parse_mounts(table))
        return self._names
