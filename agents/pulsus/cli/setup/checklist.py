"""Checks as a list for a terminal: what was found beside its name, or below it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.cli.line_folding import fold_line
from pulsus.core.telemetry.sanitize import strip_controls

_NARROW = 60
"""Columns below which a text goes under its name: beside it there were too few left."""
_UNDER = 4

CheckRow = tuple[str, str, str, str]
"""How it is (`ok`), what, what was found, what to do about it; the last may be empty."""


def checklist_lines(rows: Sequence[CheckRow], width: int) -> Iterator[str]:
    """Every check on as many lines as `width` columns ask for; an arrow leads to what to do."""
    marks = max((len(mark) for mark, *_ in rows), default=0)
    names = max((len(name) for _, name, *_ in rows), default=0)
    for mark, name, found, hint in rows:
        head = f"{mark:<{marks}}  {name:<{names}}  "
        texts = [strip_controls(text).replace("\n", " ") for text in (found, hint and f"→ {hint}")]
        if width < _NARROW and len(head + texts[0]) > width:
            yield head.rstrip()
            beside = " " * _UNDER
        else:
            yield fold_line(head + texts.pop(0), width, hanging=len(head))
            beside = " " * (_UNDER if width < _NARROW else len(head))
        for text in filter(None, texts):
            yield fold_line(beside + text, width, hanging=len(beside))
