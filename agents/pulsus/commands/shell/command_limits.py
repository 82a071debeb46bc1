"""Limits on the length and depth of a command that is judged (docs/commands.md).

A longer command is refused in `refused_characters.py`, deeper groups in `script_parser.py`, and
deeper loops in `for_loops.py`. Braces are limited in `braces.py`, wrappers in `wrappers.py`.
"""

from __future__ import annotations

from typing import Final

LONGEST_COMMAND: Final = 16_384
"""Characters of the longest command that is judged, also with its loops written out."""

DEEPEST_GROUP: Final = 12
"""Groups within groups that are followed."""

DEEPEST_LOOP: Final = 2
"""Loops within loops that are written out."""

DEEPEST_WRAPPER: Final = 8
"""Wrappers before a program that are taken off (`time env nice ls`)."""

MOST_BRACE_WORDS: Final = 1_000
"""Words that one word with braces may stand for."""

MOST_BRACES: Final = 64
"""Braces in a word that are looked at: with two alternatives each, ten are too many."""
