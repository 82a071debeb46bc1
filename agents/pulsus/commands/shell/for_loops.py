"""Loops over known words, written out: `for h in a b; do ssh $h uptime; done` is two calls of ssh.

`while` and other loops are refused in `unsupported_syntax.py`.

The shell runs the body once for each word, so the body is written down once for each, with the word
in the place of the variable. What comes of it is read and judged like any other text, and that text
is what `prepared` runs. Where parser and shell could see another loop, it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pulsus.commands.shell.braces import expanded
from pulsus.commands.shell.command_limits import DEEPEST_LOOP, LONGEST_COMMAND
from pulsus.commands.shell.second_lexer import placed
from pulsus.commands.shell.words import Unreadable, unquoted
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

MAY_HOLD: Final = re.compile(r"(?:^|[\s;&|({!])for\s")

_VARIABLE: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_READ_BY_PROGRAMS: Final = re.compile(
    r"\w+_proxy|(?:npm|pip|conda|rvm|kube|aws|gcc)_\w*|c?d?path|fpath|manpath|mailpath|module_path"
    r"|argv|status|pipestatus|prompt|psvar|watch|histchars|signals|options|commands|functions"
    r"|aliases|parameters|term|home|user|shell|cwd|version|history|umask"
)
"""Variables in small letters that programs or other shells give a meaning."""

_VALUE: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+(?: [A-Za-z0-9_@%+=:,./-]+)*")
_USED: Final = re.compile(rb"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_BLANKS: Final = re.compile(rb"(?:[ \t]|\\\n)*")
_BEFORE: Final = {"", ";", "&&", "||", "|", "(", "{", "do", "!"}
"""Tokens behind which the shell takes `for` for the word that begins a loop."""

_WORDS: Final = "name the words: for h in web1 web2; do …; done"
_FOLLOWED: Final = frozenset(
    {"program", "list", "pipeline", "compound_statement", "subshell", "negated_command"}
    | {"redirected_statement", "do_group"}
)


@dataclass(frozen=True, slots=True)
class _Variable:
    """One use of a variable in the text, as bytes from `start` to `end`."""

    start: int
    end: int
    name: str
    in_string: bool


def written_out(root: Node, source: bytes) -> str | None:
    """Return the command with each loop over known words written out; None if it has no loop.

    Raises Unreadable for a loop that cannot be written out.
    """
    loops = [*_outermost_loops(root)]
    if not loops:
        return None
    text = _Unrolling(source).replaced(root, {}, 0)
    if len(text) > LONGEST_COMMAND:
        raise Unreadable(
            "for", f"written out, it is longer than the limit of {LONGEST_COMMAND:,} characters"
        )
    return text.decode()


def _outermost_loops(node: Node) -> Iterator[Node]:
    """Yield the outermost loops below `node`, in places where commands stand."""
    for child in node.children:
        if child.type == "for_statement":
            yield child
        elif child.type in _FOLLOWED:
            yield from _outermost_loops(child)


class _Unrolling:
    """The text of a command, with its tokens and variables found once more without the parser."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        text = source.decode()
        self.tokens = [
            (len(text[:start].encode()), token.encode()) for start, token in placed(text)
        ]
        self.places = {start: at for at, (start, _) in enumerate(self.tokens)}
        self.variables = {one.start: one for one in _scanned_variables(source)}

    def replaced(self, node: Node, bound: Mapping[str, str], depth: int) -> bytes:
        """Return the text of `node`, its loops written out and the variables in `bound` filled
        in."""
        return self.span(node, node.start_byte, node.end_byte, bound, depth)

    def span(self, node: Node, start: int, end: int, bound: Mapping[str, str], depth: int) -> bytes:
        pieces, at = [], start
        for loop in _outermost_loops(node):
            pieces.append(self.filled(node, at, loop.start_byte, bound))
            pieces.append(self.unrolled(loop, bound, depth + 1))
            at = loop.end_byte
        pieces.append(self.filled(node, at, end, bound))
        return b"".join(pieces)

    def filled(self, node: Node, start: int, end: int, bound: Mapping[str, str]) -> bytes:
        """Return the text from `start` to `end`, which holds no loop, with variables filled in."""
        ours = {
            (one.start, one.end, one.in_string): bound[one.name]
            for one in self.variables.values()
            if start <= one.start < end and one.name in bound
        }
        theirs = {
            found
            for found in _parsed_variables(node, self.source, bound)
            if start <= found[0] < end
        }
        if set(ours) != theirs:
            name = next(iter(bound))
            raise Unreadable(f"${name}", "two readers of it disagree on where it stands")
        pieces, at = [], start
        for (first, last, in_string), value in sorted(ours.items()):
            if not in_string and " " in value:
                raise Unreadable(
                    self.source[first:last].decode(),
                    f"the shell takes {value!r} apart into words here",
                    f'write "{self.source[first:last].decode()}"',
                )
            pieces += [self.source[at:first], (value if in_string else f"'{value}'").encode()]
            at = last
        return b"".join([*pieces, self.source[at:end]])

    def unrolled(self, loop: Node, bound: Mapping[str, str], depth: int) -> bytes:
        """Return the body of `loop` once for each of its words, as one group."""
        if depth > DEEPEST_LOOP:
            raise Unreadable("for", f"more than {DEEPEST_LOOP} loops within loops")
        name, values, group = self.head(loop, bound)
        do, done = group.children[0], group.children[-1]
        bodies = []
        for value in values:
            bodies.append(
                self.span(group, do.end_byte, done.start_byte, {**bound, name: value}, depth).strip(
                    b" \t"
                )
            )
            if sum(map(len, bodies)) > LONGEST_COMMAND:
                raise Unreadable(
                    "for",
                    f"written out, it is longer than the {LONGEST_COMMAND:,} characters judged",
                )
        return b"{ " + b"\n".join(bodies) + b"\n} "

    def head(self, loop: Node, bound: Mapping[str, str]) -> tuple[str, list[str], Node]:
        """Return the variable, the words and the body. Raises Unreadable if any of them is
        unsure."""
        kinds = [child.type for child in loop.children]
        if kinds[0] != "for":
            raise Unreadable(kinds[0], "it asks a person to choose", _WORDS)
        if kinds[1:3] != ["variable_name", "in"] or kinds[-1] != "do_group":
            raise Unreadable("for", "the words it goes over are not named", _WORDS)
        name = self.text(loop.children[1])
        if not _VARIABLE.fullmatch(name) or _READ_BY_PROGRAMS.fullmatch(name) or name in bound:
            raise Unreadable(
                name,
                "programs may read a variable of this name",
                "name it by small letters, such as h or host",
            )
        words = [child for child in loop.children[3:-1] if child.type != ";"]
        self.keywords(loop, words)
        values = [value for word in words for value in self.values(word, bound)]
        if not values:
            raise Unreadable("for", "it goes over no word", _WORDS)
        return name, values, loop.children[-1]

    def keywords(self, loop: Node, words: Sequence[Node]) -> None:
        """Check that the shell sees `for`, `in`, `do` and `done` where the parser does."""
        group = loop.children[-1]
        do, done = group.children[0], group.children[-1]
        if self.token_before(loop.start_byte) not in _BEFORE:
            raise Unreadable("for", "the shell may not take it for a loop here")
        behind_words = [*(word.start_byte for word in words)]
        for start in (loop.children[1].start_byte, loop.children[2].start_byte, *behind_words):
            if self.token_before(start) == "" or start not in self.places:
                raise Unreadable("for", "its words do not stand on one line")
        for mark in (do, done):
            if mark.type not in {"do", "done"} or self.token_before(mark.start_byte) not in {
                "",
                ";",
            }:
                raise Unreadable(mark.type, "the shell may not see the loop's body here")

    def token_before(self, start: int) -> str:
        """Return the token before the one at `start`. Empty if a line, or the text, begins
        there."""
        at = self.places.get(start)
        if at is None:
            raise Unreadable("for", "two readers of it disagree here")
        if at == 0:
            return ""
        before, token = self.tokens[at - 1]
        gap = self.source[before + len(token) : start]
        return token.decode() if _BLANKS.fullmatch(gap) else ""

    def values(self, word: Node, bound: Mapping[str, str]) -> Iterator[str]:
        """Yield the words that one word behind `in` stands for."""
        text = self.filled(word, word.start_byte, word.end_byte, bound).decode()
        for each in expanded(text):
            if "$" in each or "`" in each:
                raise Unreadable(each, "its list of words is not known before it runs", _WORDS)
            value = unquoted(each)
            if value.wild:
                raise Unreadable(each, "which files it goes over is not known", "name them")
            if not _VALUE.fullmatch(value.text):
                raise Unreadable(each, "a word that the body may see as another one", _WORDS)
            yield value.text

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()


