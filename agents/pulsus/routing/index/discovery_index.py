"""The warm discovery index (spec §13, docs/ADRs/0014). Effect: files in the state folder.

`discovery.idx` says what every file was when it was read and is replaced whole; the values it
refers to lie in `discovery-*.values`, which is only ever added to. Readers take no lock; writers
take turns. The index is a cache: without it, or where it is damaged, discovery reads the files. It
is built anew if its key differs: our code, Python, the size limit, or this user's token. Writers
take a lock (flock). If one file's row is stale is decided in `routing/index/file_freshness.py`.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pulsus
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import OtherKind
from pulsus.core.types import CatalogueWarning, WarningCode
from pulsus.routing.index import index_format
from pulsus.routing.index.catalogue_builder import BuiltCatalogue
from pulsus.routing.index.file_freshness import NO_VALUE, Folder
from pulsus.routing.index.index_format import Stored
from pulsus.routing.index.value_store import DamagedValue, ValueStore, map_file

FILE_NAME = "discovery.idx"
_OLD_NAME = "discovery.jsonl"
_VALUES = "discovery-*.values"
_TRIES = 3
_CODE = (
    *("core/contract", "core/python_source", "core/system", "core/types.py"),
    "routing/discovery/manifest.py",
    *("routing/discovery/module_files.py", "routing/discovery/folder_reader.py"),
    *(
        "routing/discovery/tool_path.py",
        "routing/index/value_codec.py",
        "routing/index/file_freshness.py",
    ),
    *(
        "routing/index/value_store.py",
        "errors.py",
        "install_hint.py",
        "fast_dataclass.py",
        "late_pattern.py",
    ),
)
"""Folders, with all below them, and files of the code that reads a tool."""
_WASTE = 0.5
"""Values appended since the file was last written whole, per value in use, before it is again."""

_LOG = logging.getLogger("pulsus")


class DiscoveryIndex:
    """The index of earlier runs. `warnings` say why it was not used or not written.

    An index with another `token` is not used: a repository can contain an index, but does not know
    the token of its user.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        max_file_bytes: int,
        now_ns: Callable[[], int] = time.time_ns,
        token: str = "",
    ) -> None:
        self._folder = state_dir / "index"
        self._reader_key = _reader_key(max_file_bytes, token)
        self._stored: Stored | None = None
        self._loaded = self._damaged = False
        self._name, self._appended = "", 0
        self.values = ValueStore()
        self.now_ns = now_ns
        self.warnings: tuple[CatalogueWarning, ...] = ()

    def stored(self) -> Stored | None:
        """Return the stored index, read from disk on first use; None if there is no usable one."""
        if not self._loaded:
            self._loaded = True
            self._load_index()
        return self._stored

    def save(
        self, folders: Sequence[Folder], derived: BuiltCatalogue, roots: Sequence[Path]
    ) -> None:
        """Know exactly this from now on, and write it.

        A folder that cannot be written to gives a warning.
        """
        names = tuple(map(str, roots))
        self._stored = Stored("", 0, 0, names, tuple(folders), derived)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with _hold_write_lock(self._folder):
                self._write_index(self._stored)
        except OSError as error:
            self._warn(f"discovery index not saved: {error}", "INDEX_NOT_SAVED")
        except DamagedValue as error:
            self.damaged(str(error))

    def damaged(self, why: str) -> None:
        """Forget the index on disk, so that the next run builds it anew, and say so once."""
        if not self._damaged:
            self._damaged = True
            with suppress(OSError):
                (self._folder / FILE_NAME).unlink()
            _LOG.warning("discovery index rebuilt: its values are damaged (%s)", why)

    def _load_index(self) -> None:
        for _ in range(_TRIES):
            try:
                data = (self._folder / FILE_NAME).read_bytes()
                self._use_index(index_format.unpack_index(data, self._reader_key))
                return
            except FileNotFoundError:
                continue  # none yet, or a writer is just replacing the values
            except OtherKind:
                return
            except OSError as error:
                self._warn(f"discovery index not used: {error}")
                return
            except ValueError as error:
                self._warn(f"discovery index rebuilt: {FILE_NAME} is damaged ({error})")
                return
        if (self._folder / FILE_NAME).exists():
            self._warn(f"discovery index rebuilt: {FILE_NAME} is damaged (its values are missing)")
        elif (self._folder / _OLD_NAME).exists():
            self._warn(f"discovery index rebuilt: {_OLD_NAME} is of an older format")

    def _write_index(self, new: Stored) -> None:
        """Write under the lock: values first, then the index that refers to them."""
        known, values = self._name, self.values
        rows = sum(len(f.names) for f in new.folders)
        fresh = sum(NO_VALUE < ref < 0 for f in new.folders for ref in f.refs)
        path = self._folder / known
        whole = not known or not path.exists() or self._appended + fresh > rows * _WASTE
        if whole:
            known, path = _new_name(self._folder)
        start = 0 if whole else path.stat().st_size
        folders, packed = _pack_folders(new.folders, values, start, everything=whole)
        _append_values(path, packed, start)
        appended = 0 if whole else self._appended + fresh
        size = start + len(packed)
        stored = replace(new, values=known, size=size, written=appended, folders=folders)
        try:
            data = index_format.pack_index(stored, self._reader_key)
            if failure := cache_file.save(self._folder / FILE_NAME, data):
                raise OSError(failure)
        except OSError:
            if whole:
                path.unlink(missing_ok=True)
            raise
        for old in (*self._folder.glob(_VALUES), self._folder / _OLD_NAME):
            if old != path:
                old.unlink(missing_ok=True)
        self._use_index(stored)

    def _use_index(self, stored: Stored) -> None:
        values = ValueStore(map_file(self._folder / stored.values))
        if len(values.stored) < stored.size:
            raise ValueError(f"its values end before {stored.size}")
        self._stored, self.values = stored, values
        self._name, self._appended = stored.values, stored.written

    def _warn(self, message: str, code: WarningCode = "WARNING") -> None:
        warning = CatalogueWarning(" ".join(message.split()), code=code)
        if warning not in self.warnings:
            self.warnings = (*self.warnings, warning)


