"""A long line, folded for a terminal. Pure."""

from __future__ import annotations

import re

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_LEAST = 20
_HINT = "  hint: "


def fold(line: str, width: int) -> str:
    """`line` on as many lines as `width` columns ask for, all but the first hanging under it.

    No word is cut, so that a path or a command can still be copied. A line that fits stays as it
    is, its spaces among them; colours take no room.
    """
    if _shown(line) <= width:
        return line
    start = len(line) - len(line.lstrip(" "))
    hanging = " " * (len(_HINT) if line.startswith(_HINT) else start + 2)
    first, *words = line.split()
    lines = [" " * start + first]
    for word in words:
        if _shown(lines[-1]) + 1 + _shown(word) <= max(width, _LEAST):
            lines[-1] += f" {word}"
        else:
            lines.append(hanging + word)
    return "\n".join(lines)


def _shown(text: str) -> int:
    return len(_STYLE.sub("", text))
