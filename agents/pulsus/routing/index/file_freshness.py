"""The files of one folder, as they were when they were read (spec §13). Pure.

Decides if a cached row is stale: mtime, ctime, size or inode changed, or the file was changed
within two seconds before it was read. A stale knowledge fact is decided in `kb/facts.py`.

Columns, not objects: ten thousand rows are loaded, compared and written on the warm path.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, NamedTuple

from pulsus.core.types import WarningCode
from pulsus.fast_dataclass import dataclass

RACY_NS = 2_000_000_000
"""Coarsest clock of a file system in use (FAT: 2 s)."""

Content = Literal["tool", "broken", "hints", "unread", "unused"]
"""`unread`: the system refused; asked again each time. `unused`: a manifest of no tool."""

LETTERS: Mapping[Content, str] = {
    "tool": "T",
    "broken": "B",
    "hints": "H",
    "unread": "U",
    "unused": "X",
}
NO_VALUE = -1 << 62

Stamp = tuple[int, int, int, int]
"""mtime and ctime in ns, size, inode: what changes when a file does."""


@dataclass(frozen=True, slots=True)
class Row:
    """One file as it was read at `read_ns` (wall clock). `ref` refers to its value.

    `hints` names the manifest of a tool, and `said` is the digest of its content.
    """

    name: str
    stamp: Stamp
    read_ns: int
    sha256: str
    kind: Content
    ref: int = NO_VALUE
    hints: str = ""
    said: str = ""

    def trusted(self, stamp: Stamp) -> bool:
        """Return True if a file with this stamp still holds the bytes that were read.

        A file that changed just before it was read may change again within one tick of the file
        system's clock and keep its stamp (git's rule for racy entries).
        """
        if self.kind in ("unread", "unused"):
            return self.kind == "unused"
        return stamp == self.stamp and max(stamp[:2]) + RACY_NS <= self.read_ns


class ManifestWarning(NamedTuple):
    """A warning about the manifest `name`. `module` is its tool, or "" if it has none."""

    module: str
    name: str
    text: str
    code: WarningCode = "WARNING"


@dataclass(frozen=True, slots=True)
class Folder:
    """Rows of one folder, `parts` below source number `source`; columns of one length.

    `settled` says that every row is trusted while names and stamps are these. `problems` maps a
    module to the code and reason for which it is no tool.
    """

    source: int
    path: str
    parts: tuple[str, ...]
    names: Sequence[str]
    stamps: bytes
    read_ns: Sequence[int]
    sha256: Sequence[str]
    kinds: str
    refs: Sequence[int]
    hints: Sequence[int]
    said: Sequence[str]
    settled: bool
    problems: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    warnings: tuple[ManifestWarning, ...] = ()

    @property
    def prefix(self) -> str:
        """The beginning of the ids of its tools."""
        own = ("shared", *self.parts[1:2]) if self.parts[0] == "shared_tools" else self.parts[1:3]
        return "/".join((*own, ""))

    def rows(self) -> dict[str, Row]:
        """Return its rows by name."""
        stamps = array("q", self.stamps)
        kinds = {letter: kind for kind, letter in LETTERS.items()}
        return {
            name: Row(
                name,
                (stamps[4 * n], stamps[4 * n + 1], stamps[4 * n + 2], stamps[4 * n + 3]),
                self.read_ns[n],
                self.sha256[n],
                kinds[self.kinds[n]],
                self.refs[n],
                self.names[self.hints[n]] if self.hints[n] >= 0 else "",
                self.said[n],
            )
            for n, name in enumerate(self.names)
        }


def folder_of_rows(
    source: int,
    path: str,
    parts: tuple[str, ...],
    rows: Sequence[Row],
    problems: Mapping[str, tuple[str, str]],
    warnings: tuple[ManifestWarning, ...],
) -> Folder:
    """Return the folder of these rows."""
    at = {row.name: n for n, row in enumerate(rows)}
    return Folder(
        source,
        path,
        parts,
        [row.name for row in rows],
        array("q", [number for row in rows for number in row.stamp]).tobytes(),
        array("q", (row.read_ns for row in rows)),
        [row.sha256 for row in rows],
        "".join(LETTERS[row.kind] for row in rows),
        array("q", (row.ref for row in rows)),
        array("i", (at.get(row.hints, -1) if row.hints else -1 for row in rows)),
        [row.said for row in rows],
        all(row.trusted(row.stamp) for row in rows),
        problems,
        warnings,
    )
