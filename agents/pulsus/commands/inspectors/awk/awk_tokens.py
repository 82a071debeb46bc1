"""The tokens of an awk program, or why they cannot be told (POSIX awk, gawk, mawk, original-awk).

Whether `/` divides or begins a regular expression is told by the token before it; where the awks
differ, or a regular expression might end elsewhere for one of them, nothing is told.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.shipped_data import words_of
from pulsus.fast_dataclass import dataclass

TokenKind = Literal[
    "newline", "string", "regex", "number", "name", "call", "keyword", "mark", "end"
]


@dataclass(frozen=True, slots=True)
class AwkToken:
    """`text` is as written; a `call` is a name whose parenthesis comes next."""

    kind: TokenKind
    text: str


_WORDS: Final = words_of(Path(__file__).with_name("awk_words.yaml"))
KEYWORDS, FUNCTIONS = _WORDS["keywords"], _WORDS["functions"]
_BUILT_IN: Final = FUNCTIONS | {"system", "bindtextdomain", "extension", "stopme", "adump"}
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)*\(")
_TOKEN: Final = re.compile(
    r"""(?P<blank>(?:[ \t]|\\\n)+|\#[^\n]*)
      | (?P<newline>\n)
      | (?P<string>"(?:[^"\\\n]|\\[\s\S])*")
      | (?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>\*\*=|\*\*|\^=|\+=|-=|\*=|%=|==|<=|>=|!=|!~|\+\+|--|&&|\|\||>>
                |[-+*%^!<>~?:,;(){}\[\]$=])""",
    re.VERBOSE,
)
_REGEX: Final = re.compile(r"/((?:[^/\\\n]|\\[^\n])*)/")
_BRACKETED: Final = re.compile(
    r"/((?:[^/\\\[\n]|\\[^\n]|\[(?:\^\]|\]|\^(?!\])|(?![\^\]]))(?:[^\]\\\[\n]|\\[^\n]|\[:[a-z]+:\])*\])*)/"
)
"""The same where a slash between brackets does not end it, as gawk and mawk have it."""

_RISKY: Final = re.compile(
    r"[|>@]|system|getline|ENVIRON|ARG|TAB|while|for|do|func|extension|stopme|adump"
)
"""Without one of these no program writes, runs or goes on, wherever its expressions end."""

_MOST: Final = 1200
"""Tokens of a program that is followed: in a few hundredths of a second."""

_HEADERS: Final = frozenset({"if", "while", "for", "switch"})
_BEFORE_REGEX: Final = frozenset({"print", "printf", "return", "exit", "case", "else", "do", "in"})


def tokens(program: str) -> list[AwkToken]:
    """Return the tokens of `program` and an `end`. Raises Unclear."""
    reading = _AwkLexer(program)
    while reading.at < len(program):
        reading.step()
        if len(reading.found) > _MOST:
            raise Unclear("", "too long to check")
    return [*reading.found, AwkToken("end", "")]


class _AwkLexer:
    def __init__(self, program: str) -> None:
        self.program = program
        self.at = 0
        self.found: list[AwkToken] = []
        self.headers: list[bool] = []
        self.behind_header = False
        self.regex = _REGEX if _RISKY.search(program) else _BRACKETED

    def step(self) -> None:
        if self.program[self.at] == "/":
            self.slash()
            return
        match = _TOKEN.match(self.program, self.at)
        if match is None:
            raise _unclear_character(self.program[self.at : self.at + 2])
        self.at = match.end()
        if match.lastgroup == "blank":
            return
        token = self.token(str(match.lastgroup), match[0])
        self.parentheses(token)
        self.found.append(token)

    def token(self, group: str, text: str) -> AwkToken:
        if group == "name":
            if text in KEYWORDS:
                return AwkToken("keyword", text)
            # A function of awk's own may stand before a blank and its parenthesis, others may not.
            blanks = _BLANKS.match(self.program, self.at) if text in _BUILT_IN else None
            called = blanks or self.program[self.at : self.at + 1] == "("
            return AwkToken("call" if called else "name", text)
        return AwkToken(group, text)  # type: ignore[arg-type]  # the groups are named alike

    def parentheses(self, token: AwkToken) -> None:
        self.behind_header = False
        if token.text == "(":
            last = self.found[-1] if self.found else None
            self.headers.append(last is not None and last.text in _HEADERS)
        elif token.text == ")" and self.headers:
            self.behind_header = self.headers.pop()

    def slash(self) -> None:
        if self.divides():
            length = 2 if self.program.startswith("/=", self.at) else 1
            self.found.append(AwkToken("mark", self.program[self.at : self.at + length]))
            self.at += length
            return
        match = self.regex.match(self.program, self.at)
        if match is None:
            raise Unclear("/", "a regular expression that does not end")
        _check_brackets(match[1])
        self.at = match.end()
        self.found.append(AwkToken("regex", match[0]))

    def divides(self) -> bool:
        last = self.found[-1] if self.found else AwkToken("newline", "\n")
        if self.behind_header or last.text in {"length", "getline", "$"}:
            raise Unclear("/", "division or regular expression: awks differ here")
        if last.text in {"++", "--"}:
            before = self.found[-2:-1]
            if before and (before[0].kind == "name" or before[0].text in {"]", ")"}):
                return True
            raise Unclear("/", "division or regular expression: awks differ here")
        if last.kind == "keyword" and last.text not in _BEFORE_REGEX:
            raise Unclear("/", "division or regular expression: awks differ here")
        return last.kind in {"name", "number", "string", "regex"} or last.text in {")", "]"}


def _unclear_character(text: str) -> Unclear:
    if text[:1] == "|":
        return Unclear("|", "it runs another program")
    if text[:1] == "@":
        return Unclear("@", "it loads code or calls what a variable names")
    return Unclear(text[:1], "not understood as awk")


def _check_brackets(pattern: str) -> None:
    """Raise Unclear if a bracket may still be open. Some awks read on over the slash there."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
        elif pattern[at] == "[":
            at = _bracket_end(pattern, at + 1)
        else:
            at += 1


def _bracket_end(pattern: str, at: int) -> int:
    if pattern[at : at + 1] == "^":
        at += 1
    if pattern[at : at + 1] == "]":
        at += 1
    while at < len(pattern):
        if pattern[at] == "]":
            return at + 1
        if pattern[at] == "[" and pattern[at + 1 : at + 2] in {":", ".", "="}:
            end = pattern.find(pattern[at + 1] + "]", at + 2)
            at = end + 2 if end >= 0 else len(pattern)
        else:
            at += 2 if pattern[at] == "\\" else 1
    raise Unclear(f"/{pattern}/", "a bracket in it does not end")
