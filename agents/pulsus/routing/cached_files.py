"""A listed file's content as a value, read or remembered (spec §13). Effect: reads files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from pulsus.core.contract import read_tool
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.routing import files, manifest
from pulsus.routing.files import Stamp
from pulsus.routing.index import Entry, Index
from pulsus.routing.index_codec import Value
from pulsus.routing.scan import ManifestFile, Module


class Reader:
    """Reads files, or asks `cache` (None: always reads). `max_bytes` limits a module."""

    def __init__(self, max_bytes: int, cache: Index | None) -> None:
        self._max_bytes = max_bytes
        self._cache = cache
        self._known = cache.entries() if cache else {}
        self._seen: dict[str, Entry] = {}

    def tool(self, module: Module) -> ToolSpec | BrokenTool:
        """What the module is."""

        def parse(data: bytes) -> Value:
            return read_tool(
                data,
                path=module.path,
                tool_id=module.place.id,
                domain=module.place.domain,
                action=module.place.action,
                name=module.place.name,
                max_bytes=self._max_bytes,
            )

        key = f"{module.place.id} {module.path}"
        try:
            value = self._read(key, module.real, module.stamp, self._max_bytes, parse)
        except files.Unreadable as error:
            return BrokenTool(module.path, error.code, error.reason)
        assert not isinstance(value, manifest.Loaded)
        return value

    def manifest(self, file: ManifestFile) -> manifest.Loaded:
        """What the manifest says."""

        def parse(data: bytes) -> Value:
            return manifest.parse(data, file.path)

        try:
            value = self._read(str(file.path), file.path, file.stamp, manifest.MAX_BYTES, parse)
        except files.Unreadable as error:
            return manifest.Loaded(None, (error.reason,))
        assert isinstance(value, manifest.Loaded)
        return value

    def finish(self) -> tuple[str, ...]:
        """Keep what was read. Returns the index's warnings."""
        if self._cache is None:
            return ()
        self._cache.replace(self._seen)
        return self._cache.warnings

    def _read(
        self, key: str, real: Path, stamp: Stamp, limit: int, parse: Callable[[bytes], Value]
    ) -> Value:
        entry = self._known.get(key)
        if entry is None or not entry.trusted(stamp):
            entry = self._fresh(entry, real, limit, parse)
        self._seen[key] = entry
        return entry.value

    def _fresh(
        self, known: Entry | None, real: Path, limit: int, parse: Callable[[bytes], Value]
    ) -> Entry:
        read_ns = self._cache.now_ns() if self._cache else 0
        data, stamp = files.read(real, limit)
        sha256 = hashlib.sha256(data).hexdigest()
        if known is None or known.sha256 != sha256:
            return Entry(stamp, sha256, read_ns, parse(data))
        fresh = Entry(stamp, sha256, read_ns, known.value)
        # Still too young to be trusted: nothing worth writing has been learned.
        return fresh if fresh.trusted(stamp) else known
