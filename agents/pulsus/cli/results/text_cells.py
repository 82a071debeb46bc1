"""Text measured in columns of a terminal: its width, one line of it, shortened and folded. Pure.

`cli/results/table_lines.py` decides how many lines a cell has; lines of other output are
folded in `cli/line_folding.py`. Wide characters (Chinese, emoji) count as two columns here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.late_pattern import late_pattern

ELLIPSIS = "…"
_LOCAL_TIME = late_pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_NARROW = str.maketrans("", "", "–…τ→")
"""Characters of our own lines: one column each, though they are not Latin."""


def is_local_time(text: str) -> bool:
    """Return True for a time as results show it: `2026-12-18 10:11:12`."""
    return _LOCAL_TIME.fullmatch(text) is not None


def cells(text: str) -> int:
    """Return the columns that `text` takes; a Chinese character or an emoji takes two."""
    if text.isascii() or max(text.translate(_NARROW), default="") < "\u0300":
        return len(text)
    from rich.cells import cell_len  # late: it reads its tables, which takes 10 ms

    return cell_len(text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` filled with blanks to `width` columns, at its left end if `right`."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def on_one_line(text: str) -> str:
    """Return the text without control characters, every run of white space as one blank."""
    return " ".join(strip_controls(text).split())


def shorten(text: str, width: int) -> str:
    """Return as many whole words as fit into `width` columns, with an ellipsis if some are missing.

    A word is never cut: the first one stays, even if it is wider than `width`. Only words of wide
    characters are cut, because these scripts write no blanks.
    """
    if cells(text) <= width:
        return text
    first, *words = text.split() or [""]
    kept = _cut_wide(first, width)
    if kept != first:
        return kept
    for word in words:
        longer = f"{kept} {word}"
        if cells(longer) + 1 > width:
            break
        kept = longer
    return f"{kept.rstrip(',;')}{ELLIPSIS}" if words else kept


def fold(text: str, width: int, first: str = "", hanging: int = 0) -> Iterator[str]:
    """Yield `text` on lines of at most `width` columns; the first begins with `first`.

    The others begin at column `hanging`. A word is never cut. One that does not fit beside the
    indentation stands further left, on a line of its own.
    """
    line, empty = first, True
    for word in _words(text, max(width - hanging, 2)):
        wide = cells(word)
        joined = cells(line) + (0 if empty else 1) + wide
        if joined <= width:
            line += word if empty else f" {word}"
        else:
            if line.strip():
                yield line.rstrip()
            line = " " * max(min(hanging, width - wide), 0) + word
        empty = False
    yield line.rstrip()


def fold_head(heading: str, width: int) -> list[str]:
    """Return a table's heading on lines of `width` columns, cut after `_` and at blanks."""
    lines = [""]
    for piece in heading_pieces(heading):
        if lines[-1] and cells((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def heading_pieces(heading: str) -> Sequence[str]:
    """Return the parts of a heading that stay whole: `used_`, `bytes`."""
    return heading.replace("_", "_\0").replace(" ", " \0").split("\0")


def _words(text: str, width: int) -> Iterator[str]:
    for word in text.split():
        rest = word
        while (part := _cut_wide(rest, width, mark="")) != rest:
            yield part
            rest = rest[len(part) :]
        yield rest


def _cut_wide(word: str, width: int, mark: str = ELLIPSIS) -> str:
    """Return `word` cut to `width` columns if it is of wide characters and no path."""
    if cells(word) <= width or cells(word) == len(word) or "/" in word:
        return word
    room = max(width - len(mark), 2)
    kept = ""
    for character in word:
        if cells(kept + character) > room:
            break
        kept += character
    return (kept or word[0]) + mark
