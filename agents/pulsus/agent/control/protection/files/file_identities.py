"""Know every regular file below some places by its identity: device and number.

A cache of inodes, asked by `linked_files.py` for hard links.

Effect: lists folders and looks at the facts of files. It opens no file.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from pulsus.agent.control.protection.files.file_looks import FileId
from pulsus.agent.control.protection.files.real_paths import real_path
from pulsus.fast_dataclass import dataclass

_FRESH_SECONDS: Final = 30.0
"""The folders are looked at again after so long. A link to a file of the places that a call would
make is refused, so a new one comes from outside."""
_SETTLED_NS: Final = 2_000_000_000
"""A folder that changed later than this before it was listed may change again unnoticed, because
its time has coarse steps."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """The files and the folders in a folder, as they were when its facts were `state`."""

    state: tuple[int, ...]
    files: tuple[FileId, ...]
    folders: tuple[str, ...]


class FileIdentities:
    """The files of `places`. A folder is listed again only if a name in it came or went.

    70,000 files in 8,000 folders take about a second the first time. Nothing is read before the
    first question.
    """

    def __init__(self, places: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._places, self._clock = tuple(places), clock
        self._listings: dict[str, _Listing] = {}
        self._files: frozenset[FileId] = frozenset()
        self._numbers: frozenset[int] = frozenset()
        self._fresh_until = float("-inf")

    @property
    def are_fresh(self) -> bool:
        """Return True if a question costs no look at the folders."""
        return self._clock() < self._fresh_until

    def files(self) -> frozenset[FileId]:
        """Return the identity of every file."""
        if not self.are_fresh:
            self._refresh()
        return self._files

    def numbers(self) -> frozenset[int]:
        """Return the numbers of all files. Another file system uses the same ones."""
        self.files()
        return self._numbers

    def have_second_names(self) -> bool:
        """Return True if any of the files has a second name. Looks at each of them."""
        for place in dict.fromkeys(map(real_path, self._places)):
            for folder, _, names in os.walk(place):
                for name in names:
                    with suppress(OSError):
                        status = os.lstat(f"{folder}/{name}")
                        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                            return True
            with suppress(OSError):
                status = os.lstat(place)
                if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                    return True
        return False

    def _refresh(self) -> None:
        found, listings = set[FileId](), dict[str, _Listing]()
        for place in dict.fromkeys(map(real_path, self._places)):
            found.update(self._identities(place, listings))
        self._listings, self._files = listings, frozenset(found)
        self._numbers = frozenset(number for _, number in found)
        self._fresh_until = self._clock() + _FRESH_SECONDS

    def _identities(self, place: str, listings: dict[str, _Listing]) -> Iterator[FileId]:
        waiting = [place]
        while waiting:
            at = waiting.pop()
            try:
                status = os.lstat(at)
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(status.st_mode):
                yield status.st_dev, status.st_ino
            if not stat.S_ISDIR(status.st_mode) or at in listings:
                continue
            listing = self._listing(at, status)
            if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NS:
                listings[at] = listing
            yield from listing.files
            waiting += listing.folders

    def _listing(self, folder: str, status: os.stat_result) -> _Listing:
        state = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        known = self._listings.get(folder)
        if known is not None and known.state == state:
            return known
        files: list[FileId] = []
        folders: list[str] = []
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        found = entry.stat(follow_symlinks=False)
                        files.append((found.st_dev, found.st_ino))
        return _Listing(state, tuple(files), tuple(folders))
