"""A command line as stages of literal words, by tree-sitter's bash grammar.

A syntax error is refused here; the reasons for `$(…)`, `while` and here-documents are in
`unsupported_syntax.py`, limits on depth in `command_limits.py`. Redirections (`>`, `>>`, `<`) are
judged in `commands/call_check/redirects_and_assignments.py`. Only node kinds named here may occur,
and between the nodes only blanks: an unknown kind, an error or a gap is refused, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cache, lru_cache
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Final

from pulsus.commands.shell import for_loops
from pulsus.commands.shell.braces import expanded
from pulsus.commands.shell.command_limits import DEEPEST_GROUP
from pulsus.commands.shell.second_lexer import parsed, tokens
from pulsus.commands.shell.unsupported_syntax import unfollowed
from pulsus.commands.shell.words import Unreadable, Word, unquoted
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd` (empty if none is written), operator, target; `place` of its stage or last one."""

    fd: str
    operator: str
    target: Word
    place: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Stage:
    """One program call: `assignments` are `(name, value)` before it; `fed` from a pipe."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    fed: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Everything a command line would run, in order; `stages` of pipes, lists and groups alike.

    `negated`: a `!` stands before one of them. `braces`: one stands for several words, to bash.
    `written_out`: the text that was read in place of the command, with its loops written out;
    empty if it has none.
    """

    stages: tuple[Stage, ...]
    redirects: tuple[Redirect, ...] = ()
    compound: bool = False
    negated: bool = False
    braces: bool = False
    written_out: str = field(default="", compare=False)


class SameScript:
    """A script as a key that only the same object equals: to compare all words takes long.

    `parse_command` returns the same object for a command that it has read lately.
    """

    __slots__ = ("script",)

    def __init__(self, script: Script) -> None:
        self.script = script

    def __hash__(self) -> int:
        return id(self.script)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameScript) and other.script is self.script


_WORDS: Final = frozenset(
    {"word", "string", "raw_string", "concatenation", "number", "brace_expression"}
)
_STRUCTURE: Final = {
    "program": frozenset({";", "\n"}),
    "list": frozenset({"&&", "||"}),
    "pipeline": frozenset({"|"}),
    "compound_statement": frozenset({"{", "}", ";", "\n"}),
    "subshell": frozenset({"(", ")", ";", "\n"}),
    "negated_command": frozenset({"!"}),
    "redirected_statement": frozenset(),
}
"""Node kinds that hold commands, each with the marks that may stand in it."""

_LINES: Final = frozenset({"program", "list", "pipeline", "compound_statement", "subshell"})
"""Those in which a line may end: in others, the shell begins another command there."""

_COMMENTED: Final = frozenset({"program", "compound_statement"})

_NUMBER: Final = re.compile(r"(^|[ \t\n])\d+\Z")

_OPERATORS: Final = frozenset({"<", ">", ">>", ">|", "&>", "&>>", "<&", ">&"})

_GOES_ON: Final = re.compile(rb"(?:[ \t]|\\\n)*(?!\d*[<>])[^\s;|&)<>#]")
"""A word behind a redirection, the end of a line or of a command apart."""

_JOINED: Final = re.compile(r"[^ \t\n|&]\\\n[^ \t\n]|[|&]\\\n[^ \t\n\w./'\"-]|\n[ \t\\\n]*[;&|]")
"""The shell takes a `\\` and a line end away and reads on; the parser ends the word."""


