"""Text that is safe to show: a tool's words must not drive a terminal or forge log lines."""

from __future__ import annotations

import re

# C0 but tab and newline, DEL, C1, and the characters that reorder or hide text on a terminal.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def strip_controls(text: str) -> str:
    """`text` without control, zero-width and direction characters; newlines and tabs stay."""
    return _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """The printable text on one line, at most `limit` characters, cut with an ellipsis."""
    line = " ".join(strip_controls(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
