"""Judge texts of the mongo shell: a small part of JavaScript, read strictly.

A text over 6,000 characters is refused. The allowed methods are in `mongo_words.yaml`.

`show …`, `use DB`, and chains of calls from `db`, `rs`, `sh` with literal arguments; nothing is
assigned, no function is written, and every method and `$operator` is one that is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.shipped_data import words_of

_WORDS: Final = words_of(Path(__file__).with_name("mongo_words.yaml"))
LONGEST: Final = 6_000
DEEPEST: Final = 40

_TOKEN: Final = re.compile(
    r"(?P<blank>[ \t\n]+|//[^\n]*)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w$]))"
    r"|(?P<name>[A-Za-z_$][\w$]*)|(?P<string>'(?:[^'\\\n]|\\[^\n])*'|\"(?:[^\"\\\n]|\\[^\n])*\")"
    r"|(?P<regex>/(?![*/])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/[a-z]*)"
    r"|(?P<mark>[{}()\[\].,:;-])",
    re.ASCII,
)
_SHELL: Final = re.compile(r"(?:show\s+(?P<what>\w+)(?:\s+\w+)?|use\s+[\w-]+)\s*;?", re.ASCII)

_EVERY_SETTING: Final = re.compile(
    r"getParameter['\"]?\s*:\s*(?:['\"]|\{[^}]*allParameters)|showCredentials"
)
"""`{getParameter: "*"}`, and what shows credentials of users."""


def inspect(words: tuple[str, ...], argument: str) -> Opinion:
    """Judge `words`, each a text for the shell's `--eval`."""
    try:
        for text in words:
            _check_text(text.strip())
    except Unclear as error:
        return error.opinion
    return Opinion(True, "every call in it only reads", words[0][:40])


def _check_text(text: str) -> None:
    if len(text) > LONGEST:
        raise Unclear(text[:40], f"longer than the limit of {LONGEST} characters")
    shell = _SHELL.fullmatch(text)
    if shell:
        if shell["what"] and shell["what"] not in _WORDS["shows"]:
            raise Unclear(shell["what"], "not known to be shown")
        return
    every = _EVERY_SETTING.search(text)
    if every:
        raise Unclear(every[0][:40], "it prints all settings, passwords among them; name some")
    reading = _MongoReader(_split_tokens(text))
    if not reading.tokens:
        raise Unclear(text, "there is nothing in it")
    while reading.more():
        reading.statement()


