"""SQL text as words, where every server, mode and client agrees how it is taken apart.

A text over 6,000 characters, or with comments and quotes that are ambiguous, is refused here.

Dialects differ in what ends a string or a comment: a backslash before a quote, nested comments,
`/*!`, `$$`. A text in which such a difference could matter is refused here, so that the parser and
the server see the same statements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.shipped_data import words_of
from pulsus.fast_dataclass import dataclass

LONGEST: Final = 6_000
"""Characters of SQL that are looked at."""

MOST: Final = 1_000
"""Words and marks that are looked at: parsing stays within some milliseconds."""

DEEPEST: Final = 30
"""Parentheses within parentheses, CASE within CASE, signs before signs."""

Part = Literal["word", "name", "string", "number", "mark"]


def words(text: str) -> frozenset[str]:
    """Return the words of `text`, which blanks part."""
    return frozenset(text.split())


WORDS: Final = words_of(Path(__file__).with_name("sql_words.yaml"))
_PREFIXES: Final = words("not - + ~ ! interval distinct all exists select case when cast @ : | &")


@dataclass(frozen=True, slots=True)
class SqlToken:
    """`kind` of a part of a statement and its `text`; names and strings without their quotes."""

    kind: Part
    text: str

    @property
    def key(self) -> str:
        """Return the word in lower case; nothing for what is quoted or no word."""
        return self.text.lower() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its `tokens`, and its `text` without comments."""

    tokens: tuple[SqlToken, ...]
    text: str

    @property
    def first(self) -> str:
        return self.tokens[0].key

    @property
    def shown(self) -> str:
        return self.text.strip()[:40]


_QUOTED: Final = r"(?:[^{q}\\]|{q}{q}|\\[^'\"`\\]|\\\\)*{q}(?!{q})"
_SAME: Final[Mapping[str, str]] = {
    "blank": r"[ \t\n]+",
    "comment": r"--[^\n'\"`\\;]*(?=\n|\Z)|/\*(?![!+]|M!)(?:[^*/'\"`\\;]|\*(?!/)|/(?!\*))*\*/",
    "string": "'" + _QUOTED.format(q="'"),
    "double": '"' + _QUOTED.format(q='"'),
    "number": r"(?:0[xX][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w$])",
    "end": r";",
}
_WORD: Final = r"[A-Za-z_][A-Za-z0-9_]*(?![$\w])"
_MARK: Final = r"[(),.*+\-/%<>=!|&^~@:?]"
_BACKTICK: Final = r"`[^`\\]*`(?!`)"
_BRACKET: Final = r"\[[\w .-]*\](?!\])"
_DIFFERENT: Final[Mapping[str, Mapping[str, str]]] = {
    "postgres": {"word": _WORD, "mark": r"[][#(),.*+\-/%<>=!|&^~@:?]"},
    "mysql": {
        "comment": r"/\*\+ *MAX_EXECUTION_TIME *\( *\d+ *\) *\*/"
        r"|--(?=[ \t\n]|\Z)[^\n'\"`\\;]*(?=\n|\Z)"
        r"|/\*(?![!+]|M!)(?:[^*/'\"`\\;]|\*(?!/)|/(?!\*))*\*/",
        "end": r";|\\[gG](?=[ \t\n;]*\Z)",
        "name": _BACKTICK,
        "word": _WORD,
        "mark": _MARK,
    },
    "sqlite": {"name": f"{_BACKTICK}|{_BRACKET}", "word": _WORD, "mark": _MARK},
    "duckdb": {"word": _WORD, "mark": r"[][{}#(),.*+\-/%<>=!|&^~@:?]"},
    "clickhouse": {"name": _BACKTICK, "word": _WORD, "mark": r"[][(),.*+\-/%<>=!|&^~@:?]"},
    "cql": {"word": _WORD, "mark": r"(?!//)[][{}(),.*+\-/%<>=!?:]"},
    "influxql": {
        "name": r"/[^/*'\"`\\;\n][^/'\"`\\;\n]*/",  # a pattern; else its quotes would open strings
        "number": r"\d+(?:\.\d+)?(?:[a-z]+\b)?",
        "word": _WORD,
        "mark": r"[(),.*+\-%<>=!|&^~:]",
    },
    "tsql": {
        "blank": r"[ \t]+",
        "name": _BRACKET,
        "word": r"[A-Za-z_@#][A-Za-z0-9_@#]*(?![$\w])",
        "mark": _MARK,
    },
}


@cache
def _compile_lexer(dialect: str) -> re.Pattern[str]:
    parts = {**_SAME, **_DIFFERENT[dialect]}
    parts["mark"] = r"(?!--|/\*|\*/|:=)" + parts["mark"]
    order = ("blank", "comment", "string", "double", "name", "number", "end", "word", "mark")
    return re.compile("|".join(f"(?P<{kind}>{parts[kind]})" for kind in order if kind in parts))


def statements(text: str, dialect: str) -> tuple[Statement, ...]:
    """Return the statements of `text`; empty ones are left out. Raises Unclear."""
    if len(text) > LONGEST:
        raise Unclear(text[:40], f"longer than the limit of {LONGEST} characters")
    out: list[Statement] = []
    tokens: list[SqlToken] = []
    pieces: list[str] = []
    lexer = _compile_lexer(dialect)
    at = count = 0
    while at < len(text):
        found = lexer.match(text, at)
        if found is None:
            raise Unclear(text[at : at + 20], "servers and clients may read this text differently")
        at = found.end()
        kind, part = found.lastgroup or "", found[0]
        if kind == "end":
            _finish_statement(out, tokens, pieces)
        elif kind in {"blank", "comment"}:
            pieces.append(" ")
        else:
            tokens.append(_make_token(kind, part, dialect))
            pieces.append(part)
        count += 1
        if count > 2 * MOST or len(tokens) > MOST:
            raise Unclear(text[:40], f"more than the limit of {MOST} words")
    _finish_statement(out, tokens, pieces)
    return tuple(out)


def _finish_statement(out: list[Statement], tokens: list[SqlToken], pieces: list[str]) -> None:
    if tokens:
        _check_depth(tokens)
        out.append(Statement(tuple(tokens), "".join(pieces)))
    tokens.clear()
    pieces.clear()


def _check_depth(tokens: Sequence[SqlToken]) -> None:
    """Raise Unclear for parentheses, CASE or signs that are nested too deep for a parser."""
    depth = cases = prefixes = 0
    for token in tokens:
        if token.kind == "mark":
            depth += (token.text in "([{") - (token.text in ")]}")
        cases += (token.key == "case") - (token.key == "end")
        prefixes = prefixes + 1 if token.text.lower() in _PREFIXES else 0
        if not 0 <= depth <= DEEPEST or cases > DEEPEST or prefixes > DEEPEST:
            raise Unclear(token.text[:20], "parentheses that do not fit, or too deep to follow")
    if depth:
        raise Unclear(tokens[-1].text[:20], "a parenthesis that is not closed")


def _make_token(kind: str, part: str, dialect: str) -> SqlToken:
    if kind in {"string", "double", "name"} and "\\" in part and not part.isascii():
        raise Unclear(part[:20], "in some character sets this string ends elsewhere")
    match kind:
        case "string":
            return SqlToken("string", part[1:-1])
        case "double":
            # A string only in MySQL: elsewhere a name, and in every dialect no text between.
            return SqlToken("string" if dialect == "mysql" else "name", part[1:-1])
        case "name":
            return SqlToken("name", part[1:-1])
        case "word":
            return SqlToken("word", part)
        case "number":
            return SqlToken("number", part)
        case _:
            return SqlToken("mark", part)
