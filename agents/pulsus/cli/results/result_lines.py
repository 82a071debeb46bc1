"""A tool's result as lines, by its shape: failures first, then records, texts and values. Pure.

A person sees at most 30 rows, and nested values down to a depth; the rest is cut with a line on
`--full`. Columns are chosen in `cli/results/fit_columns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pulsus.cli.results import table_lines, value_text
from pulsus.cli.results.fit_columns import TableColumn, fit_columns, natural_table
from pulsus.cli.results.text_cells import cells, fold, on_one_line, pad
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue

Style = Literal["", "bold", "dim", "red", "yellow", "ansi"]
Line = tuple[Style, str]
"""A line and how it is shown; `ansi` has colours of its own."""

MOST_ROWS = 30
"""Rows of a table, items of a list and lines of a text on a terminal, without `--full`."""
FULL = "--full shows"
_DEEPEST = 4
"""Levels that `--full` indents; below them a value is JSON on one line."""
_LEAST_WIDTH = 20
_WARNINGS = ("warning", "warnings")
_MARKDOWN = ("markdown", "report_markdown")
_PLAIN_BLOCKS = ("rows", *_MARKDOWN)
"""Blocks that need no heading if a result has no other one."""


@dataclass(frozen=True)
class ResultView:
    """The reader of a result and what they want to see.

    `width` is the columns of the reader's terminal; None is for other programs, with every value
    exact. `most_rows` limits tables and texts; None shows all. `full` shortens and folds nothing.
    `markdown` renders a text for the terminal; None leaves it as it is. `why_not_ok` says in words
    what is wrong if `ok` of the result is false. `request` are the words of the request: a table
    keeps the columns that they name.
    """

    width: int | None
    most_rows: int | None = None
    full: bool = False
    markdown: Callable[[str, int], list[str]] | None = None
    why_not_ok: str = ""
    request: frozenset[str] = frozenset()
    has_full: bool = True
    """If False the command has no `--full`, so no line names it."""


def result_lines(result: JsonValue, view: ResultView) -> Iterator[Line]:
    """Yield the lines of a result of any shape."""
    if view.width is None:
        yield from _exact_lines(result)
        return
    folded = _Folded()
    wide = replace(view, width=max(view.width, _LEAST_WIDTH))
    if view.full:
        wide = replace(wide, most_rows=None)
    yield from _readable_lines(result, wide, folded, 0)
    if folded.values and view.has_full:
        hint = f"({FULL} values that are folded or cut)"
        yield from (("dim", line) for line in fold(hint, wide.width or 0, hanging=2))


class _Folded:
    """Remembers if some value is not shown in full; one line at the end says so."""

    def __init__(self) -> None:
        self.values = False


def _readable_lines(
    value: JsonValue, view: ResultView, folded: _Folded, depth: int
) -> Iterator[Line]:
    width = view.width or 0
    match value:
        case dict():
            yield from _mapping(value, view, folded, depth)
        case list() if table_lines.is_records(value):
            yield from _records(value, view, folded, depth)  # type: ignore[arg-type]
        case list() if value:
            shown = value[: view.most_rows]
            for item in shown:
                text = value_text.readable("", item, None if view.full else width)
                folded.values |= value_text.is_folded(item, text)
                yield from (("", line) for line in fold(text, width, hanging=2))
            yield from _more(len(value) - len(shown), "item", view)
        case str() if "\n" in value.strip():
            yield from _text(value, view)
        case _:
            yield from (("", line) for line in fold(value_text.readable("", value), width))


def _mapping(
    value: Mapping[str, JsonValue], view: ResultView, folded: _Folded, depth: int
) -> Iterator[Line]:
    """Yield what failed, then tables and long texts under their names, then all other values."""
    first = [name for name in value if _is_failure(name, value[name])]
    for name in first:
        style: Style = "yellow" if name in _WARNINGS else "red"
        yield from ((style, line) for _, line in _failure(name, value[name], view))
    deep = depth >= _DEEPEST
    blocks = [n for n in value if n not in first and not deep and _is_block(value[n])]
    rest = [name for name in value if name not in first and name not in blocks]
    spaced = bool(first)
    for name in blocks:
        if spaced:
            yield "", ""
        spaced = True
        if len(blocks) > 1 or (name not in _PLAIN_BLOCKS and rest):
            yield from (("bold", line) for line in fold(on_one_line(name), view.width or 0))
        yield from _readable_block(name, value[name], view, folded, depth)
    if rest and spaced:
        yield "", ""
    yield from _scalars({name: value[name] for name in rest}, view, folded, depth)
    if not value:
        yield "", value_text.NOTHING


def _is_failure(name: str, value: JsonValue) -> bool:
    """Return True for what a reader must see first: `ok: false`, an error, warnings."""
    if name == "ok":
        return value is False
    if name == "error":
        return not value_text.is_empty(value) and value is not False
    texts = value if isinstance(value, list) else [value]
    return name in _WARNINGS and bool(texts) and all(isinstance(t, str) and t for t in texts)


def _failure(name: str, value: JsonValue, view: ResultView) -> Iterator[Line]:
    label = {"ok": "not ok"}.get(name, "warning" if name in _WARNINGS else name)
    for each in value if isinstance(value, list) else [value]:
        text = view.why_not_ok if name == "ok" else value_text.readable(name, each)
        head = f"{label}  "
        yield from (
            ("", line) for line in fold(text, view.width or 0, first=head, hanging=len(head))
        )


def _is_block(value: JsonValue) -> bool:
    return table_lines.is_records(value) or (isinstance(value, str) and "\n" in value.strip())


def _readable_block(
    name: str, value: JsonValue, view: ResultView, folded: _Folded, depth: int
) -> Iterator[Line]:
    if isinstance(value, str) and name in _MARKDOWN and view.markdown:
        lines = view.markdown(strip_controls(value), view.width or 0)
        shown = lines[: view.most_rows]
        yield from (("ansi", line) for line in shown)
        yield from _more(len(lines) - len(shown), "line", view)
        return
    yield from _readable_lines(value, view, folded, depth)


def _text(value: str, view: ResultView) -> Iterator[Line]:
    """Yield the lines of a text; a long one is folded at blanks and keeps its indentation."""
    lines = [strip_controls(line).expandtabs() for line in strip_controls(value).splitlines()]
    shown = lines[: view.most_rows]
    for line in shown:
        if cells(line) <= (view.width or 0):
            yield "", line.rstrip()
            continue
        start = min(len(line) - len(line.lstrip(" ")), (view.width or 0) // 2)
        yield from (("", part) for part in fold(line, view.width or 0, " " * start, start))
    yield from _more(len(lines) - len(shown), "line", view)


def _scalars(
    values: Mapping[str, JsonValue], view: ResultView, folded: _Folded, depth: int
) -> Iterator[Line]:
    """Yield `name  value` for each, the values below each other."""
    width = view.width or 0
    names = {name: on_one_line(name) or '""' for name in values}
    column = min(max(map(cells, names.values()), default=0), width // 2) + 2
    for name, value in values.items():
        head = names[name]
        if view.full and _is_tree(value) and depth < _DEEPEST:
            yield from (("", line) for line in fold(head, width))
            inner = replace(view, width=width - 2)
            for style, line in _readable_lines(value, inner, folded, depth + 1):
                yield style, f"  {line}".rstrip()
            continue
        if cells(head) + 2 > column:
            yield from (("", line) for line in fold(head, width))
            head = ""
        text = value_text.readable(name, value, None if view.full else 2 * (width - column))
        folded.values |= value_text.is_folded(value, text)
        yield from (("", line) for line in fold(text, width, pad(head, column), column))


def _is_tree(value: JsonValue) -> bool:
    """Return True for a value that is easier to read on lines of its own."""
    if isinstance(value, dict):
        return bool(value)
    return isinstance(value, list) and any(value_text.is_nested(item) for item in value)


def _records(
    records: Sequence[table_lines.Record], view: ResultView, folded: _Folded, depth: int
) -> Iterator[Line]:
    shown = records[: view.most_rows]
    width = view.width or 0
    columns = table_lines.readable_columns(shown, full=view.full)
    if not columns:
        yield "", f"{len(records)} empty records"
        return
    table = fit_columns(columns, width, view.request)
    if view.full and (table.left_out or not _is_whole(table.columns, table.widths)):
        for number, record in enumerate(shown, 1):
            yield "bold", f"{number} of {len(records)}"
            for style, line in _mapping(record, replace(view, width=width - 2), folded, depth + 1):
                yield style, f"  {line}".rstrip()
        return
    yield from (("bold", line) for line in table_lines.head_lines(table))
    yield from (("", line) for line in table_lines.row_lines(table, width))
    whole = _is_whole(table.columns, table.widths)
    folded.values |= not whole or table_lines.count_folded(shown, table.columns) > 0
    yield from _more(len(records) - len(shown), "row", view)
    if table.left_out:
        text = f"(not shown: {', '.join(table.left_out)}{_full_hint(view)})"
        yield from (("dim", line) for line in fold(text, width, hanging=2))


def _is_whole(columns: Sequence[TableColumn], widths: Sequence[int]) -> bool:
    """Return True if no text of the table is shortened."""
    pairs = zip(columns, widths, strict=True)
    *before, last = [(c, width) for c, width in pairs]
    cut = any(max(c.widths, default=0) > width for c, width in before if c.is_text)
    return not cut and not (last[0].is_text and table_lines.is_cut(*last))


def _more(count: int, what: str, view: ResultView) -> Iterator[Line]:
    if count > 0:
        text = f"… {count} more {what}{'' if count == 1 else 's'}{_full_hint(view)}"
        yield from (("dim", line) for line in fold(text, view.width or 0, hanging=2))


def _full_hint(view: ResultView) -> str:
    return f"; {FULL} all" if view.has_full else ""


def _exact_lines(result: JsonValue) -> Iterator[Line]:
    """Yield every value exactly: tables with all columns and rows, then `name  value`."""
    if isinstance(result, dict):
        first = {name: value for name, value in result.items() if _is_failure(name, value)}
        blocks = {
            name: value for name, value in result.items() if name not in first and _is_block(value)
        }
        rest = {n: value for n, value in result.items() if n not in first and n not in blocks}
        yield from _exact_values(first)
        if first and blocks:
            yield "", ""
        for number, (name, value) in enumerate(blocks.items()):
            if number:
                yield "", ""
            if len(blocks) > 1 or (name != "rows" and rest):
                yield "", on_one_line(name)
            yield from _exact_lines(value)
        if rest and blocks:
            yield "", ""
        yield from _exact_values(rest)
    elif isinstance(result, list) and table_lines.is_records(result):
        table = natural_table(table_lines.exact_columns(result))  # type: ignore[arg-type]
        yield from (("", line) for line in table_lines.head_lines(table) if table.columns)
        yield from (("", line) for line in table_lines.row_lines(table, None))
    elif isinstance(result, list):
        yield from (("", value_text.exact(item)) for item in result)
    elif isinstance(result, str) and "\n" in result.strip():
        yield from (("", line) for line in strip_controls(result).splitlines())
    else:
        yield "", value_text.exact(result)


def _exact_values(values: Mapping[str, JsonValue]) -> Iterator[Line]:
    names = {name: on_one_line(name) or '""' for name in values}
    column = max(map(cells, names.values()), default=0) + 2
    for name, value in values.items():
        yield "", pad(names[name], column) + value_text.exact(value)
