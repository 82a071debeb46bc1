"""Print the result of a tool on stdout: for a person, or exact for other programs.

`cli/results/result_lines.py` decides how many rows a person sees; `--full` shows all. Units,
times and empty values are written by `cli/results/value_text.py`.

A terminal gets a view that fits its width. So does a pipe with COLUMNS in the environment, without
colours and with all rows: `watch` and cron set it for their readers. Any other pipe gets exact
values for `grep` and `awk`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from pulsus.cli import console
from pulsus.cli.results.result_lines import MOST_ROWS, Line, ResultView, result_lines
from pulsus.cli.results.result_parts import ResultPart
from pulsus.core.telemetry.sanitize import strip_controls

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue


def print_result(
    result: JsonValue, *, full: bool = False, parts: Sequence[ResultPart] = (), request: str = ""
) -> None:
    """Print a JSON value; `full` shortens and folds nothing.

    A person gets the `parts` of it, each under its heading; other programs get it as one. A table
    that is too wide keeps the columns that the `request` names.
    """
    terminal = console.is_terminal(sys.stdout)
    view = ResultView(
        console.layout_width(),
        most_rows=MOST_ROWS if terminal else None,
        full=full,
        markdown=_markdown if terminal else None,
        request=frozenset(re.findall(r"\w+", request.casefold())),
    )
    whole = view.width is None or not parts
    shown = [ResultPart("", result)] if whole else parts
    lines = chain.from_iterable(_part_lines(part, view, n) for n, part in enumerate(shown))
    console.result("".join(f"{line}\n" for line in _styled(lines)))
    if terminal:
        _show_pictures(result)


def _part_lines(part: ResultPart, view: ResultView, number: int) -> Iterator[Line]:
    if number:
        yield "", ""
    if part.heading:
        yield "bold", f"── {part.heading}"
    yield from result_lines(part.result, replace(view, why_not_ok=part.why_not_ok))


def _styled(lines: Iterable[Line]) -> Iterator[str]:
    for style, text in lines:
        if style == "ansi":
            yield text
            continue
        safe = strip_controls(text)
        yield console.styled(safe, sys.stdout, style) if style and safe else safe


def _markdown(text: str, width: int) -> list[str]:
    from pulsus.cli.results.markdown_text import render_markdown  # late: rich takes 60 ms

    return render_markdown(text, width)


def _show_pictures(result: JsonValue) -> None:
    from pulsus.cli.results import pictures

    protocol = pictures.inline_protocol(os.environ)
    for sequence in pictures.inline_pictures(result, protocol) if protocol else ():
        console.result(f"{sequence}\n")