@lru_cache(maxsize=16)
def parse_command(command: str) -> Script:
    """Return what `command` would run. Raises Unreadable if reading cannot tell.

    The last few are kept: verdict, policy, explanation and plan are asked of the same text.
    """
    joined = _JOINED.search(command) if "\n" in command else None
    if joined is not None:
        raise Unreadable(joined[0], "a line that is continued within a word")
    try:
        source = command.encode()
    except UnicodeEncodeError as error:
        raise Unreadable(f"character {error.start}", "it is no text") from None
    root = parser().parse(source).root_node
    if root.has_error:
        for _ in tokens(command):  # an open quote has a clearer reason
            pass
        raise Unreadable(_text_at_error(root, source), "not understood as a shell command")
    may_loop = "for" in command and for_loops.MAY_HOLD.search(command)
    unrolled = for_loops.written_out(root, source) if may_loop else None
    if unrolled is not None:
        return replace(parse_command(unrolled), written_out=unrolled)
    reading = _TreeReader(source)
    reading.structure(root, fed=False, depth=0)
    if not reading.stages:
        raise Unreadable(command.strip(), "there is no command in it")
    for ours, theirs in zip_longest(tokens(command), parsed(root, source)):
        if ours != theirs:
            raise Unreadable((ours or theirs or "")[:40], "two readers of it disagree here")
    return Script(
        stages=tuple(reading.stages),
        redirects=tuple(reading.redirects),
        compound=len(reading.stages) > 1,
        negated=reading.negated,
        braces=reading.braces,
    )


@cache
def parser() -> Parser:
    # Late: needed only once a command is judged.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _text_at_error(root: Node, source: bytes) -> str:
    node = root
    while True:
        wrong = next((c for c in node.children if c.has_error or c.is_missing), None)
        if wrong is None:
            return source[node.start_byte : node.end_byte].decode().strip()[:40]
        node = wrong


