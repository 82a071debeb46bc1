"""The warm index as bytes (docs/ADRs/0014): a line that says what follows, then columns. Pure."""

from __future__ import annotations

import json
import os
import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pulsus.core.contract.tool_table import Columns
from pulsus.core.types import BrokenTool
from pulsus.fast_dataclass import dataclass
from pulsus.routing.index.catalogue_builder import BuiltCatalogue
from pulsus.routing.index.folder_rows import Folder

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything one index file says. `values` names the file with the values, up to `size` bytes.

    `written` counts the values appended since that file was last written whole. `roots` are the
    folders the catalogue was derived from.
    """

    values: str
    size: int
    written: int
    roots: tuple[str, ...]
    folders: tuple[Folder, ...]
    derived: BuiltCatalogue


class OtherReader(Exception):
    """Another Pulsus, Python or limit wrote it: nothing is wrong, and nothing can be used."""


def pack_index(stored: Stored, reader: str) -> bytes:
    """The file."""
    folders, derived = stored.folders, stored.derived
    meta = {
        "values": stored.values,
        "size": stored.size,
        "written": stored.written,
        "roots": stored.roots,
        "digest": derived.columns.digest,
        "broken": [[str(b.path), b.code, b.reason] for b in derived.broken],
        "warnings": derived.warnings,
        "folders": [
            [f.source, f.path, f.parts, len(f.names), f.settled, f.problems, f.warnings]
            for f in folders
        ],
    }
    columns = [
        json.dumps(meta, separators=(",", ":")).encode("ascii"),
        os.fsencode("\0".join(_all(f.names for f in folders))),
        b"".join(f.stamps for f in folders),
        array("q", _all(f.read_ns for f in folders)).tobytes(),
        "\n".join(_all(f.sha256 for f in folders)).encode("ascii"),
        "".join(f.kinds for f in folders).encode("ascii"),
        array("q", _all(f.refs for f in folders)).tobytes(),
        array("i", _all(f.hints for f in folders)).tobytes(),
        "\n".join(_all(f.said for f in folders)).encode("ascii"),
        "\n".join(derived.columns.ids).encode("ascii"),
        array("I", derived.rows).tobytes(),
    ]
    body = b"".join(columns)
    head = {
        "format": FORMAT,
        "reader": reader,
        "crc32": zlib.crc32(body),
        "columns": [len(column) for column in columns],
    }
    return json.dumps(head).encode("ascii") + b"\n" + body


def unpack_index(data: bytes, reader: str) -> Stored:
    """What `pack` was given. Raises OtherReader, or ValueError saying what is wrong with it."""
    line, _, body = data.partition(b"\n")
    try:
        head = json.loads(line)
        if head["format"] != FORMAT:
            raise ValueError(f"format {head['format']!r}, not {FORMAT}")
        if head["crc32"] != zlib.crc32(body):
            raise ValueError("its checksum is wrong")
        if head["reader"] != reader:
            raise OtherReader
        return _stored(_columns(body, head["columns"]))
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError(f"it does not say {error}") from None


def _columns(body: bytes, sizes: Sequence[int]) -> list[bytes]:
    parts, at = [], 0
    for size in sizes:
        parts.append(body[at : at + size])
        at += size
    return parts


def _stored(columns: list[bytes]) -> Stored:
    raw, names, stamps, read_ns, sha256, kinds, refs, hints, said, ids, rows = columns
    meta = json.loads(raw)
    table = _Table(
        _split(os.fsdecode(names), "\0"),
        stamps,
        _numbers("q", read_ns),
        _split(sha256.decode("ascii"), "\n"),
        kinds.decode("ascii"),
        _numbers("q", refs),
        _numbers("i", hints),
        _split(said.decode("ascii"), "\n"),
    )
    order = _numbers("I", rows)
    tools = Columns(
        tuple(_split(ids.decode("ascii"), "\n", len(order))),
        tuple([table.sha256[row] for row in order]),
        tuple([table.said[row] for row in order]),
        meta["digest"],
    )
    broken = tuple(BrokenTool(Path(path), code, reason) for path, code, reason in meta["broken"])
    return Stored(
        meta["values"],
        meta["size"],
        meta["written"],
        tuple(meta["roots"]),
        tuple(table.folders(meta["folders"])),
        BuiltCatalogue(tools, order, broken, tuple(meta["warnings"])),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of every row, one folder's after the other's."""

    names: list[str]
    stamps: bytes
    read_ns: array[int]
    sha256: list[str]
    kinds: str
    refs: array[int]
    hints: array[int]
    said: list[str]

    def folders(self, listed: Iterable[Any]) -> Iterable[Folder]:
        start = 0
        for source, path, parts, size, settled, problems, warnings in listed:
            rows = slice(start, start + size)
            yield Folder(
                source,
                path,
                tuple(parts),
                self.names[rows],
                self.stamps[32 * rows.start : 32 * rows.stop],
                self.read_ns[rows],
                self.sha256[rows],
                self.kinds[rows],
                self.refs[rows],
                self.hints[rows],
                self.said[rows],
                settled,
                {name: (code, reason) for name, (code, reason) in problems.items()},
                tuple((module, name, text) for module, name, text in warnings),
            )
            start += size


def _all(columns: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(columns))


def _split(text: str, mark: str, size: int | None = None) -> list[str]:
    """The parts of a joined column; one that was empty has none, not an empty one."""
    return [] if size == 0 else text.split(mark)


def _numbers(kind: str, data: bytes) -> array[int]:
    found = array(kind)
    found.frombytes(data)
    return found
