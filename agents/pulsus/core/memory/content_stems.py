"""The words of a request without its values, to tell if two requests ask for the same. Pure.

So this decides that a repeated request is a duplicate of an accepted or promoted plan's request.
"""

from __future__ import annotations

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.tokens import clean, stems

SUMMARY_CHARS = 200
"""A composition's summary is its request, cut to this length (`plans/module_docstring.py`)."""


def list_content_stems(text: str) -> list[str]:
    """Return the stems of a request without its values, in order."""
    rest, _ = cut_out_values(one_line(clean(text), SUMMARY_CHARS))
    return stems(rest)
