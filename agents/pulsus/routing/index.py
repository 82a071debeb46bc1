"""Warm index of discovery (spec §13). Effect: reads and replaces one file below the state folder.

An entry is trusted while the file's stamp is the recorded one and lies well before the moment the
file was read; a file changed just before that moment is read and hashed again, because a second
change within one tick of the file system's clock would leave the stamp as it was (git's rule for
racy entries). The index is a cache: without it, or where it is damaged, discovery reads the files.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pulsus
from pulsus.core import contract, types
from pulsus.core.storage import atomic
from pulsus.errors import PulsusError
from pulsus.routing import index_codec, manifest
from pulsus.routing.files import Stamp
from pulsus.routing.index_codec import Value

FORMAT = 1
FILE_NAME = "discovery.jsonl"

RACY_NS = 2_000_000_000
"""Coarsest clock of a file system in use (FAT: 2 s)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file held when it was read at `read_ns` (wall clock). `sha256` is of its bytes."""

    stamp: Stamp
    sha256: str
    read_ns: int
    value: Value

    def trusted(self, stamp: Stamp) -> bool:
        """Whether a file of this stamp holds the same bytes."""
        newest = max(stamp.mtime_ns, stamp.ctime_ns)
        return stamp == self.stamp and newest + RACY_NS <= self.read_ns


class Index:
    """Entries by id and absolute path. `warnings` say why an index was not used or not written."""

    def __init__(
        self, state_dir: Path, *, max_file_bytes: int, now_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._file = state_dir / "index" / FILE_NAME
        self._max_file_bytes = max_file_bytes
        self._entries: Mapping[str, Entry] | None = None
        self._lines: dict[str, str] = {}
        self.now_ns = now_ns
        self.warnings: tuple[str, ...] = ()

    def entries(self) -> Mapping[str, Entry]:
        """What is known, by key; read from disk on first use."""
        if self._entries is None:
            self._entries = self._load()
        return self._entries

    def replace(self, entries: Mapping[str, Entry]) -> None:
        """Know exactly these entries from now on, and write them where they are news.

        A folder that cannot be written to gives a warning.
        """
        known = self.entries()
        self._entries = entries
        if len(known) == len(entries) and all(known.get(p) is e for p, e in entries.items()):
            return
        self._lines = {
            path: self._lines[path] if known.get(path) is entry else _encode(path, entry)
            for path, entry in entries.items()
        }
        try:
            self._write()
        except (OSError, PulsusError) as error:
            self._warn(f"discovery index not saved: {error}")

    def _write(self) -> None:
        body = "".join(self._lines.values()).encode("ascii")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_bytes(self._file, _header(body, self._max_file_bytes) + body)

    def _load(self) -> dict[str, Entry]:
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._warn(f"discovery index not used: {error}")
            return {}
        head, _, body = data.partition(b"\n")
        try:
            header = json.loads(head)
            if header["format"] != FORMAT:
                self._warn(f"discovery index rebuilt: format {header['format']!r}, not {FORMAT}")
                return {}
            if header["sha256"] != hashlib.sha256(body).hexdigest():
                raise ValueError("its checksum is wrong")
            if header["reader"] != _reader(self._max_file_bytes):
                return {}  # another Pulsus or Python wrote it: nothing to tell
            return self._read(body)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            self._lines = {}
            self._warn(f"discovery index rebuilt: {FILE_NAME} is damaged ({error})")
            return {}

    def _read(self, body: bytes) -> dict[str, Entry]:
        entries = {}
        for line in body.decode("ascii").splitlines(keepends=True):
            path, stamp, sha256, read_ns, value = json.loads(line)
            entries[path] = Entry(Stamp(*stamp), sha256, read_ns, index_codec.decode(value))
            self._lines[path] = line
        return entries

    def _warn(self, message: str) -> None:
        line = " ".join(message.split())
        if line not in self.warnings:
            self.warnings = (*self.warnings, line)


def _encode(path: str, entry: Entry) -> str:
    s = entry.stamp
    stamp = [s.mtime_ns, s.ctime_ns, s.size, s.inode]
    row: list[Any] = [path, stamp, entry.sha256, entry.read_ns, index_codec.encode(entry.value)]
    return json.dumps(row, separators=(",", ":")) + "\n"


def _header(body: bytes, max_file_bytes: int) -> bytes:
    header = {
        "format": FORMAT,
        "reader": _reader(max_file_bytes),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return json.dumps(header).encode("ascii") + b"\n"


@cache
def _reader(max_file_bytes: int) -> str:
    """What a file's reading depends on beside its bytes: our code, Python's parser, the limit."""
    digest = hashlib.sha256(f"{pulsus.__version__} {sys.version} {max_file_bytes}".encode())
    rooms = sorted(Path(contract.__file__).parent.glob("*.py"))
    for file in (*rooms, Path(types.__file__), Path(manifest.__file__), Path(index_codec.__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()
