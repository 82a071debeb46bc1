"""Read a shell script as its simple commands, by the parser of the command gate. Pure.

The text of words is read in `adoption/script_effects/shell_word_reader.py`, and effects are
collected in `adoption/script_effects/shell_walk.py`. A text that the shell might read in another
way is refused in `adoption/script_effects/shell_agreement.py`.

Bodies of loops, branches, functions, subshells and substitutions are commands like any other: a
script is declared by what may run, not by when it runs. Text that the parser does not understand,
or where the shell might see other words than the parser, raises `UnfollowedText` with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pulsus.adoption.script_effects.shell_agreement import (
    ASSIGNS,
    COMMANDS,
    RESERVED,
    WORDS,
    check_agreement,
    repair,
)
from pulsus.adoption.script_effects.shell_values import (
    ARITHMETIC,
    BRACES,
    HOLE,
    PLACE,
    ScriptRedirect,
    ScriptWord,
    SimpleCommand,
    UnfollowedText,
)
from pulsus.adoption.script_effects.shell_word_reader import WordReader
from pulsus.commands.shell.script_parser import parser

if TYPE_CHECKING:
    from tree_sitter import Node

_CODED: Final = re.compile(r"\\(?:x(?:24|60)|0?(?:44|140)|[uU]0*(?:24|60))")
"""A `$` or a backtick by its number, in `$'…'`."""

_LACKING: Final = (
    (re.compile(rb"(?<=\d)<>"), b">|"),
    (re.compile(rb"\bfor([ \t]+\w+)(?=\s+do\s)"), rb"for\1;"),
)
"""Forms that the grammar lacks, and others that have the same effects."""

_REPAIRS: Final = 20
_VALUES: Final = ("variable_assignment", "variable_assignments")


def read_commands(text: str, first_line: int = 1) -> tuple[list[SimpleCommand], frozenset[str]]:
    """Return every simple command, and the names of functions. Raises UnfollowedText."""
    try:
        root, source = _parse_and_repair(text.encode())
        for unknown, same in _LACKING if root.has_error else ():
            source = unknown.sub(same, source)
            root, source = _parse_and_repair(source)
        reading = _CommandReader(source, first_line)
        check_agreement(root, source, first_line)
        reading.visit(root)
    except UnicodeEncodeError:
        raise UnfollowedText(first_line, "it is no text") from None
    except RecursionError:
        raise UnfollowedText(first_line, "it nests too deep") from None
    return reading.found, frozenset(reading.functions)


def _parse_and_repair(source: bytes) -> tuple[Node, bytes]:
    root = parser().parse(source).root_node
    for _ in range(_REPAIRS):
        better = repair(root, source)
        if better == source:
            break
        source = better
        root = parser().parse(source).root_node
    return root, source


class _CommandReader:
    """Collects the commands below the nodes that are visited."""

    def __init__(self, source: bytes, first_line: int) -> None:
        self._words = WordReader(source, first_line)
        self.found: list[SimpleCommand] = []
        self.functions: set[str] = set()

    def stop(self, node: Node, why: str) -> UnfollowedText:
        """Return the error for `node`."""
        return UnfollowedText(self._words.line(node), why)

    def visit(self, node: Node) -> None:
        """Add the commands in `node` and below."""
        kind = node.type
        if kind in COMMANDS:
            self._add_command(node, ())
        elif kind == "redirected_statement" or kind.endswith("_redirect"):
            self._add_redirected(node)
        elif kind == "for_statement":
            self._add_loop(node)
        else:
            if kind == "function_definition":
                self.functions.add(self._words.text(node.children_by_field_name("name")[0]))
            elif kind == "c_style_for_statement":
                for child in node.children[:-1]:
                    self._add_evaluated(ARITHMETIC, child)
            elif kind == "compound_statement" and self._words.text(node).startswith("(("):
                self._add_evaluated(ARITHMETIC, node)
            self._add_expansions(node)

    def _visit_children(self, node: Node) -> None:
        for child in node.children:
            self.visit(child)

    def _add_expansions(self, node: Node) -> None:
        """Add what a word's expansions evaluate, and run."""
        if node.type == "arithmetic_expansion":
            self._add_evaluated(ARITHMETIC, node)
        elif node.type == "expansion":
            self._add_evaluated(BRACES, node)
        elif node.type == "ansi_c_string" and _CODED.search(self._words.text(node)):
            self._add_named_command(node, ARITHMETIC, "$")
        self._visit_children(node)

    def _add_evaluated(self, name: str, node: Node) -> None:
        """Add the text of `${…}` or arithmetic as a command of that name."""
        start, end = node.start_byte, node.end_byte
        if node.type.endswith("expansion"):
            start, end = node.children[0].end_byte, node.children[-1].start_byte
        old_form = self._words.text(node).lstrip().startswith("$[")
        shape = "[" if old_form else self._words.shape_between(node, start, end)
        self._add_named_command(node, name, shape)

    def _add_named_command(self, node: Node, name: str, shape: str) -> None:
        line = self._words.line(node)
        words = (ScriptWord(line, name, name), ScriptWord(line, shape, self._words.text(node)))
        self.found.append(SimpleCommand(line, words))

    def _add_command(
        self, node: Node, redirects: Sequence[ScriptRedirect], more: Sequence[ScriptWord] = ()
    ) -> None:
        tests = node.type == "test_command"
        words: list[ScriptWord] = []
        assigned: list[tuple[str, ScriptWord]] = []
        added = list(redirects)
        for child in [node] if node.type == "variable_assignment" else node.children:
            if child.type == "variable_assignment" and node.type != "declaration_command":
                assigned.append(self._read_assignment(child))
            elif child.type.endswith("_redirect"):
                redirect, behind = self._read_redirect(child)
                added.append(redirect)
                words += behind
            elif tests:
                words += self._test_words(child)
            else:
                word = (
                    self._declaration_word(child)
                    if child.type == _VALUES[0]
                    else self._words.word(child)
                )
                words.append(word)
        for child in node.children:
            if not child.type.endswith("_redirect"):
                self._add_expansions(child)
        words += more
        if not (assigned or self._is_redirected_before(node)):
            words = _drop_keywords(words)
        if any(ASSIGNS.match(w.raw) or w.raw in RESERVED for w in words[:1]) and not tests:
            raise self.stop(node, f"{words[0].raw} behind `time` is not followed")
        self.found.append(
            SimpleCommand(self._words.line(node), tuple(words), tuple(assigned), tuple(added))
        )

    def _is_redirected_before(self, node: Node) -> bool:
        """Return True if a redirection stands before the command: then `time` is a program."""
        first = node.parent if node.parent and node.parent.type == "redirected_statement" else node
        return first.children[0].type.endswith("_redirect")

    def _add_redirected(self, node: Node) -> None:
        """Add a command with the redirections behind it, or those of a compound command."""
        children = [node] if node.type.endswith("_redirect") else node.children
        redirects: list[ScriptRedirect] = []
        more: list[ScriptWord] = []
        body = None
        for child in children:
            if child.type.endswith("_redirect"):
                redirect, behind = self._read_redirect(child)
                redirects.append(redirect)
                more += behind
            else:
                body = child
        if body is not None and body.type in COMMANDS:
            self._add_command(body, redirects, more)
        elif more:
            raise self.stop(node, f"{more[0].raw} belongs to no command")
        else:
            self.found.append(SimpleCommand(self._words.line(node), (), (), tuple(redirects)))
            if body is not None:
                self.visit(body)

    def _read_redirect(self, node: Node) -> tuple[ScriptRedirect, list[ScriptWord]]:
        """Return a redirection, and the words behind its target, which are the command's."""
        if node.type == "heredoc_redirect":
            return self._read_heredoc(node)
        words = [self._words.word(child) for child in node.children if child.type in WORDS]
        operator = next(c.type for c in node.children if not c.is_named)
        closes = operator in ("<&-", ">&-")
        if not words and not closes:
            raise self.stop(node, "a redirection without a target")
        fd = node.child_by_field_name("descriptor")
        if fd is not None and not self._words.text(fd).isdigit():
            raise self.stop(node, "a redirection whose number only shows when it runs")
        for child in node.children:
            self._add_expansions(child)
        if closes:
            return ScriptRedirect(operator[:2], ScriptWord(self._words.line(node), "-", "-")), words
        return ScriptRedirect(operator, words[0]), words[1:]

    def _read_heredoc(self, node: Node) -> tuple[ScriptRedirect, list[ScriptWord]]:
        start = next(c for c in node.children if c.type == "heredoc_start")
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        quoted = bool(set(self._words.text(start)) & set("'\"\\"))
        behind: list[ScriptWord] = []
        for child in node.children:
            if child.type in WORDS:
                behind.append(self._words.word(child))
                self._add_expansions(child)
            elif child.is_named and child.type not in {"heredoc_start", "heredoc_body"}:
                self.visit(child)
        if body is None:
            return ScriptRedirect("<<", None, ""), behind
        if quoted:
            text = self._words.text(body)
        else:
            text = self._words.shape_in_quotes(body, body.start_byte, body.end_byte)
            self._add_expansions(body)
        if self._words.text(node).startswith("<<-"):
            text = re.sub(r"^\t+", "", text, flags=re.MULTILINE)
        return ScriptRedirect("<<", None, text), behind

    def _read_assignment(self, node: Node) -> tuple[str, ScriptWord]:
        name, line = node.children[0], self._words.line(node)
        variable = self._words.text(name)
        if name.type == "subscript":
            variable, _, place = variable.partition("[")
            if not PLACE.fullmatch(f"[{place}"):
                self._add_named_command(name, ARITHMETIC, "[")
        value = node.child_by_field_name("value")
        if value is None:
            return variable, ScriptWord(line, "", "")
        if value.type == "array":
            items = [
                self._words.word(c) if c.type in WORDS else self._declaration_word(c)
                for c in value.children
                if c.is_named
            ]
            shape = " ".join([HOLE, *(item.shape for item in items)])
            return variable, ScriptWord(line, shape, self._words.text(value), splits=True)
        return variable, self._words.word(value)

    def _declaration_word(self, node: Node) -> ScriptWord:
        """Return `NAME=value` behind `declare` as one word."""
        name, value = self._read_assignment(node)
        variable = (
            self._words.shape(node.children[0]) if node.children[0].type == "subscript" else name
        )
        sign = (
            "+="
            if self._words.text(node)[len(self._words.text(node.children[0])) :][:1] == "+"
            else "="
        )
        shape = f"{variable}{sign}{value.shape}"
        return ScriptWord(
            self._words.line(node), shape, self._words.text(node), value.splits, value.quoted
        )

    def _test_words(self, node: Node) -> Iterator[ScriptWord]:
        if node.type in WORDS or not node.children:
            yield self._words.word(node)
        else:
            for child in node.children:
                yield from self._test_words(child)

    def _add_loop(self, node: Node) -> None:
        name = self._words.text(node.children_by_field_name("variable")[0])
        values = [self._words.word(child) for child in node.children_by_field_name("value")]
        line = self._words.line(node)
        values = values or [ScriptWord(line, f"{HOLE}.", name)]
        self.found.append(SimpleCommand(line, (), tuple((name, value) for value in values)))
        self._visit_children(node)


def _drop_keywords(words: list[ScriptWord]) -> list[ScriptWord]:
    """Drop words of the shell that the parser takes for programs. They run what follows."""
    while words and words[0].raw in ("time", "coproc"):
        words = words[2:] if [w.raw for w in words[1:2]] == ["-p"] else words[1:]
    return words
