"""A walk over the tokens of an awk program, and the nodes its tree is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.awk.awk_tokens import AwkToken
from pulsus.fast_dataclass import dataclass

_DEEPEST: Final = 30
"""Expressions and statements within one another that are followed."""


@dataclass(frozen=True, slots=True)
class AwkNode:
    """One construct: `text` is an operator, a name or a literal as written."""

    kind: str
    text: str = ""
    parts: tuple[AwkNode, ...] = ()


NOTHING: Final = AwkNode("nothing")


def walk(*nodes: AwkNode) -> Iterator[AwkNode]:
    """Yield `nodes` and all below them."""
    waiting = list(nodes)
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.parts


class Cursor:
    """A position among the tokens. A token that does not fit raises Unclear."""

    def __init__(self, found: Sequence[AwkToken]) -> None:
        self.tokens = found
        self.at = 0
        self.depth = 0
        self.printing = False
        """Directly in a print statement: there `>` is a redirection."""

    @property
    def next(self) -> AwkToken:
        return self.tokens[self.at]

    @property
    def last(self) -> AwkToken:
        return self.tokens[self.at - 1]

    def ended(self) -> bool:
        return self.next.kind == "end"

    def is_(self, *texts: str) -> bool:
        """Return True if the next token is one of these marks, keywords or a line's end."""
        return self.next.kind in {"mark", "keyword", "newline"} and self.next.text in texts

    def pop(self) -> AwkToken:
        """Return the next token, and on to the one behind it; the end is not left."""
        token = self.next
        self.at += not self.ended()
        return token

    def take(self, *texts: str) -> bool:
        found = self.is_(*texts)
        self.at += found
        return found

    def need(self, text: str) -> None:
        if not self.take(text):
            raise Unclear(self.next.text or "the end", f"awk: {text} is missing before it")

    def lines(self, *more: str) -> None:
        while self.take("\n", *more):
            pass

    def word(self, kind: str) -> str:
        if self.next.kind != kind:
            raise Unclear(self.next.text or "the end", f"awk: a {kind} is missing before it")
        return self.pop().text

    def lost(self) -> Unclear:
        return Unclear(self.next.text or "the end", "not understood as awk")

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unclear("", "awk: nested more deeply than is followed")
        yield
        self.depth -= 1