class _TreeReader:
    """Collects stages and redirects while the tree is walked."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.stages: list[Stage] = []
        self.redirects: list[Redirect] = []
        self.negated = False
        self.braces = False

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def structure(self, node: Node, *, fed: bool, depth: int) -> None:
        kind = node.type
        if kind == "command":
            self.command(node, fed=fed)
            return
        if kind == "test_command":
            self.test(node, fed=fed)
            return
        marks = _STRUCTURE.get(kind)
        if marks is None or depth > DEEPEST_GROUP:
            raise unfollowed(kind, self.text(node))
        self.negated |= kind == "negated_command"
        if kind == "redirected_statement":
            self.apart(node.children)
            if node.children[0].type == "file_redirect":
                raise Unreadable(self.text(node)[:40], "a redirection without a command")
        first = True
        for child in self.children(node):
            if child.type in marks or (child.type == "comment" and kind in _COMMENTED):
                continue
            if child.type == "file_redirect" and kind == "redirected_statement":
                self.behind(node, self.redirect(child, len(self.stages) - 1))
            else:
                piped = kind == "pipeline" and not first
                if piped and child.type == "negated_command":
                    raise Unreadable(self.text(child)[:40], "a ! stands before a whole pipe")
                self.structure(child, fed=fed or piped, depth=depth + 1)
            first = False

    def children(self, node: Node) -> Iterator[Node]:
        """Yield the children of `node`. Raises Unreadable for text that is in none of them."""
        at, blanks = node.start_byte, b" \t\n" if node.type in _LINES else b" \t"
        for child in node.children:
            if self.source[at : child.start_byte].strip(blanks):
                self.blank(at, child.start_byte, blanks)
            at = child.end_byte
            yield child
        self.blank(at, node.end_byte, blanks)

    def blank(self, start: int, end: int, blanks: bytes) -> None:
        between = self.source[start:end].replace(b"\\\n", b"")
        if between.strip(blanks):
            raise Unreadable(between.decode(errors="replace")[:40], "not understood")

    def apart(self, words: Sequence[Node]) -> None:
        """Raises Unreadable if nothing is between two words: to the shell they are one.

        A number before `>` may be a word's end or not; only a mark behind another letter ends one.
        """
        for one, other in pairwise(words):
            if self.source[one.end_byte : other.start_byte].replace(b"\\\n", b""):
                continue
            marked = other.type == "file_redirect" and self.text(other)[:1] in {"<", ">", "&"}
            if not marked or _NUMBER.search(self.text(one)):
                joined = self.source[one.start_byte : other.end_byte].decode(errors="replace")
                raise Unreadable(joined[:40], "the parser and the shell may differ on its words")

    def command(self, node: Node, *, fed: bool) -> None:
        words: list[Word] = []
        assignments: list[tuple[str, str]] = []
        self.apart(node.children)
        for child in self.children(node):
            kind = child.type
            if kind == "command_name":
                words.append(unquoted(self.text(child)))
            elif kind in _WORDS:
                words += self.words(child)
            elif kind == "variable_assignment":
                assignments.append(self.assignment(child))
            elif kind == "file_redirect":
                words += self.redirect(child, len(self.stages))
            elif kind in {"==", "=~"}:
                words.append(Word(self.text(child)))
            else:
                raise unfollowed(kind, self.text(child))
        self.stages.append(Stage(tuple(words), tuple(assignments), fed))

    def words(self, node: Node) -> list[Word]:
        """Return one word, or those that its braces stand for."""
        source = self.text(node)
        words = [unquoted(word) for word in expanded(source)]
        if not words:
            raise Unreadable(source[:40], "it stands for no word or too many")
        self.braces |= len(words) > 1
        return words

    def assignment(self, node: Node) -> tuple[str, str]:
        name, _, value = self.text(node).partition("=")
        word = unquoted(value)
        # `?` and `*` stay as they are in a value: a shell looks for no names there.
        if not name.isidentifier() or "~" in word.text:
            raise Unreadable(self.text(node), "an assignment that is not followed")
        return name, word.text

    def test(self, node: Node, *, fed: bool) -> None:
        """`[ … ]` is the program `[`; `[[ … ]]` is shell syntax of its own and refused."""
        source = self.text(node)
        if source.startswith("[["):
            raise unfollowed(node.type, source)
        leaves = [*self.leaves(node)]
        self.apart(leaves)
        words = [unquoted(self.text(leaf)) for leaf in leaves]
        self.stages.append(Stage(tuple(words), (), fed))

    def leaves(self, node: Node) -> Iterator[Node]:
        for child in self.children(node):
            if child.type in _WORDS or not child.children:
                yield child
            elif child.type in {"unary_expression", "binary_expression", "negation_expression"}:
                yield from self.leaves(child)
            else:
                raise unfollowed(child.type, self.text(child))

    def redirect(self, node: Node, place: int) -> list[Word]:
        """Add a redirection. The words after its target belong to the command before it."""
        fd, operator = "", ""
        words: list[Word] = []
        for child in self.children(node):
            if child.type == "file_descriptor":
                fd = self.text(child)
            elif child.type in _WORDS:
                words.append(unquoted(self.text(child)))
            elif child.type in _OPERATORS and not (operator or words):
                operator = child.type
            else:
                raise unfollowed(child.type, self.text(child))
        self.apart([child for child in node.children if child.type in _WORDS])
        if (fd and not fd.isdigit()) or self.source[: node.start_byte].endswith(b"}"):
            raise Unreadable(
                self.text(node), "the parser and the shell may differ on what it opens"
            )
        if not words:
            raise Unreadable(self.text(node), "a redirection without a plain target")
        if operator[0] == "&" and (words[1:] or _GOES_ON.match(self.source, node.end_byte)):
            raise Unreadable(self.text(node), "other shells run what stands behind it")
        self.redirects.append(Redirect(fd, operator, words[0], place))
        return words[1:]

    def behind(self, node: Node, words: list[Word]) -> None:
        """`find . 2>/dev/null -delete`: a command goes on behind a redirection."""
        if not words:
            return
        if node.children[0].type not in {"command", "pipeline", "list"}:
            raise Unreadable(
                words[0].text, "a word behind a redirection that belongs to no command"
            )
        last = self.stages.pop()
        self.stages.append(Stage((*last.words, *words), last.assignments, last.fed))
