"""Look at each file once in one check, however many rules ask about it.

A cache of `stat` and folder listings.

Effect: looks at facts of files and lists folders. What was seen is kept until the check ends and no
longer, so what was linked, made or replaced since counts at the next one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final, Literal

from pulsus.fast_dataclass import dataclass

FileId = tuple[int, int]
"""A file by its device and number."""
FileFacts = os.stat_result | Literal["missing", "unknown"]
"""Facts of a name from `lstat`. A name may be missing, or closed to this user."""

FollowedPath = tuple[str, Sequence[tuple[str, ...]]]
"""A path as its links lead, and the parts of every spelling of it."""


@dataclass(frozen=True, slots=True)
class FolderNames:
    """The names in one folder, of `count` altogether.

    Folders and links are paths. Files are names, each with the number of its file.
    """

    count: int
    folders: tuple[str, ...]
    links: tuple[str, ...]
    files: tuple[tuple[int, str], ...]


_OPENS_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
_NO_NAMES: Final = FolderNames(0, (), (), ())


class FileLooks:
    """Facts of files that were seen. Each file is looked at when it is first asked for."""

    def __init__(self) -> None:
        self._facts: dict[str, FileFacts] = {}
        self._names: dict[str, FolderNames] = {}
        self._second_names: dict[str, tuple[FileId, ...]] = {}
        self._identities: dict[str, tuple[frozenset[FileId], os.stat_result | None]] = {}
        self.real_paths: dict[str, str] = {}
        """The real path of each path."""
        self.links: dict[tuple[object, str], bool] = {}
        """The answer for some places and a folder: does a link below it lead to them?"""
        self.hard_links: dict[tuple[object, str], bool] = {}
        """The answer for some places and a folder: has it a file of theirs under another name?"""
        self.bases: dict[tuple[object, ...], tuple[str, ...]] = {}
        """Folders in which a command may be, by what they depend on."""
        self.followed: dict[tuple[object, ...], FollowedPath] = {}
        """An absolute path as its links lead, by the path and how links are followed."""
        self.spellings: dict[tuple[object, ...], Sequence[FollowedPath]] = {}
        """The spellings of a path, by what they depend on."""

    def facts(self, path: str) -> FileFacts:
        """Return the facts of a name, without following a link."""
        found = self._facts.get(path)
        if found is None:
            found = self._facts[path] = _facts_of(path)
        return found

    def identities(self, path: str) -> tuple[frozenset[FileId], os.stat_result | None]:
        """Return the identity of a file and of each folder above it, and the facts of the file.

        Links are followed. The facts are None if there is no such file.
        """
        found = self._identities.get(path)
        if found is None:
            found = self._identities[path] = self._find_identities(path)
        return found

    def _find_identities(self, path: str) -> tuple[frozenset[FileId], os.stat_result | None]:
        folder, _, name = path.rpartition("/")
        if not name:
            return frozenset(), _status_of(path)
        above = self.identities(folder)[0] if folder else frozenset()
        if folder and self.facts(folder) == "missing":
            return above, None
        facts = self._followed_facts(path)
        if facts is None:
            return above, None
        return above | {(facts.st_dev, facts.st_ino)}, facts

    def _followed_facts(self, path: str) -> os.stat_result | None:
        facts = self.facts(path)
        if facts == "missing":
            return None
        if facts == "unknown" or stat.S_ISLNK(facts.st_mode):
            return _status_of(path)
        return facts

    def names(self, folder: str, most: int) -> FolderNames | None:
        """Return what is in a folder, or None for more than `most` names.

        A folder that cannot be listed has no names.
        """
        found = self._names.get(folder)
        if found is None:
            missing = self.facts(folder) == "missing"
            found = _NO_NAMES if missing else _list_names(folder, most)
            if found is None:
                return None
            self._names[folder] = found
        return found if found.count <= most else None

    def second_names(self, folder: str, names: FolderNames) -> tuple[FileId, ...]:
        """Return the identity of each file in a folder that has another name somewhere."""
        found = self._second_names.get(folder)
        if found is None:
            found = self._second_names[folder] = _find_second_names(folder, names)
        return found


def _facts_of(path: str) -> FileFacts:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError):  # ValueError: no file can have the name
        return "unknown"


def _status_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a Path for each part costs more
    except (OSError, ValueError):
        return None


def _find_second_names(folder: str, names: FolderNames) -> tuple[FileId, ...]:
    if not names.files:
        return ()
    found: list[FileId] = []
    try:
        # From an open folder a name is found quicker than by its whole path.
        opened = os.open(folder, _OPENS_FOLDER)
    except OSError:
        return ()
    try:
        for _, name in names.files:
            try:
                facts = os.stat(name, dir_fd=opened, follow_symlinks=False)
            except OSError:
                continue
            if facts.st_nlink > 1:
                found.append((facts.st_dev, facts.st_ino))
    finally:
        os.close(opened)
    return tuple(found)


def _list_names(folder: str, most: int) -> FolderNames | None:
    folders: list[str] = []
    links: list[str] = []
    files: list[tuple[int, str]] = []
    count = 0
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        for count, entry in enumerate(entries, 1):
            if count > most:
                return None
            if entry.is_symlink():
                links.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                files.append((entry.inode(), entry.name))
    return FolderNames(count, tuple(folders), tuple(links), tuple(files))


_CHECK: Final[ContextVar[FileLooks | None]] = ContextVar("looks of one check", default=None)


def current_looks() -> FileLooks:
    """Return what the check that runs has seen; outside a check, that nothing was seen."""
    return _CHECK.get() or FileLooks()


@contextmanager
def one_check() -> Iterator[None]:
    """Within it each file is looked at once. A check within a check is part of it."""
    if _CHECK.get() is not None:
        yield
        return
    token = _CHECK.set(FileLooks())
    try:
        yield
    finally:
        _CHECK.reset(token)
