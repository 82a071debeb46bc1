"""A listed folder as rows, each file read or remembered (spec §13). Effect: reads files.

A file that did not change is not read again: `routing/index/file_freshness.py` decides that. A file
larger than `discovery.max_file_bytes` is refused when it is read. One with a syntax error becomes a
broken tool in `core/contract/tool_parser.py`. More than 500 new modules are read in parallel
processes. Links and hidden files are refused or ignored in `routing/discovery/module_files.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from pulsus.core.contract.tool_table import hash_hints
from pulsus.core.system import regular_files
from pulsus.core.system.fork_pool import map_in_processes, worker_count
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.routing.discovery.module_files import Listing, choose_manifests, is_manifest
from pulsus.routing.discovery.tool_path import InvalidToolPath, ToolPath, parse_tool_path
from pulsus.routing.index.file_freshness import (
    NO_VALUE,
    Content,
    Folder,
    ManifestWarning,
    Row,
    Stamp,
    folder_of_rows,
)
from pulsus.routing.index.value_codec import LoadedManifest, Value
from pulsus.routing.index.value_store import DamagedValue, ValueStore, to_json

CANDIDATE = "candidate"
"""Action and id prefix of a module outside the catalogue."""

MANY_MODULES = 500
"""Below this number of new modules, starting processes takes longer than reading them."""


class ModuleReader:
    """Reads what changed since `known` (folders by path). `max_bytes` limits a module."""

    def __init__(
        self,
        max_bytes: int,
        known: dict[str, Folder] | None = None,
        values: ValueStore | None = None,
        now_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        self.max_bytes = max_bytes
        self._known = known or {}
        self.values = values or ValueStore()
        self._now_ns = now_ns
        self._ahead: dict[str, _ReadModule] = {}

    def folders(self, listed: Sequence[tuple[int, Listing]]) -> list[Folder]:
        """Return the rows of every listed folder; several processes read many new modules."""
        listings = [listing for _, listing in listed if listing.path not in self._known]
        new = [item for listing in listings for item in _modules_in_place(listing)]
        if worker_count(len(new), MANY_MODULES):
            found = map_in_processes(self._read_ahead, new, least=MANY_MODULES)
            self._ahead.update(each for each in found if each is not None)
        return [self.folder(source, listing) for source, listing in listed]

    def _read_ahead(self, item: _Module) -> tuple[str, _ReadModule] | None:
        """Return the path and content of a module, to be passed on from one process to another."""
        try:
            read_ns = self._now_ns()
            data, found = regular_files.read_file(item.path, self.max_bytes)
        except regular_files.UnreadableFile:
            return None
        value = self.parse_module(data, item.path, item.place)
        stamp = (found.mtime_ns, found.ctime_ns, found.size, found.inode)
        sha256 = hashlib.sha256(data).hexdigest()
        return str(item.path), (stamp, read_ns, sha256, _content_kind(value), to_json(value))

    def folder(self, source: int, listing: Listing) -> Folder:
        """Return the rows of a listed folder; the very folder that is known where nothing is
        new.
        """
        known = self._known.get(listing.path)
        if known and (known.source, known.parts) != (source, listing.parts):
            known = None
        if (
            known
            and known.settled
            and known.stamps == listing.stamps.tobytes()
            and known.names == listing.names
        ):
            return known
        fresh = _FolderReader(self, listing, known).read(source)
        if known and not _is_different(known, fresh):
            return known
        return fresh

    def module(self, path: Path, real: Path, where: ToolPath) -> Value:
        """Read the module at `real` and return what it defines. Raises Unreadable."""
        return self.parse_module(regular_files.read_file(real, self.max_bytes)[0], path, where)

    def parse_module(self, data: bytes, path: Path, where: ToolPath) -> ToolSpec | BrokenTool:
        """Return the tool that these bytes define."""
        from pulsus.core.contract.tool_parser import (
            read_tool,  # nothing is parsed if nothing changed
        )

        return read_tool(
            data,
            path=path,
            tool_id=where.id,
            domain=where.domain,
            action=where.action,
            name=where.name,
            max_bytes=self.max_bytes,
        )

    def read(
        self,
        row: Row | None,
        name: str,
        stamp: Stamp,
        real: Path,
        limit: int,
        parse: Callable[[bytes], Value],
    ) -> Row:
        """Return the row of one file: as known, or read now. Raises Unreadable."""
        if row and row.kind in ("unread", "unused"):
            row = None
        if row and row.trusted(stamp):
            return row
        seen = self._ahead.pop(str(real), None) if row is None else None
        if seen:
            stamp, read_ns, sha256, kind, value = seen
            return Row(name, stamp, read_ns, sha256, kind, self.values.add(value))
        read_ns = self._now_ns()
        data, found = regular_files.read_file(real, limit)
        sha256 = hashlib.sha256(data).hexdigest()
        now = (found.mtime_ns, found.ctime_ns, found.size, found.inode)
        if row and row.sha256 == sha256:
            again = replace(row, stamp=now, read_ns=read_ns)
            # Still too young to be trusted: nothing worth writing has been learned.
            return again if again.trusted(now) else row
        parsed = parse(data)
        return Row(name, now, read_ns, sha256, _content_kind(parsed), self.values.add(parsed))


def define_tool(
    source: bytes, path: Path, workflows_root: Path, *, max_bytes: int
) -> ToolSpec | BrokenTool:
    """Return the tool that these bytes define at `path`.

    Outside the catalogue it is a candidate: its id is `candidate/NAME`.
    """
    where: ToolPath | InvalidToolPath | None = None
    if path.is_relative_to(workflows_root):
        where = parse_tool_path(path.relative_to(workflows_root).parts)
    if not isinstance(where, ToolPath):
        where = ToolPath(f"{CANDIDATE}/{path.stem}", None, CANDIDATE, path.stem)
    return ModuleReader(max_bytes).parse_module(source, path, where)


@dataclass(slots=True)
class _FolderReader:
    """One folder being read again."""

    reader: ModuleReader
    listing: Listing
    known: Folder | None
    rows: dict[str, Row] = field(default_factory=dict)
    problems: dict[str, tuple[str, str]] = field(default_factory=dict)
    warnings: list[ManifestWarning] = field(default_factory=list)

    def read(self, source: int) -> Folder:
        before = self.known.rows() if self.known else {}
        numbers = iter(self.listing.stamps)
        stamps = dict(zip(self.listing.names, zip(*[numbers] * 4, strict=True), strict=True))
        modules = self._read_modules(before, stamps)
        chosen, warnings = choose_manifests(modules, [name for name in stamps if is_manifest(name)])
        self.warnings += [ManifestWarning("", name, text) for name, text in warnings]
        for name in modules:
            hints = chosen.get(name)
            if hints and self.rows[name].kind == "tool":
                self._read_manifest(name, hints, before, stamps[hints])
            else:
                self.rows[name] = replace(self.rows[name], hints="", said="")
        for name in stamps:
            if name not in self.rows:
                self.rows[name] = Row(name, stamps[name], 0, "", "unused")
        rows = [self.rows[name] for name in stamps]
        path, parts = self.listing.path, self.listing.parts
        return folder_of_rows(source, path, parts, rows, self.problems, tuple(self.warnings))

    def _read_modules(self, before: dict[str, Row], stamps: dict[str, Stamp]) -> list[str]:
        """Read every module; the names of those that lie where a tool may lie."""
        placed = []
        for name in stamps:
            if is_manifest(name):
                continue
            where = parse_tool_path((*self.listing.parts, name))
            if isinstance(where, InvalidToolPath):
                self.problems[name] = (where.code, where.reason)
                self.rows[name] = Row(name, stamps[name], 0, "", "unused")
            else:
                placed.append(name)
                self.rows[name] = self._read_module(before.get(name), name, stamps[name], where)
        return placed

    def _read_module(self, before: Row | None, name: str, stamp: Stamp, where: ToolPath) -> Row:
        path = Path(self.listing.path, name)

        def parse(data: bytes) -> Value:
            return self.reader.parse_module(data, path, where)

        real = self.listing.links.get(name, path)
        try:
            row = self.reader.read(before, name, stamp, real, self.reader.max_bytes, parse)
        except regular_files.UnreadableFile as error:
            self.problems[name] = (error.code, error.reason)
            return Row(name, stamp, 0, "", "unread")
        if row.kind == "broken":
            self.problems[name] = self._problem_of(row, name)
            row = replace(row, ref=NO_VALUE)
        return row

    def _problem_of(self, row: Row, name: str) -> tuple[str, str]:
        if row.ref == NO_VALUE and self.known:
            return self.known.problems[name]
        value = self.reader.values.get(row.ref)
        assert isinstance(value, BrokenTool)
        return value.code, value.reason

    def _read_manifest(self, module: str, name: str, before: dict[str, Row], stamp: Stamp) -> None:
        from pulsus.routing.discovery import manifest  # only where a manifest is to be looked at

        path = Path(self.listing.path, name)

        def parse(data: bytes) -> Value:
            return manifest.parse_manifest(data, path)

        row = before.get(name)
        try:
            row = self.reader.read(row, name, stamp, path, manifest.MAX_BYTES, parse)
            loaded = self.reader.values.get(row.ref)
        except DamagedValue:
            row = self.reader.read(None, name, stamp, path, manifest.MAX_BYTES, parse)
            loaded = self.reader.values.get(row.ref)
        except regular_files.UnreadableFile as error:
            row, loaded = Row(name, stamp, 0, "", "unread"), LoadedManifest(None, (error.reason,))
        assert isinstance(loaded, LoadedManifest)
        self.warnings += [
            ManifestWarning(module, name, text, loaded.code) for text in loaded.warnings
        ]
        self.rows[name] = row
        said = hash_hints(loaded.manifest)
        self.rows[module] = replace(
            self.rows[module], hints=name if loaded.manifest else "", said=said
        )


class _Module(NamedTuple):
    """A module to look at: where it is listed, which is the file to open, and what it would be."""

    path: Path
    place: ToolPath


def _modules_in_place(listing: Listing) -> Iterator[_Module]:
    """Yield the modules of a folder that are read from where they are listed."""
    for name in listing.names:
        where = parse_tool_path((*listing.parts, name))
        if isinstance(where, ToolPath) and name not in listing.links and not is_manifest(name):
            path = Path(listing.path, name)
            yield _Module(path, where)


_ReadModule = tuple[Stamp, int, str, Content, bytes]


def _content_kind(value: Value) -> Content:
    match value:
        case BrokenTool():
            return "broken"
        case LoadedManifest():
            return "hints"
        case _:
            return "tool"


def _is_different(one: Folder, other: Folder) -> bool:
    """Return True if two readings of a folder differ in more than the order of the files."""
    same = one.problems == other.problems and sorted(one.warnings) == sorted(other.warnings)
    return not same or one.rows() != other.rows()
