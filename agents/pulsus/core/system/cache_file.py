"""The file format of the caches in the state folder (spec §13). Effect: reads and replaces files.

A damaged or corrupt file is a miss with a warning, and a file of another kind or version is stale;
each cache decides its own key. A failed write costs the next run its head start. The caches are
those of `routing/index/discovery_index.py` (tools), `routing/search/ranking_index_cache.py`,
`routing/search/vector_cache.py`, `core/validators/verdict_cache.py` and `routing/parser_cache.py`.

A file is a checksum, a header line of JSON, and columns of bytes or numbers that are read in place.
Nothing is synced to disk, because a torn file fails its checksum. Files are read, not mapped: a
file that is cut short under a mapping ends the process.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

from pulsus.fast_dataclass import dataclass

T = TypeVar("T")
Column: TypeAlias = "bytes | array[Any]"

_LOG = logging.getLogger("pulsus")

_DAMAGE = (
    *(LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError),
    zlib.error,
)
"""The errors of reading the content of a damaged file."""

_SUM_BYTES = 9
"""The checksum in hexadecimal digits, and a space."""


class DamagedCache(ValueError):
    """The bytes are not a file of this format, or were altered."""


class OtherKind(Exception):
    """The file is whole, and was made from other sources or in another format."""


@dataclass(frozen=True, slots=True)
class CacheFile:
    """The content of one file. `columns` are views of `data`; `starts` are their positions."""

    data: bytes
    checksum: int
    values: Any
    columns: Mapping[str, memoryview[Any]]
    starts: Mapping[str, int]


def key_of(*sources: str, code: Iterable[ModuleType]) -> str:
    """Return a digest of the sources of a value and of the modules that compute it."""
    # Stamps, because reading the modules takes longer than the cache saves.
    stats = (Path(str(module.__file__)).stat() for module in code)
    text = repr((sources, [(s.st_mtime_ns, s.st_size) for s in stats]))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def pack(kind: str, values: Any, columns: Mapping[str, Column] | None = None) -> bytes:
    """Return the bytes of a file: JSON values and columns.

    `kind` names the format and all that the content was made from.
    """
    sizes: list[tuple[str, str, int]] = []
    parts: list[bytes] = []
    for name, column in (columns or {}).items():
        part = bytes(column)
        sizes.append((name, "B" if isinstance(column, bytes) else column.typecode, len(part)))
        parts += [part, bytes(-len(part) % 8)]
    head = {"kind": _with_byte_order(kind), "columns": sizes, "values": values}
    line = json.dumps(head, separators=(",", ":")).encode("ascii")
    # Each column begins at a multiple of 8, where the processor reads any number at once.
    line += b" " * (-(_SUM_BYTES + len(line) + 1) % 8)
    body = b"".join([line, b"\n", *parts])
    return _format_checksum(zlib.crc32(body)) + body


def unpack(data: bytes, kind: str) -> CacheFile:
    """Return what `pack` was given. Raises OtherKind, or DamagedCache with the reason."""
    checksum = zlib.crc32(memoryview(data)[_SUM_BYTES:])
    if data[:_SUM_BYTES] != _format_checksum(checksum):
        raise DamagedCache("its checksum is wrong")
    columns, starts = {}, {}
    try:
        start = data.index(b"\n") + 1
        head = json.loads(data[_SUM_BYTES:start])
        if head["kind"] != _with_byte_order(kind):
            raise OtherKind
        for name, code, size in head["columns"]:
            columns[name] = memoryview(data)[start : start + size].cast(code)
            starts[name] = start
            start += size + -size % 8
        values = head["values"]
    except _DAMAGE as failure:
        raise DamagedCache(f"its header is invalid: {failure}") from None
    if start != len(data):
        raise DamagedCache("its columns have other sizes than its header says")
    return CacheFile(data, checksum, values, columns, starts)


def load(
    file: Path,
    kind: str,
    read: Callable[[CacheFile], T],
    warn: Callable[[str], None] = _LOG.warning,
) -> T | None:
    """Return what `read` makes of the file, or None for a missing file or one of another kind.

    A damaged file also gives None. `warn` gets the reason, and the caller makes the file anew.
    """
    try:
        return read(unpack(file.read_bytes(), kind))
    except (FileNotFoundError, NotADirectoryError, OtherKind):
        return None
    except OSError as failure:
        warn(f"{file.name} was not used: {failure.strerror}")
    except _DAMAGE as failure:
        warn(f"{file.name} rebuilt: it is damaged ({failure})")
    return None


def save(file: Path, data: bytes) -> str:
    """Replace the file, or return why that failed; "" if it is written."""
    temp = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temp.write_bytes(data)
        temp.replace(file)
    except OSError as failure:
        with suppress(OSError):
            temp.unlink()
        return failure.strerror or type(failure).__name__
    return ""


def _with_byte_order(kind: str) -> str:
    # Numbers are read in place, so another machine cannot use the file.
    return f"{kind} {sys.byteorder}"


def _format_checksum(checksum: int) -> bytes:
    return b"%08x " % checksum
