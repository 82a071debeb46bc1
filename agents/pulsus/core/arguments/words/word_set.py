"""Sets of words that are written as one text, because a list with quotes is hard to read."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that blanks separate."""
    return frozenset(text.split())