def _split_tokens(text: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Unclear(text[at : at + 20], "JavaScript that the gate does not follow")
        at, kind = found.end(), found.lastgroup or ""
        if kind == "blank":
            continue
        if kind == "regex" and out and out[-1][1] not in {"(", ",", ":", "["}:
            raise Unclear(found[0][:20], "a division or a pattern: not followed")
        out.append((kind, found[0]))
    return out


class _MongoReader:
    """Goes through the tokens; each method raises Unclear at what it does not know."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.at, self.depth = tokens, 0, 0

    def more(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.more() else ""

    def take(self, kind: str = "") -> str:
        if not self.more() or (kind and self.tokens[self.at][0] != kind):
            raise Unclear(self.peek(), f"a {kind or 'word'} was expected here")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def mark(self, wanted: str) -> None:
        if self.peek() != wanted or self.tokens[self.at][0] != "mark":
            raise Unclear(self.peek(), f"{wanted} was expected here")
        self.at += 1

    def statement(self) -> None:
        self.expression()
        if self.more():
            self.mark(";")

    def expression(self) -> None:
        """A call that prints, with another within, or a chain from `db`, `rs` or `sh`."""
        self.deeper()
        start = self.take("name")
        if start in {"JSON", "EJSON"} and self.peek() == ".":
            self.at += 1
            start = f"{start}.{self.take('name')}"
        if start in _WORDS["prints"]:
            self.mark("(")
            self.printed()
        elif start == "db":
            self.chain("database")
        elif start in {"rs", "sh"}:
            self.chain("replicas" if start == "rs" else "shards")
        else:
            raise Unclear(start, "not where a read begins: db, rs, sh or a print of those")
        self.depth -= 1

    def printed(self) -> None:
        if self.peek() in {"db", "rs", "sh"} or self.peek() in _WORDS["prints"]:
            self.expression()
        else:
            self.value()
        while self.peek() == ",":
            self.at += 1
            self.value()
        self.mark(")")

    def chain(self, holder: str) -> None:
        """Read what follows the first name: properties, then calls that read."""
        while self.peek() in {".", "["}:
            if self.take() == "[":
                holder = self.indexed(holder)
                continue
            name = self.take("name")
            if self.peek() == "(":
                self.at += 1
                holder = self.call(holder, name)
            elif holder in {"database", "collection"}:
                holder = "collection"
            elif holder != "cursor" or name == "__proto__":
                raise Unclear(name, "not known to read")

    def indexed(self, holder: str) -> str:
        kind, text = self.tokens[self.at] if self.more() else ("", "")
        if kind not in {"string", "number"} or "\\" in text:
            raise Unclear(text, "an index that is no plain literal")
        self.at += 1
        self.mark("]")
        return "collection" if holder in {"database", "collection"} else "cursor"

    def call(self, holder: str, name: str) -> str:
        """Read the call of `name` with its arguments, and return the kind of its result."""
        moves: Mapping[str, tuple[str, str]] = {
            "getCollection": ("database", "collection"),
            "getSiblingDB": ("database", "database"),
            "getMongo": ("database", "mongo"),
            "getDB": ("mongo", "database"),
            "getPlanCache": ("collection", "cursor"),
        }
        if name in moves and moves[name][0] == holder:
            self.plain_arguments()
            return moves[name][1]
        if name in {"runCommand", "adminCommand"} and holder == "database":
            self.command()
            return "cursor"
        if name == "watch":
            raise Unclear(name, "it runs until it is interrupted", "unbounded_stream")
        if name not in _WORDS[holder]:
            raise Unclear(name, "not a method that is known to read")
        self.arguments(name)
        return "cursor"

    def plain_arguments(self) -> None:
        if self.peek() != ")":
            self.take("string")
        self.mark(")")

    def arguments(self, name: str) -> None:
        while self.peek() != ")":
            if name == "forEach" and self.peek() in _WORDS["prints"]:
                self.at += 1
            else:
                self.value()
            if self.peek() != ")":
                self.mark(",")
        self.mark(")")

    def command(self) -> None:
        """`{ping: 1, …}` or `'ping'`: the first key names the command."""
        at = self.at + (1 if self.peek() == "{" else 0)
        kind, text = self.tokens[at] if at < len(self.tokens) else ("", "")
        name = text[1:-1] if kind == "string" else text
        if name not in _WORDS["commands"]:
            raise Unclear(name, "not a command that is known to read")
        self.value()
        self.mark(")")

    def value(self) -> None:
        """A literal: number, text, pattern, list, object, `ObjectId("…")` and its like."""
        self.deeper()
        if self.peek() == "-":
            self.at += 1
        if not self.more():
            raise Unclear("", "it ends where a value was expected")
        kind, text = self.tokens[self.at]
        self.at += 1
        if text in {"{", "["} and kind == "mark":
            self.several(text)
        elif kind == "name":
            self.named(text)
        elif kind == "mark":
            raise Unclear(text, "a value was expected here")
        self.depth -= 1

    def several(self, begin: str) -> None:
        end, one = ("}", self.pair) if begin == "{" else ("]", self.value)
        part: Callable[[], None] = one
        while self.peek() != end:
            part()
            if self.peek() != end:
                self.mark(",")
        self.mark(end)

    def pair(self) -> None:
        kind, text = self.tokens[self.at] if self.more() else ("", "")
        if kind not in {"name", "string", "number"}:
            raise Unclear(text, "a plain key was expected here")
        key = text[1:-1] if kind == "string" else text
        if "\\" in key or key in {"__proto__", "tailable", "awaitData"}:
            raise Unclear(text, "a key that is not plain")
        if key.startswith("$") and key not in _WORDS["operators"]:
            raise Unclear(key, "not an operator that is known to read")
        self.at += 1
        self.mark(":")
        self.value()

    def named(self, name: str) -> None:
        if name in {"true", "false", "null", "undefined", "NaN", "Infinity"}:
            return
        if name == "new":
            name = self.take("name")
        if name not in _WORDS["values"]:
            raise Unclear(name, "not a value that is known")
        self.mark("(")
        self.arguments(name)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unclear(self.peek(), "too deep to follow")
