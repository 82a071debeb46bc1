"""Expressions of awk, by precedence. Accepts no more than the awks do, but for what is harmless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.awk.nodes import NOTHING, AwkNode, Cursor

_ASSIGNS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "^=", "**="})
_LEVELS: Final = {
    **{"||": 0, "&&": 1, "in": 2, "~": 3, "!~": 3},
    **dict.fromkeys(("<", "<=", "==", "!=", ">", ">="), 4),
}


class Expressions:
    """Reads expressions where `cursor` stands."""

    def __init__(self, cursor: Cursor) -> None:
        self.c = cursor

    def expression(self, *, no_ternary: bool = False) -> AwkNode:
        with self.c.deeper():
            found = self.binary(0)
            if no_ternary or not self.c.take("?"):
                return found
            self.c.lines()
            then = self.expression()
            self.c.lines()
            self.c.need(":")
            self.c.lines()
            return AwkNode("?", parts=(found, then, self.expression()))

    def binary(self, level: int) -> AwkNode:
        found = self.concatenation()
        while True:
            token = self.c.next
            mark = token.text if token.kind in {"mark", "keyword"} else ""
            if _LEVELS.get(mark, -1) < level or (self.c.printing and mark == ">"):
                return found
            self.c.at += 1
            if mark in {"||", "&&"}:
                self.c.lines()
            if mark == "in":
                found = AwkNode("in", self.c.word("name"), (found,))
            else:
                found = AwkNode("binary", mark, (found, self.binary(_LEVELS[mark] + 1)))

    def concatenation(self) -> AwkNode:
        parts = [self.sum()]
        while self.c.next.kind in {"number", "string", "name", "call"} or self.c.is_(
            "$", "(", "++", "--"
        ):
            parts.append(self.sum())
        return parts[0] if len(parts) == 1 else AwkNode("join", parts=tuple(parts))

    def sum(self) -> AwkNode:
        found = self.product()
        while self.c.is_("+", "-"):
            found = self.operation(found, self.product)
        return found

    def product(self) -> AwkNode:
        found = self.unary()
        while self.c.is_("*", "/", "%"):
            found = self.operation(found, self.unary)
        return found

    def operation(self, left: AwkNode, operand: Callable[[], AwkNode]) -> AwkNode:
        mark = self.c.next.text
        self.c.at += 1
        return AwkNode("binary", mark, (left, operand()))

    def unary(self) -> AwkNode:
        marks: list[str] = []
        while self.c.is_("!", "-", "+"):
            marks.append(self.c.next.text)
            self.c.at += 1
        found = self.power()
        for mark in reversed(marks):
            found = AwkNode("unary", mark, (found,))
        return found

    def power(self) -> AwkNode:
        found = self.assigned()
        if self.c.is_("^", "**"):
            with self.c.deeper():
                found = self.operation(found, self.unary)
        return found

    def assigned(self) -> AwkNode:
        """Return an operand, stepped or assigned where it is a variable."""
        if self.c.is_("++", "--"):
            mark = self.c.next.text
            self.c.at += 1
            return AwkNode("step", mark, (self.variable(self.primary()),))
        found = self.primary()
        if found.kind not in {"name", "element", "field"}:
            return found
        if self.c.is_("++", "--"):
            self.c.at += 1
            return AwkNode("step", self.c.last.text, (found,))
        if self.c.is_(*_ASSIGNS):
            self.c.at += 1
            mark = self.c.last.text
            self.c.lines()
            return AwkNode("assign", mark, (found, self.expression()))
        return found

    def variable(self, node: AwkNode) -> AwkNode:
        if node.kind not in {"name", "element", "field"}:
            raise self.c.lost()
        return node

    def primary(self) -> AwkNode:
        token = self.c.pop()
        if token.kind in {"number", "string", "regex"}:
            return AwkNode(token.kind, token.text)
        if token.kind == "call":
            self.c.at += 1
            return AwkNode("call", token.text, self.listed(")"))
        if token.kind == "name":
            if self.c.take("["):
                return AwkNode("element", token.text, self.subscripts())
            return AwkNode("name", token.text)
        if token.kind == "keyword" and token.text == "getline":
            return self.getline()
        if token.text == "$" and token.kind == "mark":
            return AwkNode("field", parts=(self.field(),))
        if token.text == "(" and token.kind == "mark":
            return self.group()
        raise Unclear(token.text or "the end", "not understood as awk")

    def field(self) -> AwkNode:
        if self.c.is_("++", "--"):
            return self.assigned()
        with self.c.deeper():
            if self.c.is_("-", "+", "!"):
                return AwkNode("unary", self.c.pop().text, (self.field(),))
            return self.primary()

    def subscripts(self) -> tuple[AwkNode, ...]:
        found = self.listed("]")
        while self.c.take("["):
            found = (*found, *self.listed("]"))
        return found

    def group(self) -> AwkNode:
        parts = self.listed(")")
        if not parts:
            raise Unclear("()", "not understood as awk")
        return parts[0] if len(parts) == 1 else AwkNode("group", parts=parts)

    def listed(self, end: str) -> tuple[AwkNode, ...]:
        parts: list[AwkNode] = []
        printing, self.c.printing = self.c.printing, False
        self.c.lines()
        while not self.c.take(end):
            parts.append(self.expression())
            self.c.lines()
            if self.c.take(","):
                self.c.lines()
            elif not self.c.is_(end):
                raise self.c.lost()
        self.c.printing = printing
        return tuple(parts)

    def getline(self) -> AwkNode:
        into = NOTHING
        if self.c.next.kind == "name" or self.c.is_("$"):
            into = self.primary()
        if not self.c.take("<"):
            return AwkNode("getline", parts=(into,))
        file = self.c.pop()
        after = self.c.next
        if (
            file.kind != "string"
            or after.kind in {"string", "name", "number", "call"}
            or self.c.is_("$")
        ):
            raise Unclear("getline <", "the file it reads is not written out")
        return AwkNode("getline", file.text, (into,))
