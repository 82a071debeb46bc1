"""Tools that are read when they are looked at, and what is known of each without that (spec §13).

Pure but for the decoder a `ToolTable` is given. The index that keeps the tools between runs is
`routing/index/discovery_index.py`. A shared tool that a domain tool shadows is found here. Two
tools with the same name: a duplicate id is refused in `routing/index/catalogue_builder.py`, an
ambiguous name in `routing/tool_discovery.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, fields
from typing import overload

from pulsus.core.types import Manifest, ToolSpec
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Columns:
    """The facts known of every tool, by position; all columns have the same length.

    `sha256` are hex digests of the modules' bytes; `hints` those of the manifests' content, empty
    where there is no manifest. `digest` is a hex SHA-256 over it all: equal digests, equal tools.
    """

    ids: tuple[str, ...]
    sha256: tuple[str, ...]
    hints: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, ids: Iterable[str], sha256: Iterable[str], hints: Iterable[str]) -> Columns:
        """Return the columns with their digest."""
        own, hashes, said = tuple(ids), tuple(sha256), tuple(hints)
        rows = map(" ".join, zip(own, hashes, said, strict=True))
        digest = hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()
        return cls(own, hashes, said, digest)


@dataclass(frozen=True)
class ToolTable(Sequence[ToolSpec]):
    """Tools by position, each decoded once, when it is first asked for.

    Equal to any sequence of the same tools. `decode` gives the tool at a position.
    """

    columns: Columns
    decode: Callable[[int], ToolSpec]
    _known: dict[int, ToolSpec] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns.ids)

    @overload
    def __getitem__(self, at: int) -> ToolSpec: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[ToolSpec, ...]: ...
    def __getitem__(self, at: int | slice) -> ToolSpec | tuple[ToolSpec, ...]:
        if isinstance(at, slice):
            return tuple(self[n] for n in range(*at.indices(len(self))))
        n = range(len(self))[at]
        found = self._known.get(n)
        if found is None:
            found = self._known[n] = self.decode(n)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(own == its for own, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(self.columns.ids)


def make_columns(tools: Sequence[ToolSpec]) -> Columns:
    """Return the columns of `tools`, without decoding a `ToolTable`."""
    if isinstance(tools, ToolTable):
        return tools.columns
    return Columns.of(
        (t.id for t in tools),
        (t.sha256 for t in tools),
        (hash_hints(t.manifest) for t in tools),
    )


def list_shadowed(ids: Sequence[str]) -> list[tuple[int, int]]:
    """Return (shared tool, domain tool that hides it) by position: same action, same name (spec
    §9).
    """
    shared = {own.partition("/")[2]: n for n, own in enumerate(ids) if own.startswith("shared/")}
    if not shared:
        return []
    return [
        (shared[rest], n)
        for n, (domain, _, rest) in enumerate(own.partition("/") for own in ids)
        if rest in shared and domain != "shared"
    ]


def hash_hints(manifest: Manifest | None) -> str:
    """Return a hex digest of a manifest's contents, wherever it lies; "" for none."""
    if manifest is None:
        return ""
    values = [getattr(manifest, f.name) for f in fields(manifest) if f.name != "path"]
    return hashlib.sha256(repr(values).encode("utf-8", "replace")).hexdigest()
