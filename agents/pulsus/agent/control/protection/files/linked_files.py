"""Find names that lead to files of Pulsus by a link, a hard link or a second mount.

Symlinks and hard links to protected files are found here, `second_mounts.py` has bind mounts.

Effect: lists folders and looks at the facts of files. It opens no file.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pulsus.agent.control.protection.files.file_identities import FileIdentities
from pulsus.agent.control.protection.files.file_looks import (
    FileId,
    FileLooks,
    FolderNames,
    current_looks,
)
from pulsus.agent.control.protection.files.real_paths import real_path
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern

_WILD: Final = re.compile(r"[*?\[]")
_MOST_NAMES: Final = 20_000
"""Names that are looked at for one word. It takes about 30 ms."""


class TooManyNames(Exception):
    """A pattern or a folder has more names than are looked at, so its links are unknown."""


class LinkedFiles:
    """Knows the files and folders of `places` by their identity: device and number."""

    def __init__(self, places: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._files = FileIdentities(places, clock)
        found = (_status_of(place) for place in places)
        self._ids = frozenset(_id_of(status) for status in found if status is not None)

    def is_same_file(self, path: str) -> bool:
        """Return True if `path`, which has no links, is a file of Pulsus under another name.

        Other names are those below a second mount, another case of letters where the file system
        does not tell them apart, and hard links.
        """
        known, status = current_looks().identities(path)
        if not self._ids.isdisjoint(known):
            return True
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return False
        return _id_of(status) in self._files.files()

    def has_hard_link_below(self, folder: str) -> bool:
        """Return True if a file below `folder` is a file of the places under another name.

        Links are not followed. Raises TooManyNames, but not if no file of the places has a second
        name.
        """
        known, key = current_looks().hard_links, (self, real_path(folder))
        try:
            if key not in known:
                known[key] = self._finds_hard_link(key[1], [_MOST_NAMES])
            return known[key]
        except TooManyNames:
            if self._files.have_second_names():
                raise
            return False

    def _finds_hard_link(self, folder: str, left: list[int]) -> bool:
        """Return the same. The places are listed only if a file below has a second name."""
        looks = current_looks()
        known = self._files.numbers() if self._files.are_fresh else None
        waiting = [folder]
        while waiting:
            at = waiting.pop()
            names = _names_in(at, left, looks)
            waiting += names.folders
            # A number costs no look at the file.
            if known is not None and known.isdisjoint(number for number, _ in names.files):
                continue
            if (found := looks.second_names(at, names)) and self._files.files().intersection(found):
                return True
            known = self._files.numbers() if found else known
        return False


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
    looks = current_looks()
    left, waiting, seen = [_MOST_NAMES], [real_path(folder)], set[str]()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        names = _names_in(at, left, looks)
        waiting += names.folders
        for link in names.links:
            target = real_path(link)
            yield target
            waiting += [target] if os.path.isdir(target) else []  # noqa: PTH112 - the same


def _names_in(folder: str, left: list[int], looks: FileLooks) -> FolderNames:
    names = looks.names(folder, left[0])
    if names is None:
        raise TooManyNames(f"{folder}: more than {_MOST_NAMES} names")
    left[0] -= names.count
    return names


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


def _id_of(status: os.stat_result) -> FileId:
    return status.st_dev, status.st_ino
