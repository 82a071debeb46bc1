"""Store the discovery index in one cache file (docs/ADRs/0014). Pure.

If a cached file is stale is decided in `routing/index/file_freshness.py`. The checksum of the file
is that of `core/system/cache_file.py`.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pulsus.core.contract.tool_table import Columns
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import Column
from pulsus.core.types import BrokenTool, CatalogueWarning
from pulsus.fast_dataclass import dataclass
from pulsus.routing.index.catalogue_builder import BuiltCatalogue
from pulsus.routing.index.file_freshness import Folder, ManifestWarning

KIND = "discovery 4"

_STAMP_BYTES = 32
"""The size of a stamp: four numbers of 8 bytes."""


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


def pack_index(stored: Stored, reader: str) -> bytes:
    """Return the file. `reader` names all that the reading of a tool depends on."""
    folders, derived = stored.folders, stored.derived
    meta = {
        "values": stored.values,
        "size": stored.size,
        "written": stored.written,
        "roots": stored.roots,
        "digest": derived.columns.digest,
        "broken": [[str(b.path), b.code, b.reason] for b in derived.broken],
        "warnings": [[w.text, str(w.path), str(w.root), w.code] for w in derived.warnings],
        "folders": [
            [f.source, f.path, f.parts, len(f.names), f.settled, f.problems, f.warnings]
            for f in folders
        ],
    }
    columns: dict[str, Column] = {
        "names": os.fsencode("\0".join(_join_columns(f.names for f in folders))),
        "stamps": b"".join(f.stamps for f in folders),
        "read_ns": array("q", _join_columns(f.read_ns for f in folders)),
        "sha256": "\n".join(_join_columns(f.sha256 for f in folders)).encode("ascii"),
        "kinds": "".join(f.kinds for f in folders).encode("ascii"),
        "refs": array("q", _join_columns(f.refs for f in folders)),
        "hints": array("i", _join_columns(f.hints for f in folders)),
        "said": "\n".join(_join_columns(f.said for f in folders)).encode("ascii"),
        "ids": "\n".join(derived.columns.ids).encode("ascii"),
        "rows": array("I", derived.rows),
    }
    return cache_file.pack(f"{KIND} {reader}", meta, columns)


def unpack_index(data: bytes, reader: str) -> Stored:
    """Return what `pack_index` was given. Raises OtherKind, or ValueError with the reason."""
    content = cache_file.unpack(data, f"{KIND} {reader}")
    try:
        return _stored_from_columns(content.columns, content.values)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"it does not say {error}") from None


def _stored_from_columns(columns: Mapping[str, memoryview[Any]], meta: Mapping[str, Any]) -> Stored:
    def texts(name: str, mark: str = "\n") -> list[str]:
        return str(columns[name], "ascii").split(mark)

    sha256, said = texts("sha256"), texts("said")
    table: list[Sequence[Any]] = [
        os.fsdecode(bytes(columns["names"])).split("\0"),
        bytes(columns["stamps"]),
        _number_array(columns["read_ns"]),
        sha256,
        str(columns["kinds"], "ascii"),
        _number_array(columns["refs"]),
        _number_array(columns["hints"]),
        said,
    ]
    order = _number_array(columns["rows"])
    tools = Columns(
        tuple(texts("ids")) if order else (),
        tuple([sha256[row] for row in order]),
        tuple([said[row] for row in order]),
        meta["digest"],
    )
    broken = tuple(BrokenTool(Path(path), code, reason) for path, code, reason in meta["broken"])
    warnings = tuple(
        CatalogueWarning(text, Path(path), Path(root), code)
        for text, path, root, code in meta["warnings"]
    )
    return Stored(
        meta["values"],
        meta["size"],
        meta["written"],
        tuple(meta["roots"]),
        tuple(_folders(table, meta["folders"])),
        BuiltCatalogue(tools, order, broken, warnings),
    )


def _folders(table: Sequence[Sequence[Any]], listed: Iterable[Any]) -> Iterator[Folder]:
    """Cut the columns of all rows, one folder's after the other's, into folders."""
    start = 0
    for source, path, parts, size, settled, problems, warnings in listed:
        end = start + size
        names, stamps, *others = table
        stamps = stamps[_STAMP_BYTES * start : _STAMP_BYTES * end]
        known = {name: (code, reason) for name, (code, reason) in problems.items()}
        said = tuple(ManifestWarning(*warning) for warning in warnings)
        rows: list[Any] = [names[start:end], stamps, *(column[start:end] for column in others)]
        yield Folder(source, path, tuple(parts), *rows, *[settled, known, said])
        start = end


def _join_columns(columns: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(columns))


def _number_array(column: memoryview[Any]) -> array[int]:
    return array(column.format, column.tobytes())
