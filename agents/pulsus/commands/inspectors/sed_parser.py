"""A sed script as its commands (POSIX sed, GNU sed 4.9, BSD sed), or why it cannot be told.

A script of more than 300 commands is refused here; `sed.py` judges what they do.

Where the seds differ, as on a delimiter between brackets, a script is read both ways by the judge.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from pulsus.commands.content_inspector import Unclear
from pulsus.fast_dataclass import dataclass


class Rejected(Unclear):
    """Every sed ends with an error there, before it does anything."""


@dataclass(frozen=True, slots=True)
class SedCommand:
    """One command: its letter, whether and which lines it is for, the blocks around it.

    `argument` is a label; for s and y what is looked for, and `put` what is put there.
    """

    letter: str
    address: str
    blocks: tuple[int, ...]
    argument: str = ""
    put: str = ""


_ADDRESS: Final = re.compile(r"[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+")
_BLANKS: Final = re.compile(r"[ \t]*")
_SKIPPED: Final = re.compile(r"[ \t\n;]*")
_END: Final = re.compile(r"[ \t]*(?=[;\n}#]|$)")
_LABEL: Final = re.compile(r"[ \t]*([A-Za-z0-9_.-]*)[ \t]*(?=[;\n}]|$)")
_VERSION: Final = re.compile(r"[ \t]*[0-9.]*")
_LINE: Final = re.compile(r"[^\n]*")
_TEXT: Final = re.compile(r"(?:[^\\\n]|\\[\s\S])*")
_FLAGS: Final = re.compile(r"[gpiImM0-9]*")
_PLAIN: Final = frozenset("=dDgGhHnNpPxzF")
_COUNTED: Final = frozenset("lqQ")
_NO_DELIMITER: Final = re.compile(r"[A-Za-z0-9\\\s\[\]]")
_MOST: Final = 300
_DEEPEST: Final = 20
"""Commands, and blocks within one another, that are followed."""

_SCREEN: Final = frozenset({"/dev/stdout", "/dev/stderr", "/dev/null"})


Brackets = Literal["ignored", "plain", "escaped"]
"""The way a sed reads bracket expressions: `ignored`, if a delimiter in one ends the pattern.
`escaped`, if a backslash escapes the closing bracket, else `plain`."""


def commands(script: str, brackets: Brackets) -> list[SedCommand]:
    """Return the commands of `script`, as seds read it that take `brackets` so. Raises Unclear."""
    reading = _SedReader(script, brackets)
    reading.read()
    return reading.found


class _SedReader:
    def __init__(self, script: str, brackets: Brackets) -> None:
        self.script = script
        self.brackets = brackets
        self.at = 0
        self.found: list[SedCommand] = []
        self.blocks: list[int] = []

    def read(self) -> None:
        while True:
            self.skip(_SKIPPED)
            if self.at == len(self.script):
                break
            self.command()
        if self.blocks:
            raise Rejected("{", "it is not closed")

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.script, self.at)
        self.at = match.end() if match else self.at
        return match[0] if match else ""

    def char(self) -> str:
        return self.script[self.at : self.at + 1]

    def command(self) -> None:
        address = self.address()
        letter = self.char()
        self.at += 1
        if letter == "{":
            self.blocks.append(len(self.found))
            self.add("{", address)
        elif letter == "}":
            self.close()
        elif letter == "#":
            self.skip(_LINE)
        elif letter in _PLAIN and letter:
            self.add(letter, address)
            self.ended(letter)
        elif letter in _COUNTED and letter:
            self.skip(re.compile(r"[ \t]*[0-9]*"))
            self.add(letter, address)
            self.ended(letter)
        else:
            self.longer(letter, address)

    def longer(self, letter: str, address: str) -> None:
        match letter:
            case ":" | "b" | "t" | "T":
                self.label(letter, address)
            case "s" | "y":
                self.substitute(letter, address)
            case "a" | "i" | "c":
                self.text(letter, address)
            case "r" | "R":
                self.file(letter, address)
            case "w" | "W":
                self.target(letter)
                self.add(letter, address)
            case "e":
                raise Unclear("e", "it runs a command")
            case "v":
                self.skip(_VERSION)
                self.ended(letter)
            case _:
                raise Rejected(letter or "the end", "sed: no command")

    def add(self, letter: str, address: str, argument: str = "", put: str = "") -> None:
        if len(self.found) > _MOST or len(self.blocks) > _DEEPEST:
            raise Unclear(letter, "sed: longer or deeper than is followed")
        blocks = tuple(self.blocks[:-1] if letter == "{" else self.blocks)
        self.found.append(SedCommand(letter, address, blocks, argument, put))

    def ended(self, after: str) -> None:
        if not _END.match(self.script, self.at):
            raise Rejected(after, "sed: unexpected text after the command")

    def close(self) -> None:
        if not self.blocks:
            raise Rejected("}", "sed: nothing is open there")
        self.blocks.pop()
        self.ended("}")

    # -- addresses

    def address(self) -> str:
        start = self.at
        if self.one():
            self.skip(_BLANKS)
            if self.char() == ",":
                self.at += 1
                self.skip(_BLANKS)
                if not self.one():
                    raise Rejected(",", "sed: an address is missing")
        self.skip(re.compile(r"[ \t!]*"))
        return self.script[start : self.at].replace(" ", "").replace("\t", "")

    def one(self) -> bool:
        match = _ADDRESS.match(self.script, self.at)
        if match:
            self.at = match.end()
            return True
        if self.char() not in {"/", "\\"}:
            return False
        self.at += 1 + (self.char() == "\\")
        self.part(self.script[self.at - 1 : self.at], expression=True)
        self.skip(re.compile(r"[IM]*"))
        return True

    # -- what has arguments

    def label(self, letter: str, address: str) -> None:
        match = _LABEL.match(self.script, self.at)
        if match is None:
            raise Unclear(letter, "a label that seds read differently")
        self.at = match.end()
        self.add(letter, address, match[1])

    def text(self, letter: str, address: str) -> None:
        self.skip(_BLANKS)
        if self.at == len(self.script):
            raise Unclear(letter, "the text is missing")
        self.skip(_TEXT)
        if self.char() == "\\":
            raise Unclear(letter, "seds differ on what follows a backslash at the end")
        self.add(letter, address)

    def file(self, letter: str, address: str) -> None:
        name = self.skip(_LINE)
        # With a blank before it, so that the search for secrets sees a word.
        plain = re.fullmatch(r"[ \t]+(?!/dev/)[^ \t].*|[ \t]+/dev/stdin", name)
        if plain is None:
            raise Unclear(f"{letter}{name}", "the file is not one that is plainly read")
        self.add(letter, address)

    def target(self, letter: str) -> None:
        target = self.skip(_LINE).strip(" \t")
        if target not in _SCREEN:
            raise Unclear(f"{letter} {target}", "it writes a file")

    def substitute(self, letter: str, address: str) -> None:
        delimiter = self.char()
        self.at += 1
        if not delimiter or _NO_DELIMITER.match(delimiter):
            raise Unclear(letter + delimiter, "not a delimiter that all seds take alike")
        found = self.part(delimiter, expression=letter == "s")
        put = self.part(delimiter, expression=False)
        self.add(letter, address, found, put)
        if letter == "s":
            self.flags()
        else:
            self.ended(letter)

    def flags(self) -> None:
        while True:
            self.skip(_FLAGS)
            if self.char() == "w":
                self.at += 1
                self.target("w")
                return
            if self.char() == "e":
                raise Unclear("e", "it runs what it put together")
            if not self.skip(_BLANKS):
                break
        self.ended("s")

    def part(self, delimiter: str, *, expression: bool) -> str:
        """Return the text up to the next `delimiter`."""
        start = self.at
        while self.char() not in {"", "\n", delimiter}:
            if self.char() == "\\":
                self.at += 2
            elif expression and self.brackets != "ignored" and self.char() == "[":
                self.at = _bracket_end(self.script, self.at + 1, self.brackets == "escaped")
            else:
                self.at += 1
        if self.char() != delimiter:
            raise Rejected(self.script[start:][:20], "sed: a delimiter is missing")
        self.at += 1
        return self.script[start : self.at - 1]


def _bracket_end(script: str, at: int, escaped: bool) -> int:
    """Return where the bracket expression that began before `at` ends. Raises Rejected."""
    end = at
    if script[end : end + 1] == "^":
        end += 1
    if script[end : end + 1] == "]":
        end += 1
    while script[end : end + 1] not in {"", "\n", "]"}:
        if script[end] == "[" and script[end + 1 : end + 2] in {":", ".", "="}:
            close = script.find(script[end + 1] + "]", end + 2)
            end = close + 2 if close >= 0 else len(script)
        else:
            end += 2 if escaped and script[end] == "\\" else 1
    if script[end : end + 1] != "]":
        raise Rejected(script[at - 1 :][:20], "sed: a bracket that does not end")
    return end + 1
