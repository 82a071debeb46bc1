"""Keep the parsed content of files by reference (spec §13). Effect: maps one file of the index.

A wrong checksum means a damaged index: then `routing/tool_discovery.py` reads the file again.

A new value is kept as it is. A stored value is decoded, and its checksum compared, only when it is
used: of ten thousand tools a route shows ten.
"""

from __future__ import annotations

import json
import mmap
import struct
import zlib
from pathlib import Path

from pulsus.routing.index.value_codec import Value, decode, encode

_HEAD = struct.Struct("<II")
"""Length and CRC-32 of the JSON that follows."""


class DamagedValue(Exception):
    """Stored bytes are not what was written."""


class ValueStore:
    """Values by reference: at or above 0 a place in the stored bytes, below it one just read."""

    def __init__(self, stored: mmap.mmap | bytes = b"") -> None:
        self.stored = stored
        self._fresh: list[Value | bytes] = []

    def add(self, value: Value | bytes) -> int:
        """Return a reference to a value just read, or to its JSON."""
        self._fresh.append(value)
        return -len(self._fresh)

    def get(self, ref: int) -> Value:
        """Return the value. Raises DamagedValue."""
        fresh = self._fresh[-ref - 1] if ref < 0 else b""
        if not isinstance(fresh, bytes):
            return fresh
        try:
            return decode(json.loads(fresh or self.packed(ref)[_HEAD.size :]))
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise DamagedValue(str(error)) from None

    def packed(self, ref: int) -> bytes:
        """Return the value as it is stored, head included. Raises DamagedValue."""
        if ref < 0:
            fresh = self._fresh[-ref - 1]
            body = fresh if isinstance(fresh, bytes) else to_json(fresh)
            return _HEAD.pack(len(body), zlib.crc32(body)) + body
        end = ref + _HEAD.size
        if end > len(self.stored):
            raise DamagedValue(f"it ends before {end}")
        length, checksum = _HEAD.unpack(self.stored[ref:end])
        body = self.stored[end : end + length]
        if len(body) != length or zlib.crc32(body) != checksum:
            raise DamagedValue(f"the checksum at {ref} is wrong")
        return self.stored[ref:end] + body


def to_json(value: Value) -> bytes:
    """Return the value as JSON, on one line."""
    return json.dumps(encode(value), separators=(",", ":")).encode("ascii")


def map_file(path: Path) -> mmap.mmap | bytes:
    """Return the bytes of a file, read when they are touched. Raises OSError."""
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return b""
