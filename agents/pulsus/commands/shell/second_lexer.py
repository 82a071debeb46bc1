"""A command's tokens by the shell's own rules (POSIX 2.3), to hold the parser's against.

A difference between the two is refused in `script_parser.py`.

Two readers have to agree on where every word and operator ends. This one knows nothing of grammar;
what it cannot read (a quote that does not end) it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pulsus.commands.shell.words import Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node

_SKIPPED = re.compile(r"(?:[ \t\n]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||[<>|&;()]")
_NUMBER = re.compile(r"\d+(?=[<>])")
_WORD = re.compile(r"(?:\\[\s\S]|'[^']*'|\"(?:\\[\s\S]|[^\"\\])*\"|[^\s\\'\"<>|&;()])+")
_NEXT = re.compile(
    f"(?:{_SKIPPED.pattern})|(?:{_COMMENT.pattern})"
    f"|({_NUMBER.pattern}|{_OPERATOR.pattern}|{_WORD.pattern})"
)

_WHOLE: Final = frozenset(
    {
        *("word", "string", "raw_string", "concatenation", "number", "brace_expression"),
        *("variable_assignment", "command_name", "test_operator", "file_descriptor"),
    }
)
"""Nodes that are one token, also if they have parts."""


def tokens(command: str) -> Iterator[str]:
    """Yield words, operators and redirections' numbers, in order. Raises Unreadable."""
    return map(itemgetter(1), placed(command))


def placed(command: str) -> Iterator[tuple[int, str]]:
    """Yield each token with the place where it begins. Raises Unreadable."""
    at = 0
    for found in _NEXT.finditer(command):
        if found.start() != at:
            break
        if found[1] is not None:
            yield at, found[1]
        at = found.end()
    if at < len(command):
        rest = command[at:]
        quoted = "'" in rest or '"' in rest
        raise Unreadable(
            rest[:40], "a quote is not closed" if quoted else "nothing follows the backslash"
        )


def parsed(root: Node, source: bytes) -> Iterator[str]:
    """Yield the same of a parser's tree."""
    pending = [root]
    while pending:
        node = pending.pop()
        kind = node.type
        if kind not in _WHOLE and (children := node.children):
            pending += reversed(children)
        elif kind not in {"comment", "\n", ""}:
            yield source[node.start_byte : node.end_byte].decode()
