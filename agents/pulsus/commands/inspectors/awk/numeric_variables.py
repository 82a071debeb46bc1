"""Which variables of an awk program hold numbers, whatever it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pulsus.commands.inspectors.awk.nodes import NOTHING, Node, walk

_COUNTED: Final = frozenset({"NF", "NR", "FNR", "RSTART", "RLENGTH", "length"})
_COUNTING: Final = frozenset(
    {
        *("length", "int", "split", "index", "sub", "gsub", "match", "asort", "asorti", "patsplit"),
        *("sqrt", "log", "exp", "sin", "cos", "atan2", "rand", "systime", "mktime", "strtonum"),
    }
)


def numbers(rules: Sequence[Node]) -> frozenset[str]:
    """The variables that are given numbers only; what nothing gives a value may come from `-v`."""
    held: set[str] = set()
    other = {"ARGV"}
    for node in walk(*rules):
        target = node.parts[0] if node.parts else NOTHING
        if node.kind in {"step", "assign"} and target.kind == "name":
            plain = node.kind == "step" or node.text != "=" or numeric(node.parts[1], frozenset())
            (held if plain else other).add(target.text)
        elif node.kind in {"getline", "each", "names"}:
            other.update(part.text for part in node.parts)
        elif node.kind == "call" and node.text in {"sub", "gsub"}:
            other.update(part.text for part in node.parts[2:])
    return frozenset(held - other)


def numeric(node: Node, known: frozenset[str]) -> bool:
    """Whether `node` is a number: written, counted, computed, or in a variable of `known`."""
    match node.kind:
        case "number" | "step" | "unary" | "in" | "binary":
            return True
        case "name":
            return node.text in _COUNTED or node.text in known
        case "call":
            return node.text in _COUNTING
        case "assign":
            return node.text != "=" or numeric(node.parts[1], known)
        case "?":
            return all(numeric(part, known) for part in node.parts[1:])
        case _:
            return False
