"""Check that the shell reads a script as its syntax tree says. Pure.

`adoption/script_effects/shell_tree.py` reads the commands after that.

The grammar accepts more than shells do, and ends some words early or late. So every place where
the two may differ is refused: between the nodes, at their borders, and inside the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pulsus.adoption.script_effects.shell_values import UnfollowedText

if TYPE_CHECKING:
    from tree_sitter import Node

EXPANSIONS: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"}
)
WORDS: Final = EXPANSIONS | {
    *("word", "string", "raw_string", "concatenation", "number", "brace_expression", "regex"),
    *("ansi_c_string", "translated_string", "process_substitution", "extglob_pattern"),
    *("special_variable_name", "variable_name", "test_operator", "command_name"),
}
"""Nodes that are one word of a command, or a part of it."""

COMMANDS: Final = (
    *("command", "declaration_command", "unset_command", "test_command"),
    *("variable_assignment", "variable_assignments"),
)
RUNS: Final = re.compile(r"`|\$[({\[]|[<>]\(")
"""The characters that begin code inside a word."""

ESCAPED: Final = re.compile(r"\\[\s\S]")

_SOLID: Final = frozenset(
    {"concatenation", "simple_expansion", "variable_assignment", "command_name"}
)
"""Nodes without blanks inside."""

_LINES: Final = frozenset({"redirected_statement", "file_redirect", "herestring_redirect"}) | {
    *("variable_assignments", "command", "declaration_command", "unset_command"),
}
"""Nodes in which a line may end only behind a backslash. Elsewhere a new command begins there."""

_BORDERS: Final = _LINES | {"negated_command", "test_command"}
"""Nodes whose children have something between them."""

_STATEMENTS: Final = frozenset(COMMANDS) | {
    *("list", "pipeline", "redirected_statement", "negated_command", "subshell", "if_statement"),
    *("compound_statement", "for_statement", "c_style_for_statement", "while_statement"),
    *("case_statement", "function_definition"),
}
RESERVED: Final = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until"),
        *("for", "select", "function", "{", "}", "!", "[[", "]]", "in"),
    )
)
ASSIGNS: Final = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.DOTALL)
_SPECIAL: Final = re.compile(rb"[0-9$@*#?!-]|[A-Za-z_]\w*")
_BEFORE_COMMENT: Final = frozenset((b"", *(bytes([c]) for c in b" \t\n;&|()")))
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\[[^\n]*\])?\Z")
_DELIMITER: Final = re.compile(r"""(['"]?)\\?([\w.+:@%-]+)\1\Z""")


def repair(root: Node, source: bytes) -> bytes:
    """Return the source in a form in which the grammar ends words and commands like the shell.

    - Comments become blanks: the grammar reads on behind some of them.
    - `$a/$1` becomes `$a/${1}`: the grammar may end the word before the 1.
    - `echo $"text"` becomes `echo "text"`: the grammar knows the translated string of bash only as
      a value.
    - Lines get a `;` at their end if the grammar reads on, as it does behind `a | b | c`.
    """
    changes: dict[tuple[int, int], bytes] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        todo += node.children
        start, end = node.start_byte, node.end_byte
        if node.type == "comment" and source[:start][-1:] in _BEFORE_COMMENT:
            changes[start, end] = b" " * (end - start)
        elif node.type == "concatenation" and source[end - 1 : end] == b"$":
            name = _SPECIAL.match(source, end)
            if name:
                changes[end, name.end()] = b"{%b}" % name[0]
        for one, other in pairwise(node.children[1:]) if node.type == "command" else ():
            if one.type == "$" and other.type == "string" and one.end_byte == other.start_byte:
                changes[one.start_byte, one.end_byte] = b""
        for one, other in pairwise(node.children) if node.type in _LINES else ():
            between = source[one.end_byte : other.start_byte].replace(b"\\\n", b"")
            if b"\n" in between and not between.strip():
                changes[one.end_byte, one.end_byte] = b";"
    for (start, end), text in sorted(changes.items(), reverse=True):
        source = source[:start] + text + source[end:]
    return source


def check_agreement(root: Node, source: bytes, first_line: int) -> None:
    """Raise UnfollowedText for the first place where the shell may read something else."""
    _AgreementChecks(source, first_line).run(root)


_Wrong = tuple["Node", str]
"""A node, and the text there that the shell may read in another way."""


class _AgreementChecks:
    def __init__(self, source: bytes, first_line: int) -> None:
        self._source, self._first = source, first_line

    def run(self, root: Node) -> None:
        self._check_gap(root, 0, root.start_byte)
        self._check_gap(root, root.end_byte, len(self._source))
        todo = [root]
        while todo:
            node = todo.pop()
            if node.type in {"ERROR", "comment"} or node.is_missing:
                raise self._error_at(node, "it is not understood as a shell command")
            for place, text in self._find_disagreements(node):
                raise self._error_at(place, f"the shell may read {text[:40]!r} in another way")
            if node.children and node.type not in {"string", "heredoc_body"}:
                ends = [node.start_byte, *(c.end_byte for c in node.children)]
                starts = [*(c.start_byte for c in node.children), node.end_byte]
                for end, start in zip(ends, starts, strict=True):
                    self._check_gap(node, end, start)
            todo += reversed(node.children)

    def _text_of(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode()

    def _error_at(self, node: Node, why: str) -> UnfollowedText:
        # A word that the parser begins on the line before is meant by its last line.
        row = node.start_point.row if node.children else node.end_point.row
        return UnfollowedText(self._first + row, why)

    def _text_between(self, one: Node, other: Node) -> bytes:
        return self._source[one.end_byte : other.start_byte].replace(b"\\\n", b"")

    def _check_gap(self, node: Node, start: int, end: int) -> None:
        """Check that only blanks stand between two children of `node`."""
        between = self._source[start:end].replace(b"\\\n", b"")
        loose = node.parent is not None and node.parent.type in {
            "c_style_for_statement",
            "expansion",
        }
        blanks = b" \t" if node.type in _LINES else b" \t\n"
        blanks = b"" if node.type in _SOLID and not loose else blanks
        if between.strip(blanks) or (between and not blanks):
            raise self._error_at(node, f"{between.decode(errors='replace')[:40]!r} is unexpected")

    def _find_disagreements(self, node: Node) -> Iterator[_Wrong]:
        """Yield the texts in `node` that the shell may read in another way."""
        if not node.children:
            yield from self._find_token_disagreements(node)
            return
        if node.type in _BORDERS:
            yield from self._find_missing_gaps(node)
        for one, other in pairwise(node.children):
            both = {one.type, other.type} <= _STATEMENTS and node.type not in _LINES
            if (both and b"\n" not in self._text_between(one, other)) or (
                one.type == "{" and not self._text_between(one, other)
            ):
                yield other, self._text_of(one) + self._text_of(other)
        match node.type:
            case "test_command":
                yield from self._find_test_disagreements(node)
            case "variable_assignment" if not _NAME.match(self._text_of(node.children[0])):
                yield node, self._text_of(node)
            case "heredoc_redirect":
                yield from self._find_heredoc_disagreements(node)
            case "command_name" if node.parent and node.parent.children[0] == node:
                if self._text_of(node) in RESERVED or ASSIGNS.match(self._text_of(node)):
                    yield node, self._text_of(node)
            case _:
                pass

    def _find_missing_gaps(self, node: Node) -> Iterator[_Wrong]:
        for one, other in pairwise(node.children):
            redirects = "_redirect" in other.type and other.children[0].type != "file_descriptor"
            opens = node.type == "file_redirect" and not one.type.endswith(("-", *WORDS))
            negates = one.type == "!" and other.type == "subshell"
            behind = "_redirect" in one.type and one.type != "heredoc_redirect"
            allowed = redirects or opens or negates or (behind and other.type == ";")
            if not allowed and not self._text_between(one, other):
                yield other, self._text_of(one) + self._text_of(other)

    def _find_test_disagreements(self, node: Node) -> Iterator[_Wrong]:
        """Yield words of `[` and `[[` that the shell joins, and of `[` alone line ends and marks.

        To the shell `[` is a program: `>` in it is a redirection, and no comparison.
        """
        old = not self._text_of(node).startswith("[[")
        todo, end, last = [*reversed(node.children)], node.start_byte, "("
        while todo:
            part = todo.pop()
            if part.type not in WORDS and part.children:
                todo += reversed(part.children)
                continue
            between = self._source[end : part.start_byte].replace(b"\\\n", b"")
            marks = not part.is_named and set(self._text_of(part)) & set("<>|&;()")
            joined = not between and not {last, part.type} & {"(", ")", "~"}
            if joined or (old and (marks or b"\n" in between)):
                yield part, self._text_of(part)
            end, last = part.end_byte, part.type

    def _find_heredoc_disagreements(self, node: Node) -> Iterator[_Wrong]:
        """Yield the marks of a here-document that do not stand as the shell wants them."""
        marks = {c.type: c for c in node.children}
        start, end = marks["heredoc_start"], marks.get("heredoc_end")
        found = _DELIMITER.match(self._text_of(start))
        if not found or end is None or not self._text_of(node).startswith("<<"):
            yield node, self._text_of(node)
            return
        before = self._source[: end.start_byte].rpartition(b"\n")[2]
        behind = self._source[end.end_byte :][:1]
        tabs = b"\t" if self._text_of(node).startswith("<<-") else b""
        if self._text_of(end) != found[2] or before.strip(tabs) or (before and not tabs):
            yield end, self._text_of(end)
        elif behind not in (b"", b"\n"):
            yield end, self._text_of(end) + behind.decode(errors="replace")

    def _find_token_disagreements(self, node: Node) -> Iterator[_Wrong]:
        """Yield a token with code inside, or one that is more than one token to the shell."""
        text, kind = self._text_of(node), node.type
        plain = ESCAPED.sub("", text)
        in_braces = node.parent is not None and node.parent.type == "expansion"
        if kind in {"raw_string", "ansi_c_string"} or kind.startswith("heredoc"):
            return
        if (
            (node.is_named and RUNS.search(plain))
            or (kind.endswith("variable_name") and text.strip() != text)
            or (kind == "word" and "\n" in text)
            or (kind == "regex" and not in_braces and re.search(r"[\s;&\"']|\|\|", plain))
        ):
            yield node, text
