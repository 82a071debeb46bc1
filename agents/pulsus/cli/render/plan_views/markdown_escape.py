"""Text from a plan as Markdown that cannot become markup, a mention or a link. Pure.

A code span is literal: no mention, link, HTML or emphasis begins in it. It ends only at a run of
as many backticks as it began with, so it begins with more than the text has in a row.
"""

from __future__ import annotations

import re

from pulsus.core.telemetry.sanitize import one_line
from pulsus.late_pattern import late_pattern

_RUN = late_pattern("`+")
# Letters, digits and punctuation that mean nothing within a line.
_TAME = late_pattern(r"(?:[^\W_]|[ .,;:()'\"=/%+?-])*")
_LINK = late_pattern(r"://|www\.", re.IGNORECASE)


def code_span(text: str) -> str:
    """Return the text on one line as a code span. An empty text is shown as `""`."""
    text = one_line(text, len(text) + 1) or '""'
    fence = "`" * (1 + max((len(found) for found in _RUN.findall(text)), default=0))
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def table_code(text: str) -> str:
    """Return the text as code in a cell of a table.

    A table is cut at `|` before code spans are read, so a text with one is written with entities.
    """
    if "|" not in text:
        return code_span(text)
    line = one_line(text, len(text) + 1)
    return f"<code>{''.join(c if c.isalnum() else f'&#{ord(c)};' for c in line)}</code>"


def prose(text: str) -> str:
    """Return a sentence as it is if it holds no markup, else as a code span.

    Not for the beginning of a line, where `-` or `1.` would begin a list.
    """
    line = one_line(text, len(text) + 1)
    return line if _TAME.fullmatch(line) and not _LINK.search(line) else code_span(line)
