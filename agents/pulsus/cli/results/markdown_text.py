"""Markdown for a terminal, by rich; tables are ours, so that no path in them is broken.

HTML in a result is shown as text. If a result is Markdown is decided in
`cli/results/result_lines.py`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from itertools import dropwhile
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.text import Text

from pulsus.cli.results import value_text
from pulsus.cli.results.fit_columns import TableColumn, fit_columns
from pulsus.cli.results.table_lines import head_lines, row_lines
from pulsus.core.text.value_units import has_unit
from pulsus.late_pattern import late_pattern

_NUMBER = late_pattern(r"-?\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_LINE_BREAK = late_pattern(r"<br\s*/?>", re.IGNORECASE)


def render_markdown(text: str, width: int) -> list[str]:
    """Return the lines of a markdown text without control characters, at most `width` columns.

    Links show their address, because a result must not hide where a link leads. Colours follow
    NO_COLOR.
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=True,
        no_color=bool(os.environ.get("NO_COLOR")),
        legacy_windows=False,
        emoji=False,
    )
    # Uncropped: rich would cut a path that is wider than the terminal, without a mark.
    console.print(_ResultMarkdown(text), crop=False)
    lines = [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]
    return list(dropwhile(lambda line: not line, lines))


class _ResultTable(TableElement):
    """A table of a markdown text, with the columns of every other table of ours."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table as lines; a column that does not fit stays in the text."""
        header = self.header.row if self.header else None
        if header is None or not header.cells:
            return
        rows = self.body.rows if self.body else []
        columns = []
        for number, cell in enumerate(header.cells):
            heading = str(cell.content)
            texts = tuple(
                str(row.cells[number].content) if number < len(row.cells) else "" for row in rows
            )
            right = bool(cell.justify == "right")
            columns.append(TableColumn(str(number), heading, _for_person(heading, texts), right))
        table = fit_columns(columns, options.max_width)
        for line in head_lines(table):
            yield Text(line, style="bold", no_wrap=True, overflow="ignore")
        for line in row_lines(table, options.max_width):
            yield Text(line, no_wrap=True, overflow="ignore")
        if table.left_out:
            yield Text(f"(not shown: {', '.join(table.left_out)})", style="dim")


def _for_person(heading: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells with units and local times, as in every other table on a terminal."""
    numbers = all(_NUMBER.fullmatch(text) for text in texts if text)
    return tuple(_cell_for_person(heading, text, number=numbers) for text in texts)


def _cell_for_person(heading: str, text: str, *, number: bool) -> str:
    """Return one cell; a fraction without a unit stays, because it may be a version."""
    if not text:
        return value_text.ABSENT
    if number and (has_unit(heading) or text.lstrip("-").isdecimal()):
        return value_text.readable(heading, float(text) if "." in text else int(text))
    if text.startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            return value_text.readable(heading, json.loads(text))
    return value_text.local_time(text)


class _ResultMarkdown(Markdown):
    """A Markdown text in which HTML is text, as a result must not hide a part of a message."""

    elements: ClassVar = {**Markdown.elements, "table_open": _ResultTable}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        parser = MarkdownIt().enable(["strikethrough", "table"]).disable("html_block")
        self.markup = text
        self.parsed = parser.parse(text)
        for token in self.parsed:
            for child in token.children or ():
                _show_html(child)


def _show_html(token: Token) -> None:
    """Make text of a piece of HTML (`db<n>`); a line break becomes a blank."""
    if token.type == "html_inline":
        token.type = "text"
        token.content = " " if _LINE_BREAK.fullmatch(token.content) else token.content
