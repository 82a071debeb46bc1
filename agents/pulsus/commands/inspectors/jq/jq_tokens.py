"""The tokens of a jq program, with where each stands (jq 1.5 to 1.8, yq)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from pulsus.commands.content_inspector import Unclear
from pulsus.fast_dataclass import dataclass

TokenKind = Literal["name", "field", "variable", "string", "number", "format", "mark"]


@dataclass(frozen=True, slots=True)
class JqToken:
    """`inside` is the bracket around it, or empty; a string is without what it interpolates."""

    kind: TokenKind
    text: str
    inside: str = ""


_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t\n]+|\#[^\n]*)
      | (?P<field>\.[ \t\n]*[A-Za-z_][A-Za-z0-9_]*)
      | (?P<variable>\$[ \t\n]*(?:__loc__|[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z0-9_]+)*))
      | (?P<format>@[A-Za-z0-9_]+)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<mark>\?//=?|\.\.|//=|[|+*/%<>!=-]=|//|\*\+|\*[nd?]|[][(){}.,:;|=<>+*/%?&-])""",
    re.VERBOSE,
)
_MOST: Final = 3000
"""Tokens of a program that is followed."""

_PIECE: Final = re.compile(r'(?:[^"\\]|\\[^(])*')
OPENS: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSES: Final = {")": "(", "]": "[", "}": "{", "\\)": "\\("}


def tokens(program: str) -> list[JqToken]:
    """Return the tokens of `program`. What strings interpolate stands among them. Raises
    Unclear."""
    reading = _JqLexer(program)
    while reading.at < len(program):
        reading.step()
        if len(reading.found) > _MOST:
            raise Unclear("", "too long to check")
    if reading.open:
        raise Unclear(reading.open[-1], "jq: it is not closed")
    return reading.found


def operand_behind(found: Sequence[JqToken], at: int) -> Sequence[JqToken]:
    """Return the operand behind the operator at `at`: one word, or what is in its brackets."""
    rest = found[at + 1 :]
    if rest and rest[0].kind == "mark" and rest[0].text in OPENS:
        return rest[: closing(rest) + 1]
    return rest[:1]


def closing(rest: Sequence[JqToken]) -> int:
    """Return where the bracket that opens `rest` is closed."""
    depth = 0
    for place, token in enumerate(rest):
        if token.kind == "mark":
            depth += token.text in OPENS
            depth -= token.text in OPENS.values()
        if depth == 0:
            return place
    return len(rest)


class _JqLexer:
    def __init__(self, program: str) -> None:
        self.program = program
        self.at = 0
        self.found: list[JqToken] = []
        self.open: list[str] = []

    def add(self, kind: TokenKind, text: str) -> None:
        self.found.append(JqToken(kind, text, self.open[-1] if self.open else ""))

    def step(self) -> None:
        char = self.program[self.at]
        if char == '"':
            self.at += 1
            self.string()
            return
        match = _TOKEN.match(self.program, self.at)
        if match is None:
            raise Unclear(char, "not understood as jq")
        self.at = match.end()
        kind, text = match.lastgroup, match[0]
        if kind == "blank":
            if text[:1] == "#" and text[-1:] == "\\":
                raise Unclear("#", "jqs differ on whether the comment goes on")
            return
        if text in {")", "]", "}"}:
            self.close(text)
            return
        self.add(kind, "".join(text.split()))  # type: ignore[arg-type]  # named alike
        if text in {"(", "[", "{"}:
            self.open.append(text)

    def close(self, text: str) -> None:
        last = self.open.pop() if self.open else ""
        if last == "\\(" and text == ")":
            self.add("mark", ")")
            self.string()
            return
        if last != _CLOSES[text]:
            raise Unclear(text, "jq: nothing is open there")
        self.add("mark", text)

    def string(self) -> None:
        """From inside a string to its end, or to what it interpolates."""
        match = _PIECE.match(self.program, self.at)
        text = match[0] if match else ""
        self.at += len(text)
        self.add("string", text)
        if self.program.startswith("\\(", self.at):
            self.at += 2
            self.add("mark", "(")
            self.open.append("\\(")
        elif self.program.startswith('"', self.at):
            self.at += 1
        else:
            raise Unclear('"', "jq: a string that does not end")
