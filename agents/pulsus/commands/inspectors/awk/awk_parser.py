"""An awk program as a tree, or why it cannot be followed.

Syntax errors, and output to a file or a pipe, are refused here.

A redirection raises where it is met, a pipe already among the tokens; names are left to the judge.
"""

from __future__ import annotations

from typing import Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.awk.awk_expressions import Expressions
from pulsus.commands.inspectors.awk.awk_tokens import tokens
from pulsus.commands.inspectors.awk.nodes import NOTHING, AwkNode, Cursor

SCREEN: Final = frozenset({'"/dev/stderr"', '"/dev/stdout"', '"/dev/null"'})
"""Names that print may write to, because they are no files."""


def parse_awk(text: str) -> tuple[AwkNode, ...]:
    """Return the rules and functions of `text`. Raises Unclear."""
    cursor = Cursor(tokens(text))
    return _AwkRules(cursor, Expressions(cursor)).program()


class _AwkRules:
    def __init__(self, cursor: Cursor, expressions: Expressions) -> None:
        self.c = cursor
        self.expression = expressions.expression
        self.primary = expressions.primary

    def program(self) -> tuple[AwkNode, ...]:
        found: list[AwkNode] = []
        self.c.lines(";")
        while not self.c.ended():
            found.append(self.item())
            apart = self.c.last.text == "}" or self.c.ended() or self.c.is_(";", "\n")
            if not apart:
                raise self.c.lost()
            self.c.lines(";")
        return tuple(found)

    def item(self) -> AwkNode:
        if self.c.take("function", "func"):
            return self.function()
        if self.c.is_("BEGIN", "END", "BEGINFILE", "ENDFILE"):
            self.c.at += 1
            return AwkNode("rule", self.c.last.text, (NOTHING, self.block()))
        if self.c.is_("{"):
            return AwkNode("rule", parts=(NOTHING, self.block()))
        pattern = self.expression()
        if self.c.take(","):
            self.c.lines()
            pattern = AwkNode("range", parts=(pattern, self.expression()))
        action = self.block() if self.c.is_("{") else NOTHING
        return AwkNode("rule", parts=(pattern, action))

    def function(self) -> AwkNode:
        name = self.c.word("call") if self.c.next.kind == "call" else self.c.word("name")
        self.c.need("(")
        names: list[AwkNode] = []
        while not self.c.take(")"):
            names.append(AwkNode("name", self.c.word("name")))
            if self.c.take(","):
                self.c.lines()
            elif not self.c.is_(")"):
                raise self.c.lost()
        self.c.lines()
        return AwkNode("function", name, (AwkNode("names", parts=tuple(names)), self.block()))

    def block(self) -> AwkNode:
        self.c.need("{")
        found: list[AwkNode] = []
        self.c.lines(";")
        while not self.c.take("}"):
            found.append(self.statement())
            self.c.lines(";")
        return AwkNode("block", parts=tuple(found))

    def statement(self) -> AwkNode:
        with self.c.deeper():
            return self._parse_statement()

    def _parse_statement(self) -> AwkNode:
        if self.c.is_("{"):
            return self.block()
        if self.c.take(";"):
            return NOTHING
        if self.c.next.kind == "keyword":
            special = {
                "if": self.if_,
                "while": self.while_,
                "do": self.do,
                "for": self.for_,
                "switch": self.switch,
            }.get(self.c.next.text)
            if special is not None:
                self.c.at += 1
                return special()
        found = self.simple()
        if not self.c.take(";", "\n") and not self.c.is_("}"):
            raise self.c.lost()
        return found

    def if_(self) -> AwkNode:
        condition, then = self.condition(), self.body()
        mark = self.c.at
        self.c.lines(";")
        if not self.c.take("else"):
            self.c.at = mark
            return AwkNode("if", parts=(condition, then))
        return AwkNode("if", parts=(condition, then, self.body()))

    def condition(self) -> AwkNode:
        self.c.need("(")
        found = self.expression()
        self.c.need(")")
        return found

    def body(self) -> AwkNode:
        self.c.lines()
        return self.statement()

    def while_(self) -> AwkNode:
        return AwkNode("while", parts=(self.condition(), self.body()))

    def do(self) -> AwkNode:
        body = self.body()
        self.c.lines(";")
        self.c.need("while")
        return AwkNode("while", parts=(self.condition(), body))

    def for_(self) -> AwkNode:
        self.c.need("(")
        ahead = self.c.tokens[self.c.at : self.c.at + 4]
        kinds = [token.kind for token in ahead]
        if (
            kinds[:1] == ["name"]
            and kinds[2:3] == ["name"]
            and [t.text for t in ahead][1::2]
            == [
                "in",
                ")",
            ]
        ):
            self.c.at += 4
            return AwkNode("each", ahead[2].text, (AwkNode("name", ahead[0].text), self.body()))
        first = NOTHING if self.c.is_(";") else self.simple()
        self.c.need(";")
        self.c.lines()
        condition = NOTHING if self.c.is_(";") else self.expression()
        self.c.need(";")
        self.c.lines()
        step = NOTHING if self.c.is_(")") else self.simple()
        self.c.need(")")
        return AwkNode("for", parts=(first, condition, step, self.body()))

    def switch(self) -> AwkNode:
        parts = [self.condition()]
        self.c.lines()
        self.c.need("{")
        self.c.lines()
        while not self.c.take("}"):
            if self.c.take("case"):
                parts.append(self.expression(no_ternary=True))
            else:
                self.c.need("default")
            self.c.need(":")
            self.c.lines(";")
            while not self.c.is_("case", "default", "}"):
                parts.append(self.statement())
                self.c.lines(";")
        return AwkNode("switch", parts=tuple(parts))

    def simple(self) -> AwkNode:
        if self.c.next.kind != "keyword" or self.c.is_("getline"):
            return self.expression()
        word = self.c.word("keyword")
        if word in {"print", "printf"}:
            return self.print_(word)
        if word in {"next", "nextfile", "break", "continue"}:
            return AwkNode(word)
        if word in {"exit", "return"}:
            done = self.c.is_(";", "\n", "}")
            return AwkNode(word, parts=() if done else (self.expression(),))
        if word == "delete":
            return AwkNode("delete", parts=(self.primary(),))
        raise Unclear(word, "not understood as awk")

    def print_(self, word: str) -> AwkNode:
        parts: list[AwkNode] = []
        while not self.c.is_(";", "\n", "}", ">", ">>") and not self.c.ended():
            self.c.printing = True
            parts.append(self.expression())
            self.c.printing = False
            if not self.c.take(","):
                break
            self.c.lines()
        if self.c.is_(">", ">>"):
            self.c.at += 1
            target = self.c.pop()
            if target.text not in SCREEN or not self.c.is_(";", "\n", "}"):
                raise Unclear(f"{word} > {target.text}", "it writes a file")
        return AwkNode("print", word, tuple(parts))
