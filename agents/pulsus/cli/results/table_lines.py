"""Records as the lines of a table; a word is never broken. Pure.

A text has at most three lines in a cell; columns are chosen in `cli/results/fit_columns.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from pulsus.cli.results import value_text
from pulsus.cli.results.fit_columns import GAP, FittedTable, TableColumn
from pulsus.cli.results.text_cells import cells, fold, fold_head, on_one_line, pad, shorten

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue

Record = Mapping[str, "JsonValue"]

_TEXT_LINES = 3
"""Lines that a text in the last column may take."""
NESTED_WIDTH = 30
"""Columns that a list or mapping may take in a cell before it is folded."""


def is_records(value: JsonValue) -> bool:
    """Return True for a list of mappings that holds at least one."""
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def readable_columns(records: Sequence[Record], *, full: bool) -> list[TableColumn]:
    """Return the columns for a person; `full` writes out lists and mappings."""
    most = None if full else NESTED_WIDTH
    return [
        _column(name, values, [value_text.readable(name, value, most) for value in values])
        for name, values in _values(records)
    ]


def exact_columns(records: Sequence[Record]) -> list[TableColumn]:
    """Return the columns for other programs: exact values under their exact names."""
    return [
        _column(name, values, [value_text.exact(value) for value in values])
        for name, values in _values(records)
    ]


def count_folded(records: Sequence[Record], columns: Sequence[TableColumn]) -> int:
    """Return how many cells of these columns stand for a list or mapping without showing it."""
    return sum(
        value_text.is_folded(record.get(column.name), cell)
        for column in columns
        for record, cell in zip(records, column.cells, strict=True)
    )


def head_lines(table: FittedTable) -> Iterator[str]:
    """Yield the headings, long ones on several lines, the last line of each at the bottom."""
    heads = [
        fold_head(column.heading, width)
        for column, width in zip(table.columns, table.widths, strict=True)
    ]
    for row in list(zip_longest(*(reversed(head) for head in heads), fillvalue=""))[::-1]:
        parts = [
            pad(_cut(text, width), width, right=column.right)
            for text, column, width in zip(row, table.columns, table.widths, strict=True)
        ]
        yield (" " * GAP).join(parts).rstrip()


def row_lines(table: FittedTable, width: int | None) -> Iterator[str]:
    """Yield every row. A word that is too wide for its column ends the line there.

    The rest of the row follows on the next line, in its own columns. A text in the last column
    takes up to three lines. `width` is the terminal's; None means that every cell fits.
    """
    rows = len(table.columns[0].cells) if table.columns else 0
    for row in range(rows):
        yield from _row(table, row, width)


def is_cut(last: TableColumn, width: int) -> bool:
    """Return True if a text of the last column needs more lines than a row has."""
    return any(len(list(fold(cell, width))) > _TEXT_LINES for cell in last.cells)


def _row(table: FittedTable, row: int, width: int | None) -> Iterator[str]:
    line, start, overflowed = "", 0, False
    below: list[str] = []
    for column, wide in zip(table.columns, table.widths, strict=True):
        cell = column.cells[row]
        if column.is_text and column is table.columns[-1]:
            cell, *below = _text_lines(cell, wide)
        elif column.is_text:
            cell = shorten(cell, wide)
        if overflowed and cell:
            yield line.rstrip()
            line, overflowed = "", False
        taken = cells(cell)
        if taken <= wide:
            line = pad(line, start) + pad(cell, wide, right=column.right)
        else:
            if width is not None and start + taken > width and line.strip():
                yield line.rstrip()
                line = ""
            line, overflowed = pad(line, _indent(start, cell, width)) + cell, True
        start += wide + GAP
    yield line.rstrip()
    for text in below:
        indent = start - GAP - table.widths[-1]
        yield " " * _indent(indent, text, width) + text


def _indent(start: int, text: str, width: int | None) -> int:
    """Return where a text begins that should begin at `start`: further left if it is too wide."""
    return start if width is None else max(min(start, width - cells(text)), 0)


def _text_lines(text: str, width: int) -> list[str]:
    """Return the lines of a text in the last column; the last one is shortened if it must be."""
    lines = list(fold(text, width))
    if len(lines) <= _TEXT_LINES:
        return lines
    rest = " ".join(lines[_TEXT_LINES - 1 :])
    return [*lines[: _TEXT_LINES - 1], shorten(rest, width)]


def _cut(heading: str, width: int) -> str:
    """Return a heading that fits; it is a name, so a person still knows it by its beginning."""
    while cells(heading) > width:
        heading = heading[:-2] + "…" if len(heading) > 1 else ""
    return heading


def _values(records: Sequence[Record]) -> Iterator[tuple[str, list[JsonValue]]]:
    """Yield the name and the values of every field, in the order of the first record with it."""
    names = dict.fromkeys(name for record in records for name in record)
    for name in names:
        yield name, [record.get(name) for record in records]


def _column(name: str, values: Sequence[JsonValue], texts: Sequence[str]) -> TableColumn:
    given = [value for value in values if value is not None]
    return TableColumn(
        name,
        on_one_line(name) or '""',
        tuple(texts),
        right=bool(given) and all(value_text.is_number(value) for value in given),
        empty=all(value_text.is_empty(value) for value in values),
        constant=len(texts) > 1 and len(set(texts)) == 1,
    )
