"""Build the catalogue: which rows are tools, and collisions of their ids (spec §4, §9). Pure.

Duplicates: two tools with the same name and place, so with one id, are both refused, and a later
source gets no id that is taken. A bare name that fits several tools is refused in
`routing/tool_discovery.py`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path

from pulsus.core.contract.tool_table import Columns
from pulsus.core.types import BrokenTool, CatalogueWarning, display_path
from pulsus.fast_dataclass import dataclass
from pulsus.routing.index.file_freshness import Folder


@dataclass(frozen=True, slots=True)
class BuiltCatalogue:
    """The tools in id order; `rows[n]` counts tool n's row through all folders.

    `warnings` and `broken` are what the files themselves are to blame for.
    """

    columns: Columns
    rows: Sequence[int]
    broken: tuple[BrokenTool, ...]
    warnings: tuple[CatalogueWarning, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Finds the folder of a row by the row's number in the whole catalogue."""

    folders: Sequence[Folder]
    starts: Sequence[int]

    @classmethod
    def of(cls, folders: Sequence[Folder]) -> Rows:
        """Return the numbering of these folders' rows."""
        return cls(folders, [0, *accumulate(len(f.names) for f in folders)])

    def find(self, row: int) -> tuple[Folder, int]:
        """Return the folder and the position in it."""
        at = bisect_right(self.starts, row) - 1
        return self.folders[at], row - self.starts[at]

    def number(self, at: int, name: str) -> int:
        """Return the row of a file of that folder."""
        return self.starts[at] + list(self.folders[at].names).index(name)


_Refused = dict[int, tuple[str, list[Path]]]
"""Rows whose id is taken: the id and the modules that claim it."""


def build_catalogue(folders: Sequence[Folder], roots: Sequence[Path]) -> BuiltCatalogue:
    """Return the catalogue of these folders; `roots` are what their paths are shown relative to.

    Two modules of one id in one source are both refused; one whose id an earlier source has is.
    """
    rows = Rows.of(folders)
    ids: list[str] = []
    numbers: list[int] = []
    claimed: list[str] = []
    for folder, start in zip(folders, rows.starts, strict=False):
        prefix, kinds = folder.prefix, folder.kinds
        mine = [n for n, kind in enumerate(kinds) if kind == "T"]
        ids += [prefix + folder.names[n][:-3] for n in mine]
        numbers += [start + n for n in mine]
        if "B" in kinds or "U" in kinds:
            claimed += [
                prefix + folder.names[n][:-3] for n in _list_claimants(folder) if n not in mine
            ]
    claimed += ids
    refused = _refused_duplicates(folders, rows) if len(set(claimed)) < len(claimed) else {}
    own = (n for n in range(len(ids)) if numbers[n] not in refused)
    order = sorted(own if refused else range(len(ids)), key=ids.__getitem__)
    kept = array("I", [numbers[n] for n in order])
    sha256 = list(chain.from_iterable(folder.sha256 for folder in folders))
    said = list(chain.from_iterable(folder.said for folder in folders))
    columns = Columns.of(
        [ids[n] for n in order], [sha256[row] for row in kept], [said[row] for row in kept]
    )
    broken = (*_duplicate_tools(refused, rows, roots), *_broken_tools(refused, rows))
    return BuiltCatalogue(columns, kept, broken, tuple(_list_warnings(refused, rows, roots)))


def _list_claimants(folder: Folder) -> list[int]:
    """Return the modules that lie in a tool's place, broken ones included."""
    return [
        n
        for n, (name, kind) in enumerate(zip(folder.names, folder.kinds, strict=True))
        if kind in "TBU" and name.endswith(".py")
    ]


def _refused_duplicates(folders: Sequence[Folder], rows: Rows) -> _Refused:
    claims: dict[str, list[tuple[int, Path, int]]] = defaultdict(list)
    for folder, start in zip(folders, rows.starts, strict=False):
        for n in _list_claimants(folder):
            name = folder.names[n]
            claim = (folder.source, Path(folder.path, name), start + n)
            claims[folder.prefix + name[:-3]].append(claim)
    refused = {}
    for tool_id, claimants in claims.items():
        for source, _, row in claimants:
            inside = [path for own, path, _ in claimants if own == source]
            before = sorted((own, path) for own, path, _ in claimants if own < source)
            if len(inside) > 1 or before:
                refused[row] = (tool_id, [*(path for _, path in before[:1]), *inside])
    return refused


def _duplicate_tools(refused: _Refused, rows: Rows, roots: Sequence[Path]) -> Iterator[BrokenTool]:
    for row, (tool_id, claimants) in refused.items():
        folder, n = rows.find(row)
        path = Path(folder.path, folder.names[n])
        root = roots[folder.source]
        others = ", ".join(display_path(root, p) for p in sorted(claimants) if p != path)
        reason = f"the id {tool_id} is also that of {others}; rename one"
        yield BrokenTool(path, "DUPLICATE_ID", reason)


def _broken_tools(refused: _Refused, rows: Rows) -> Iterator[BrokenTool]:
    for at, folder in enumerate(rows.folders):
        for name, (code, reason) in folder.problems.items():
            if not refused or rows.number(at, name) not in refused:
                yield BrokenTool(Path(folder.path, name), code, reason)


def _list_warnings(
    refused: _Refused, rows: Rows, roots: Sequence[Path]
) -> Iterator[CatalogueWarning]:
    for at, folder in enumerate(rows.folders):
        for module, name, text, code in folder.warnings:
            if not (refused and module) or rows.number(at, module) not in refused:
                yield CatalogueWarning(text, Path(folder.path, name), roots[folder.source], code)
