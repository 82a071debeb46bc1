"""Choose the columns of a table that fit into a terminal, and the width of each. Pure.

Text in a cell is shortened in `cli/results/text_cells.py`, and the rows shown are limited in
`cli/results/result_lines.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence, Set
from dataclasses import replace

from pulsus.cli.results.text_cells import cells, heading_pieces, is_local_time
from pulsus.core.text.value_units import short_heading
from pulsus.fast_dataclass import dataclass

GAP = 2
"""Blanks between two columns."""

_WIDE_TEXT, _NARROW_TEXT = 32, 16
"""A text is shortened to the first width before a column is left out, to the second after that."""
_SHORT_WORD, _SHORT_FIRST_WORD = 12, 24
"""Words up to this width all fit: a second line for one of them saves too little."""
_FIRST_SHARE = 0.35
"""The part of the width that the first column keeps, if its cells may stand on their own line."""
_KEPT_LONGEST = frozenset(
    ("error", "errors", "problem", "problems", "message", "reason", "status", "state", "risk")
)
"""Columns that say what is wrong: left out after all others."""


@dataclass(frozen=True)
class TableColumn:
    """One column: its heading and the text of each of its cells.

    `right` aligns numbers. A cell with blanks can be shortened; a single word never is.
    `empty` and `constant` say that the cells tell nothing, or the same in every row.
    """

    name: str
    heading: str
    cells: tuple[str, ...]
    right: bool = False
    empty: bool = False
    constant: bool = False

    @functools.cached_property
    def widths(self) -> tuple[int, ...]:
        """The columns that each cell takes."""
        return tuple(cells(cell) for cell in self.cells)

    @functools.cached_property
    def natural(self) -> int:
        """The width at which nothing is shortened."""
        return max(cells(self.heading), *self.widths, 1)

    @functools.cached_property
    def is_text(self) -> bool:
        """True if a cell has several words, so that it can be shortened. A time stays whole."""
        texts = (cell for cell in self.cells if not is_local_time(cell))
        return not self.right and any(" " in cell for cell in texts)

    def smallest(self, width: int, text: int, *, first: bool) -> int:
        """Return the least width that is still useful in a table of `width` columns.

        Texts take `text` columns. Two thirds of the long words fit; the others stand on their own
        line.
        """
        heading = max(cells(piece.rstrip()) for piece in heading_pieces(self.heading))
        if self.right:
            return max(heading, *self.widths)
        if self.is_text:
            return max(min(heading, text), min(self.natural, text))
        long = self.natural > (_SHORT_FIRST_WORD if first else _SHORT_WORD)
        usual = sorted(self.widths)[(2 * len(self.widths) - 1) // 3 if long else -1]
        usual = max(heading, usual)
        return min(usual, max(_NARROW_TEXT, int(width * _FIRST_SHARE))) if first else usual


@dataclass(frozen=True)
class FittedTable:
    """The columns to show, the width of each, and the headings of those left out."""

    columns: tuple[TableColumn, ...]
    widths: tuple[int, ...]
    left_out: tuple[str, ...] = ()


def natural_table(columns: Sequence[TableColumn]) -> FittedTable:
    """Return the table with every column at its full width."""
    return FittedTable(tuple(columns), tuple(column.natural for column in columns))


def fit_columns(
    columns: Sequence[TableColumn], width: int, request: Set[str] = frozenset()
) -> FittedTable:
    """Return the table for `width` columns of a terminal.

    By need, in this order: headings lose the unit that the cells show, columns without a value go,
    texts are shortened, columns that say the same in every row or repeat an earlier column go, then
    the last columns. A column that the words of the `request` name stays as long as one that says
    what is wrong.
    """
    if _total([column.natural for column in columns]) <= width:
        return natural_table(columns)
    shown = _with_short_headings(columns)
    if _total([column.natural for column in shown]) <= width:
        return natural_table(shown)
    shown = [c for n, c in enumerate(shown) if n == 0 or not c.empty]
    kept = _KEPT_LONGEST.union(c.name for c in shown if _is_named(c.name, request))
    shown = _drop(shown, width, _WIDE_TEXT, kept, only_constant=True)
    shown = _drop(shown, width, _NARROW_TEXT, kept, only_constant=False)
    names = {column.name for column in shown}
    left_out = tuple(column.heading for column in columns if column.name not in names)
    return FittedTable(tuple(shown), _widen(shown, width), left_out)


def _with_short_headings(columns: Sequence[TableColumn]) -> list[TableColumn]:
    short = [short_heading(column.heading) for column in columns]
    taken = [column.heading for column in columns]
    return [
        replace(column, heading=new) if short.count(new) == 1 and new not in taken else column
        for column, new in zip(columns, short, strict=True)
    ]


def _is_named(name: str, request: Set[str]) -> bool:
    """Return True if all words of a column's name are among the words of the request."""
    words = name.casefold().split("_")
    return all(word in request or f"{word}s" in request for word in words)


def _drop(
    columns: list[TableColumn], width: int, text: int, kept: Set[str], *, only_constant: bool
) -> list[TableColumn]:
    """Return the columns without the least useful ones; the first always stays."""
    shown = list(columns)
    while len(shown) > 1 and _total(_smallest(shown, width, text)) > width:
        rest = shown[1:]
        ordinary = [column for column in rest if column.name not in kept]
        constant = [column for column in ordinary if column.constant or _is_repeated(column, shown)]
        if only_constant and not constant:
            break
        shown.remove((constant or ordinary or rest)[-1])
    return shown


def _is_repeated(column: TableColumn, shown: Sequence[TableColumn]) -> bool:
    """Return True for texts that an earlier column shows too; equal numbers may be chance."""
    earlier = shown[: shown.index(column)]
    return not column.right and any(column.cells == other.cells for other in earlier)


def _smallest(columns: Sequence[TableColumn], width: int, text: int) -> list[int]:
    return [column.smallest(width, text, first=n == 0) for n, column in enumerate(columns)]


def _widen(columns: Sequence[TableColumn], width: int) -> tuple[int, ...]:
    """Return widths that use all of `width`: words come before texts, from left to right."""
    widths = [min(smallest, width) for smallest in _smallest(columns, width, _NARROW_TEXT)]
    order = sorted(range(len(columns)), key=lambda n: (columns[n].is_text, n))
    for n in order:
        room = width - _total(widths)
        widths[n] += max(min(columns[n].natural - widths[n], room), 0)
    return tuple(widths)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
