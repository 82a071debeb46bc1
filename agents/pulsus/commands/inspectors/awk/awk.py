"""Judge awk programs: POSIX awk, gawk, mawk, original-awk (`awk`).

`system()`, pipes, `getline` from a command and ENVIRON are refused. Loops are checked in
`bounded_loops.py`, memory in `text_growth.py`.

Refused: what runs a program, writes a file, loads code, opens a file whose name is computed, adds
files to read or shows the whole environment. A loop outside the known forms may not end.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.inspectors.awk.awk_parser import parse_awk
from pulsus.commands.inspectors.awk.awk_tokens import FUNCTIONS
from pulsus.commands.inspectors.awk.bounded_loops import find_unbounded
from pulsus.commands.inspectors.awk.nodes import AwkNode, walk
from pulsus.commands.inspectors.awk.text_growth import find_growth

_NEVER: Final = {
    "SYMTAB": "it reaches every variable by name",
    "FUNCTAB": "it reaches every function by name",
}
_ENDLESS: Final = "it may not end; write for (i = 1; i <= N; i++) or for (key in array)"
_GROWS: Final = "it may fill the memory, or run for hours"
_FILES: Final = frozenset({"ARGV", "ARGC"})
_SECRET: Final = re.compile(r"(?i)key|token|secret|pass|cred|auth|cookie|session|private")
_WRITES_TO: Final = frozenset({"sub", "gsub", "split", "patsplit", "asort", "asorti", "match"})


def awk(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges programs: each of `words` is one."""
    del argument
    for word in words:
        try:
            rules = parse_awk(word)
            for rule in rules:
                _check_rule(rule, _function_names(rules))
            loop = find_unbounded(rules)
            grown = None if loop is not None else find_growth(rules)
        except Unclear as error:
            return error.opinion
        except RecursionError:
            return Opinion(False, "too long to check", "awk")
        if loop is not None:
            return Opinion(True, f"{loop}: {_ENDLESS}", word, category="unbounded_stream")
        if grown is not None:
            return Opinion(True, f"{grown}: {_GROWS}", word, category="unbounded_stream")
    return Opinion(True, "the program only reads and prints", words[0])


def _function_names(rules: tuple[AwkNode, ...]) -> frozenset[str]:
    return frozenset(rule.text for rule in rules if rule.kind == "function")


def _check_rule(rule: AwkNode, functions: frozenset[str]) -> None:
    for node in walk(rule):
        if node.kind == "call":
            _check_call(node, functions)
        elif node.kind in {"name", "element", "in", "each"}:
            _check_name(node)
        elif node.kind in {"assign", "step", "delete"} and node.parts[0].text in _FILES:
            raise Unclear(node.parts[0].text, "it changes which files are read")
        elif node.kind == "getline":
            _check_getline(node)


def _check_call(node: AwkNode, functions: frozenset[str]) -> None:
    if node.text == "system":
        raise Unclear("system", "it runs another program")
    if node.text not in functions and node.text not in FUNCTIONS:
        raise Unclear(node.text, "not a function of awk that is known to read")
    if node.text in _WRITES_TO and any(part.text in _FILES for part in node.parts):
        raise Unclear("ARGV", "it changes which files are read")


def _check_name(node: AwkNode) -> None:
    if node.text in _NEVER:
        raise Unclear(node.text, _NEVER[node.text])
    if node.kind == "name" and (node.text == "ARGV" or node.text in FUNCTIONS - {"length"}):
        raise Unclear(node.text, "not understood as awk")
    if node.text == "ENVIRON":
        one = node.parts[0] if node.kind == "element" and len(node.parts) == 1 else None
        if one is None or one.kind != "string" or _SECRET.search(one.text) or "\\" in one.text:
            raise Unclear("ENVIRON", "the environment holds secrets; name one variable of it")
    if node.text == "system":
        raise Unclear("system", "it runs another program")


def _check_getline(node: AwkNode) -> None:
    if node.parts[0].text in _FILES:
        raise Unclear(node.parts[0].text, "it changes which files are read")
    path = node.text[1:-1]
    if "\\" in path or (path.startswith(("/inet", "/dev/")) and path != "/dev/stdin"):
        raise Unclear("getline <", f"{path} is no plain file to read")
