"""A long line, folded for a terminal. Pure."""

from __future__ import annotations

import re

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_LEAST = 20
_HINT = "  hint: "


def fold_line(line: str, width: int, *, hanging: int | None = None) -> str:
    """`line` on as many lines as `width` columns ask for, all but the first hanging under it.

    They begin at column `hanging`; without it a little to the right of the first. No word is cut,
    so that a path or a command can still be copied. A line that fits stays as it is; colours take
    no room.
    """
    if _shown_width(line) <= width:
        return line
    start = len(line) - len(line.lstrip(" "))
    if hanging is None:
        hanging = len(_HINT) if line.startswith(_HINT) else start + 2
    head = line[: max(hanging, start)] if _is_aligned(line, hanging) else " " * start
    first, *words = line[len(head) :].split()
    lines = [head + first]
    for word in words:
        if _shown_width(lines[-1]) + 1 + _shown_width(word) <= max(width, _LEAST):
            lines[-1] += f" {word}"
        else:
            lines.append(" " * hanging + word)
    return "\n".join(lines)


def _is_aligned(line: str, column: int) -> bool:
    """Whether a text begins at that column of `line`, after at least two spaces."""
    return line[:column].endswith("  ")


def _shown_width(text: str) -> int:
    return len(_STYLE.sub("", text))
