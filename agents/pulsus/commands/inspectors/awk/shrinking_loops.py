"""Loops of awk that cut a text shorter until nothing in it matches any more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pulsus.commands.inspectors.awk.changes import Change, variable
from pulsus.commands.inspectors.awk.nodes import Node, walk

_LITERAL: Final = re.compile(r"[A-Za-z0-9 _,:;#@%=<>'-]+")
"""Regular expressions that stand for themselves alone."""

_CUT: Final = re.compile(r"[1-9][0-9]{0,5}")
_ATOM: Final = re.compile(r"\[\^?\]?[^\]]*\]|\\.")


def shortens(part: Node, always: Sequence[Node], changed: Sequence[Change]) -> bool:
    """`while (match(s, /re/)) … s = substr(s, RSTART + RLENGTH)`, `while (sub(/ab/, "c"))`.

    `always` are the assignments of every round, `changed` all changes.
    """
    if part.kind == "binary" and part.text == ">" and part.parts[1].text == "0":
        part = part.parts[0]
    if part.kind != "call" or len(part.parts) < 2:
        return False
    if part.text in {"sub", "gsub"}:
        text = variable(part.parts[2]) if len(part.parts) > 2 else "$"
        return _replaced(part) and sum(_same(name, text) for name, _ in changed) == 1
    if part.text != "match":
        return False
    text = variable(part.parts[0])
    cuts = [
        s for s in always if s.kind == "assign" and s.text == "=" and s.parts[0] == part.parts[0]
    ]
    times = sum(_same(name, text) for name, _ in changed)
    return len(cuts) == times == 1 and _cut(cuts[0].parts[1], part.parts[0], part.parts[1])


def _same(name: str, text: str) -> bool:
    return name in {text, "[]"} or (text[:1] == "$" == name[:1])


def _cut(value: Node, text: Node, pattern: Node) -> bool:
    """`substr(text, RSTART + RLENGTH)`, or `RSTART + 1`, where what is found is not empty."""
    if value.kind != "call" or value.text != "substr" or value.parts[:1] != (text,):
        return False
    if len(value.parts) != 2 or value.parts[1].kind != "binary":
        return False
    sums = {node.text for node in walk(value.parts[1])}
    cut = {one for one in sums if _CUT.fullmatch(one)}
    if "RSTART" not in sums or "+" not in sums or sums - cut - {"+", "RSTART", "RLENGTH"}:
        return False
    # Of an empty text, too, nothing is left but itself: the expression must need a letter.
    filled = pattern.kind == "regex" and _never_empty(pattern.text[1:-1])
    return filled and (bool(cut) or "RLENGTH" in sums)


def _never_empty(pattern: str) -> bool:
    plain = _ATOM.sub("x", pattern)
    return re.search(r"[A-Za-z0-9 ]", plain) is not None and not re.search(r"[*?{|()^$]", plain)


def _replaced(call: Node) -> bool:
    """Whether what is put in is shorter than what is taken out."""
    pattern, text = call.parts[0], call.parts[1]
    if pattern.kind not in {"regex", "string"} or text.kind != "string":
        return False
    found, put = pattern.text[1:-1], text.text[1:-1]
    plain = _LITERAL.fullmatch(found) is not None and not set(put) & set("&\\")
    return plain and len(put) < len(found)