def _parsed_variables(
    node: Node, source: bytes, bound: Mapping[str, str], *, in_string: bool = False
) -> Iterator[tuple[int, int, bool]]:
    """Yield where the parser sees the variables in `bound` below `node`, except in loops."""
    if node.type in {"simple_expansion", "expansion"}:
        found = _USED.fullmatch(source, node.start_byte, node.end_byte)
        if found and (found[1] or found[2]).decode() in bound:
            yield node.start_byte, node.end_byte, in_string
            return
    for child in node.children:
        yield from _parsed_variables(
            child, source, bound, in_string=in_string or node.type == "string"
        )


def _scanned_variables(source: bytes) -> Iterator[_Variable]:
    """Yield the variables in `source` by the shell's rules of quoting, without its grammar."""
    at, in_string, word_begins = 0, False, True
    while at < len(source):
        char = source[at : at + 1]
        found = _USED.match(source, at) if char == b"$" else None
        end = at + 1
        if found is not None:
            end = found.end()
            yield _Variable(at, end, (found[1] or found[2]).decode(), in_string)
        elif char == b"\\":
            end = at + 2
        elif char == b'"':
            in_string = not in_string
        elif char == b"'" and not in_string:
            end = (source.find(b"'", at + 1) + 1) or len(source)
        elif char == b"#" and word_begins and not in_string:
            end = (source.find(b"\n", at) + 1) or len(source)
        word_begins = not in_string and char in b" \t\n;&|()"
        at = end
