"""Read the words of a shell script from the nodes of its parser. Pure.

A word has a shape: its text without quotes, with a HOLE for each part that is only known when the
script runs. Text that might run commands in another way than the parser sees raises
`UnfollowedText` with its line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pulsus.adoption.script_effects.shell_agreement import EXPANSIONS, RUNS
from pulsus.adoption.script_effects.shell_values import HOLE, ScriptWord, UnfollowedText

if TYPE_CHECKING:
    from tree_sitter import Node

_ALL: Final = re.compile(r"\$@|\$\{@|\$\{!?\w+\[@\]")
"""All arguments, or all items of a list, in quotes: one word becomes several."""


class WordReader:
    """Reads words below nodes of one script."""

    def __init__(self, source: bytes, first_line: int) -> None:
        self._source, self._first = source, first_line

    def text(self, node: Node) -> str:
        """Return the source of `node`."""
        return self._source[node.start_byte : node.end_byte].decode()

    def line(self, node: Node) -> int:
        """Return the line on which `node` begins."""
        return self._first + node.start_point.row

    def word(self, node: Node) -> ScriptWord:
        """Return the word that `node` is."""
        quoted = wild = splits = False
        todo = [node]
        while todo:
            part = todo.pop()
            text = self.text(part)
            if part.type in {"concatenation", "translated_string"}:
                todo += part.children
            elif part.type == "string":
                quoted = True
                inside = [text[c.start_byte - part.start_byte :] for c in part.children]
                splits |= any(_ALL.match(each) for each in inside)
            elif part.type in {"raw_string", "ansi_c_string"}:
                quoted = True
            elif part.type in EXPANSIONS:
                splits = True
            elif part.type in {"word", "regex"}:
                quoted |= "\\" in text
                wild |= bool(set(re.sub(r"\\.", "", text)) & set("*?["))
        return ScriptWord(self.line(node), self.shape(node), self.text(node), splits, quoted, wild)

    def shape(self, node: Node) -> str:
        """Return the text of a word without quotes, with a HOLE for each expansion."""
        text = self.text(node)
        match node.type:
            case kind if kind in EXPANSIONS or kind in {"process_substitution", "extglob_pattern"}:
                return HOLE
            case "raw_string":
                return text[1:-1]
            case "ansi_c_string":
                return HOLE if "\\" in text else text[2:-1]
            case "string":
                return self.shape_in_quotes(node, node.start_byte + 1, node.end_byte - 1)
            case "translated_string":
                return self.shape(node.children[-1])
            case "word" | "regex":
                return re.sub(r"\\(\n|[\s\S])", lambda m: m[1].strip("\n"), text)
            case _:
                pass
        if not node.children:
            return text
        return self.shape_between(node, node.start_byte, node.end_byte)

    def shape_between(self, node: Node, start: int, end: int) -> str:
        """Return the shape of the bytes from `start` to `end` of a node."""
        pieces = []
        for child in node.children:
            if child.start_byte >= start and child.end_byte <= end:
                pieces.append(self._source[start : child.start_byte].decode())
                pieces.append(self.shape(child))
                start = child.end_byte
        return "".join([*pieces, self._source[start:end].decode()])

    def shape_in_quotes(self, node: Node, start: int, end: int) -> str:
        """Return text in double quotes, with a HOLE for each expansion."""
        pieces = []
        for child in node.children:
            if child.type in EXPANSIONS and child.start_byte >= start:
                pieces += [self._unescape_text(start, child.start_byte), HOLE]
                start = child.end_byte
        return "".join([*pieces, self._unescape_text(start, end)])

    def _unescape_text(self, start: int, end: int) -> str:
        text = self._source[start:end].decode()
        if RUNS.search(re.sub(r"\\[\s\S]", "", text)):
            line = self._first + self._source.count(b"\n", 0, start)
            raise UnfollowedText(line, f"{text[:40]!r} may run commands")
        return re.sub(r"\\([$`\"\\\n])", lambda m: m[1].strip("\n"), text)
