"""Words of a shell command as the shell will see them, or why they cannot be known.

Quotes, escapes and `$` are read here.

A word is taken apart here by POSIX quoting alone, from the exact bytes the parser called one word;
what does not come out as a literal is refused. Parser and unquoter have to agree on where it ends.

Variables and `$(…)` get their refusal from `unsupported_syntax.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.fast_dataclass import dataclass


class Unreadable(Exception):
    """A text whose effect is not known before it runs.

    `word` is the text, `rule` the reason, and `instead` says how to write it, if there is a way.
    """

    def __init__(self, word: str, rule: str, instead: str = "") -> None:
        super().__init__(f"{word}: {rule}")
        self.word, self.rule, self.instead = word, rule, instead


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `text` is the word after quoting was removed. `wild` says that unquoted `*`, `?` or `[` make it
    stand for any number of file names, or that another program fills it in; then `head` and `tail`
    are the literal text before the first and after the last of them.
    """

    text: str
    wild: bool = False
    head: str = ""
    tail: str = ""


ANYTHING: Final = Word(text="*", wild=True)
"""A word that something else fills in: what xargs reads."""

_SEEMING: Final = frozenset(
    "\u037e\ufe14\ufe54\uff1b\u2223\uff5c\uffe8\ufe60\uff06"
    "\ufe64\ufe65\uff1c\uff1e\ufe69\uff04\uff40\uff08\uff09"
)
"""Characters that only look like `; | & < > $ ` ( )`: letters to the shell, marks to a reader."""

_PLAIN = re.compile(rf"[^\s\\'\"$`*?\[{{}}~!#;&|<>(){''.join(sorted(_SEEMING))}]+")
_BRACES = re.compile(r"\{.*(,|\.\.).*\}", re.DOTALL)
_STRING_PLAIN = re.compile(r"[^\"\\$`]+")


def unquoted(source: str) -> Word:
    """Return the word that `source`, one shell word as written, stands for.

    Raises Unreadable if it is no literal: an expansion, a substitution, braces, or quotes that
    do not end.
    """
    if source == "[":
        return Word(source)  # the program: a pattern would end with ]
    if _PLAIN.fullmatch(source):
        return Word(source)  # most words, and the quickest way for them
    out: list[str] = []
    wild: list[int] = []
    bare = _Bare(source)
    at = 0
    while at < len(source):
        at = _read_piece(source, at, out, wild, bare)
    text = "".join(out)
    if _BRACES.search(bare.text):
        raise Unreadable(source, "braces stand for other words")
    if not wild:
        return Word(text)
    # Each sign that makes it wild is a piece of its own.
    tail = "".join(out[wild[-1] + 1 :])
    if any(out[at] == "[" for at in wild):
        tail = tail.rpartition("]")[2]  # what stands between [ and ] is no literal either
    return Word(text, True, "".join(out[: wild[0]]), tail)


class _Bare:
    """The part of a word that is not quoted, with a NUL for quoted text. Braces are searched in
    it."""

    def __init__(self, source: str) -> None:
        self.source, self.text = source, ""


def _read_piece(source: str, at: int, out: list[str], wild: list[int], bare: _Bare) -> int:
    plain = _PLAIN.match(source, at)
    if plain:
        out.append(plain[0])
        bare.text += plain[0]
        return plain.end()
    char = source[at]
    if char == "\\":
        return _read_escape(source, at, out, bare)
    if char == "'":
        return _read_single_quotes(source, at, out, bare)
    if char == '"':
        return _read_double_quotes(source, at, out, bare)
    if char in "$`":
        return _read_dollar(source, at, out, bare)
    if char in " \t\r\n;&|<>()":
        raise Unreadable(source, "the parser and the shell may differ on where this word ends")
    if char in _SEEMING:
        raise Unreadable(source, f"U+{ord(char):04X} only looks like a shell operator: quote it")
    if char in "*?[":
        wild.append(len(out))
    out.append(char)
    bare.text += char
    return at + 1


def _read_escape(source: str, at: int, out: list[str], bare: _Bare) -> int:
    if at + 1 == len(source):
        raise Unreadable(source, "a backslash at the end of the word")
    if source[at + 1] != "\n":
        out.append(source[at + 1])
        bare.text += "\0"
    return at + 2


def _read_single_quotes(source: str, at: int, out: list[str], bare: _Bare) -> int:
    end = source.find("'", at + 1)
    if end < 0:
        raise Unreadable(source, "a quote that does not end")
    out.append(source[at + 1 : end])
    bare.text += "\0"
    return end + 1


def _read_double_quotes(source: str, at: int, out: list[str], bare: _Bare) -> int:
    at += 1
    bare.text += "\0"
    while at < len(source):
        plain = _STRING_PLAIN.match(source, at)
        if plain:
            out.append(plain[0])
            at = plain.end()
        elif source[at] == '"':
            return at + 1
        elif source[at] == "\\":
            at = _read_escape_in_string(source, at, out)
        else:
            at = _read_dollar(source, at, out, bare, inside=True)
    raise Unreadable(source, "a quote that does not end")


def _read_escape_in_string(source: str, at: int, out: list[str]) -> int:
    following = source[at + 1 : at + 2]
    if following == "\n":
        return at + 2
    out.append(following if following and following in '"\\$`' else "\\" + following)
    return at + 2


def _read_dollar(source: str, at: int, out: list[str], bare: _Bare, *, inside: bool = False) -> int:
    """Read a `$` that begins no expansion, at the end of a word or before a blank or mark: it is
    itself."""
    following = source[at + 1 : at + 2]
    expands = source[at] == "`" or following.isalnum() or (following and following in "_{([*@#?$!-")
    if expands or (following and following in "'\"" and not inside):
        raise Unreadable(
            source,
            "the value of an expansion or substitution is not known before it runs",
            "write the value itself, or quote it with '…' if you mean the text itself",
        )
    out.append("$")
    bare.text += "$"
    return at + 1
