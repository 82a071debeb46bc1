"""Words of a shell script: quotes, expansions, substitutions (POSIX sh, bash, ksh). Pure.

What stands in a substitution is read by whoever reads commands: `nested` is given the text there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from pulsus.adoption.effects.shell_values import (
    ARITHMETIC,
    BRACES,
    HOLE,
    Here,
    Piece,
    Simple,
    Unreadable,
    Word,
)

META = " \t\n;&|()<>"
_NAME = re.compile(r"[A-Za-z_]\w*")
_SPECIAL = frozenset("@*#?$!-0123456789")
_CODED = re.compile(r"\\(?:x(?:24|60)|0?(?:44|140)|[uU]0*(?:24|60))")
_ALL = re.compile(r"\$@|\$\{@|\$\{!?\w+\[@\]")


class Scanner:
    """Reads words from `text` at `at`. `nested` reads the commands at `at` up to their `)`, or all
    of a text of their own (what stands in backticks) that begins on that line. `inside` is what
    stood in `${…}` and arithmetic, as commands of those names.
    """

    def __init__(
        self, text: str, first_line: int, nested: Callable[[str | None, int], None]
    ) -> None:
        self.text, self.at = text, 0
        self.inside: list[Simple] = []
        self._first, self._nested = first_line, nested
        self._ends = [m.start() for m in re.finditer("\n", text)]

    @property
    def line(self) -> int:
        """The line of the script that is read now."""
        return self._first + bisect_right(self._ends, self.at - 1)

    @property
    def line_end(self) -> int:
        """Where this line ends."""
        found = self.text.find("\n", self.at)
        return len(self.text) if found < 0 else found

    @property
    def ended(self) -> bool:
        """Whether there is no more text."""
        return self.at >= len(self.text)

    def stop(self, why: str) -> Unreadable:
        """The error at this line."""
        return Unreadable(self.line, why)

    def sees(self, text: str) -> bool:
        """Whether this stands here."""
        return self.text.startswith(text, self.at)

    def rows(self, here: Here) -> list[str]:
        """The lines of a here-document, which are passed with its end."""
        found: list[str] = []
        while not self.ended:
            end = self.line_end
            row = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            row = row.lstrip("\t") if here.strip else row
            if row == here.delimiter:
                break
            found.append(f"{row}\n")
        return found

    def in_word(self) -> bool:
        """Whether a word, or a process substitution, begins or goes on here."""
        return not self.ended and (self.text[self.at] not in META or self._process())

    def word(self) -> Word:
        """The word that begins here; an empty one where none does."""
        start, line, piece = self.at, self.line, Piece()
        while not self.ended:
            char = self.text[self.at]
            if self._process():
                self.at += 2
                self._nested(None, self.line)
                piece.shape.append(HOLE)
            elif char == "(" and self.at > start and self.text[self.at - 1] in "?*+@!":
                self._extglob()
                piece.shape.append(HOLE)
            elif char in META:
                break
            else:
                self._part(char, piece)
        raw = self.text[start : self.at]
        return Word(line, "".join(piece.shape), raw, piece.splits, piece.quoted, piece.wild)

    def _extglob(self) -> None:
        depth = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "()":
                depth += 1 if char == "(" else -1
                self.at += 1
            else:
                self._part(char, Piece())
            if depth == 0:
                return
        raise self.stop("a ) is missing")

    def _part(self, char: str, piece: Piece) -> None:
        if char == "\\":
            piece.shape.append(self.text[self.at + 1 : self.at + 2].replace("\n", ""))
            piece.quoted = True
            self.at += 2
        elif char == "'":
            piece.shape.append(self._single())
            piece.quoted = True
        elif char == '"':
            self.at += 1
            piece.quoted = True
            while not self.sees('"'):
                if self.ended:
                    raise self.stop('a " is missing')
                self.double(piece)
            self.at += 1
        elif self.sees("$'"):
            self.at += 1
            text = self._ansi()
            piece.shape.append(text if "\\" not in text else HOLE)
            piece.quoted = True
        elif char in "$`":
            before = len(piece.shape)
            self._expansion(piece)
            piece.splits = piece.splits or HOLE in piece.shape[before:]
        else:
            piece.wild = piece.wild or char in "*?["
            piece.shape.append(char)
            self.at += 1

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.stop("a ' is missing")
        found, self.at = self.text[self.at + 1 : end], end + 1
        return found

    def _ansi(self) -> str:
        found = re.compile(r"'((?:[^'\\]|\\.)*)'", re.S).match(self.text, self.at)
        if not found:
            raise self.stop("a ' is missing")
        if _CODED.search(found[1]):
            self._inside(ARITHMETIC, self.at, ["$"])
        self.at = found.end()
        return found[1]

    def _inside(self, name: str, start: int, shape: list[str]) -> None:
        word = Word(self.line, "".join(shape), self.text[start : self.at] or name)
        self.inside.append(Simple(self.line, (Word(self.line, name, name), word)))

    def double(self, piece: Piece) -> None:
        """One part of what stands in double quotes."""
        char = self.text[self.at]
        if char == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            kept = "" if escaped == "\n" else escaped if escaped in '$`"\\' else f"\\{escaped}"
            piece.shape.append(kept)
            self.at += 2
        elif char in "$`":
            start = self.at
            self._expansion(piece)
            piece.splits = piece.splits or bool(_ALL.match(self.text[start : self.at]))
        else:
            piece.shape.append(char)
            self.at += 1

    def _expansion(self, piece: Piece) -> None:
        if self.text[self.at] == "`":
            self._backticks()
        elif self.sees("$((") and self.arithmetic(3):
            pass
        elif self.sees("$("):
            self.at += 2
            self._nested(None, self.line)
        elif self.sees("${"):
            self._braces()
        elif self.sees("$["):
            self.at += 1
            self._inside(ARITHMETIC, self.at - 1, ["["])
        else:
            name = _NAME.match(self.text, self.at + 1)
            if name:
                self.at = name.end()
            elif self.text[self.at + 1 : self.at + 2] in _SPECIAL:
                self.at += 2
            else:  # a dollar sign by itself
                piece.shape.append("$")
                self.at += 1
                return
        piece.shape.append(HOLE)

    def _backticks(self) -> None:
        found = re.compile(r"`((?:[^`\\]|\\.)*)`", re.S).match(self.text, self.at)
        if not found:
            raise self.stop("a ` is missing")
        self._nested(re.sub(r"\\([`$\\])", r"\1", found[1]), self.line)
        self.at = found.end()

    def _braces(self) -> None:
        """`${…}`: what it holds may be text with substitutions of its own."""
        start, piece = self.at, Piece()
        self.at += 2
        while not self.sees("}"):
            if self.ended:
                raise self.stop("a } is missing")
            self._part(self.text[self.at], piece)
        self.at += 1
        self._inside(BRACES, start, piece.shape)

    def arithmetic(self, opened: int) -> bool:
        """Pass `((…))`: numbers, and substitutions among them. False, and nothing is passed, where
        it is a subshell in a subshell.
        """
        start = self.at
        self.at += opened
        depth, piece = 2, Piece()
        while depth:
            char = self.text[self.at : self.at + 1]
            if char and char in "$`":
                self._expansion(piece)
            else:
                depth += {"(": 1, ")": -1}.get(char, 0)
                piece.shape.append(char)
                self.at += 1
            if self.at > len(self.text) or (depth == 1 and not self.sees(")")):
                self.at = start
                return False
        self._inside(ARITHMETIC, start, piece.shape)
        return True

    def _process(self) -> bool:
        return self.sees("<(") or self.sees(">(")
