"""Find names that lead to files of Pulsus by a link, a hard link or a second mount.

Effect: lists folders and looks at the facts of files. It opens no file.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from pulsus.agent.control.protection.real_paths import real_path
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern

_WILD: Final = re.compile(r"[*?\[]")
_MOST_NAMES: Final = 20_000
"""Names that are looked at for one word. It takes about 30 ms."""
_MOST_OWN_NAMES: Final = 1_000_000
"""Names in one folder of Pulsus that are looked at."""
_FRESH_SECONDS: Final = 30.0
"""The own files are looked at again after so long. 10,000 of them take about 50 ms. A link to one
of them that a call would make is refused, so a new one comes from outside."""
_DEEPEST_LINK: Final = 40
"""Links that the kernel follows for one path."""

_FileId = tuple[int, int]


class TooManyNames(Exception):
    """A pattern or a folder has more names than are looked at, so its links are unknown."""


class LinkedFiles:
    """Knows the files and folders of `places` by their identity: device and number."""

    def __init__(self, places: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._places, self._clock = tuple(places), clock
        self._files: frozenset[_FileId] = frozenset()
        self._numbers: frozenset[int] = frozenset()
        self._fresh_until = float("-inf")
        found = (_status_of(place) for place in places)
        self._ids = frozenset(_id_of(status) for status in found if status is not None)

    def is_same_file(self, path: str) -> bool:
        """Return True if `path`, which has no links, is a file of Pulsus under another name.

        Other names are those below a second mount, another case of letters where the file system
        does not tell them apart, and hard links.
        """
        at = ""
        for part in path.split("/"):
            at = f"{at}/{part}" if part else at
            status = _status_of(at) if at else None
            if status is None:
                continue
            if _id_of(status) in self._ids:
                return True
        status = _status_of(path)
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return False
        self._refresh()
        return _id_of(status) in self._files

    def has_hard_link_below(self, folder: str) -> bool:
        """Return True if a file below `folder` is a file of the places under another name.

        Links are not followed. Raises TooManyNames, but not if no file of the places has a second
        name.
        """
        self._refresh()
        left, waiting = [_MOST_NAMES], [real_path(folder)] if self._numbers else []
        while waiting:
            for entry in _entries_of(waiting.pop(), left):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                # The number costs no look at the file. Other file systems use it again.
                elif entry.inode() in self._numbers and not entry.is_symlink():
                    status = _status_of(entry.path)
                    if status is not None and _id_of(status) in self._files:
                        return True
        return False

    def _refresh(self) -> None:
        """Look at the files of the places again, if that was too long ago."""
        now = self._clock()
        if now < self._fresh_until:
            return
        files, numbers = set[_FileId](), set[int]()
        for status in self._statuses():
            files.add(_id_of(status))
            if status.st_nlink > 1:
                numbers.add(status.st_ino)
        self._files, self._numbers = frozenset(files), frozenset(numbers)
        self._fresh_until = self._clock() + _FRESH_SECONDS

    def _statuses(self) -> Iterator[os.stat_result]:
        """Yield the facts of every regular file in the places."""
        for place in dict.fromkeys(map(real_path, self._places)):
            waiting = [place]
            status = _status_of(place)
            if status is not None and stat.S_ISREG(status.st_mode):
                yield status
            while waiting:
                for entry in _entries_of(waiting.pop(), [_MOST_OWN_NAMES]):
                    with suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        elif entry.is_file(follow_symlinks=False):
                            yield entry.stat(follow_symlinks=False)


def linked_names(pattern: str) -> Iterator[str]:
    """Yield the names that fit a pattern of the shell and have or pass a link, or are hard links.

    Raises TooManyNames.
    """
    parts = [part for part in pattern.split("/") if part]
    yield from _expand("", parts, [_MOST_NAMES], linked=False)


def _expand(folder: str, parts: Sequence[str], left: list[int], *, linked: bool) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    for path in _names_like(folder, part, left):
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            continue
        passes = linked or stat.S_ISLNK(status.st_mode)
        if rest:
            yield from _expand(path, rest, left, linked=passes)
        elif passes or (stat.S_ISREG(status.st_mode) and status.st_nlink > 1):
            yield path


def _names_like(folder: str, part: str, left: list[int]) -> Iterator[str]:
    if _WILD.search(part) is None:
        yield f"{folder}/{part}"
        return
    plain = simplify_pattern(part.casefold())
    for entry in _entries_of(folder or "/", left):
        hidden = entry.name[0] == "." and part[0] in "*?"
        if not hidden and patterns_overlap(plain, entry.name.casefold()):
            yield f"{folder}/{entry.name}"


def links_below(folder: str) -> Iterator[str]:
    """Yield the target of every link below a folder, and of links in the folders they lead to.

    Raises TooManyNames.
    """
    left, waiting, seen = [_MOST_NAMES], [os.path.realpath(folder)], set[str]()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        for entry in _entries_of(at, left):
            if entry.is_symlink():
                target = real_path(entry.path)
                yield target
                waiting += [target] if os.path.isdir(target) else []  # noqa: PTH112 - the same
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def _entries_of(folder: str, left: list[int]) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                left[0] -= 1
                if left[0] < 0:
                    raise TooManyNames(f"{folder}: more than {_MOST_NAMES} names")
                yield entry
    except OSError:
        return


def _status_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a Path for each part costs more
    except (OSError, ValueError):
        return None


def _id_of(status: os.stat_result) -> _FileId:
    return status.st_dev, status.st_ino
