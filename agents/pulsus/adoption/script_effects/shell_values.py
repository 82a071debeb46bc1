"""Define the words and commands of a shell script. Pure values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HOLE = "\0"
"""Stands for what only shows when the script runs, in `Word.shape`."""

ARITHMETIC, BRACES = "((", "$"
"""Names of commands that stand for the text of `((…))` and of `${…}`."""

PLACE = re.compile(r"""\[(?:[\w\s$#{}+*/%.:,-]*|"[\w\s$#{}+*/%.:,-]*"|'[\w\s.:,-]*')\]""")


class UnfollowedText(ValueError):
    """The commands of a text are not certain. `line` is the first such place."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """One word. `shape` is its text without quotes, with a HOLE for each expansion.

    `splits`: it may become several words, or none. `quoted`: some of it is quoted. `wild`: an
    unquoted `*`, `?` or `[` stands for names of files.
    """

    line: int
    shape: str
    raw: str
    splits: bool = False
    quoted: bool = False
    wild: bool = False

    @property
    def text(self) -> str | None:
        """Return the word, or None if a part of it is unknown before the script runs."""
        return None if HOLE in self.shape else self.shape


@dataclass(frozen=True, slots=True)
class ScriptRedirect:
    """`op` and its target, or the text of a here-document with a HOLE for each expansion."""

    op: str
    target: ScriptWord | None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One simple command: `NAME=value` before it, its words, its redirections."""

    line: int
    words: tuple[ScriptWord, ...]
    assigned: tuple[tuple[str, ScriptWord], ...] = ()
    redirects: tuple[ScriptRedirect, ...] = ()

    @property
    def here(self) -> str | None:
        """Return the text of its here-document or here-string, or None."""
        for each in reversed(self.redirects):
            if each.document is not None:
                return each.document
            if each.op == "<<<" and each.target:
                return each.target.shape
        return None


def with_variables(shape: str) -> str:
    """Return a text that a shell runs, with a variable for each HOLE."""
    return shape.replace(HOLE, "${_}")


def option_index(words: Sequence[ScriptWord], letter: str) -> int:
    """Return the place of the option that ends in that letter."""
    return next(
        n
        for n, w in enumerate(words)
        if w.shape.startswith("-") and not w.shape.startswith("--") and w.shape.endswith(letter)
    )