def _pack_folders(
    folders: Sequence[Folder], values: ValueStore, at: int, *, everything: bool
) -> tuple[tuple[Folder, ...], bytes]:
    """Return the folders referring to stored values alone, and the bytes to store from `at` on.

    `everything` stores the values anew that are stored already. Raises DamagedValue.
    """
    moved: list[Folder] = []
    parts: list[bytes] = []
    for folder in folders:
        refs = array("q", folder.refs)
        for n, ref in enumerate(folder.refs):
            if NO_VALUE < ref < 0 or (everything and ref >= 0):
                parts.append(values.packed(ref))
                refs[n] = at
                at += len(parts[-1])
        moved.append(folder if refs == folder.refs else replace(folder, refs=refs))
    return tuple(moved), b"".join(parts)


def _append_values(path: Path, data: bytes, start: int) -> None:
    """Add to the file, which ends at `start`, all or nothing. Raises OSError."""
    try:
        with path.open("ab") as file:
            file.write(data)
    except OSError:
        if start:
            os.truncate(path, start)
        else:
            path.unlink(missing_ok=True)
        raise


@contextmanager
def _hold_write_lock(folder: Path) -> Iterator[None]:
    """One writer at a time; the system releases what a killed one held."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _new_name(folder: Path) -> tuple[str, Path]:
    name = _VALUES.replace("*", os.urandom(8).hex())
    return name, folder / name


def reading_code() -> Iterator[Path]:
    """Yield the files of this installation that decide what reading a tool gives."""
    package = Path(pulsus.__file__).parent
    for name in _CODE:
        path = package / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else (path,)


@cache
def _reader_key(max_file_bytes: int, token: str) -> str:
    """Return the key of everything that a reading depends on besides the bytes.

    That is our code, Python's parser and the size limit. Files of our code count by their stamps:
    reading them all would take longer than the index saves.
    """
    stamps = [(str(f), s.st_mtime_ns, s.st_size) for f in reading_code() for s in (f.stat(),)]
    text = f"{pulsus.__version__} {sys.version} {max_file_bytes} {stamps} {token}"
    return hashlib.sha256(text.encode()).hexdigest()
