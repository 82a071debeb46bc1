"""What the parts of an awk program change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pulsus.commands.inspectors.awk.nodes import NOTHING, Node, walk

Change = tuple[str, int]
"""A variable, and whether it takes a step up (1), down (-1) or changes otherwise (0).

`a[]` is an element of an array, `[]` of any, `$` the record, `$n` one field.
"""

RECORD: Final = "$"
_STEP: Final = re.compile(r"0*[1-9][0-9]{0,8}(\.[0-9]*)?|0*\.0{0,3}[1-9][0-9]*")
"""Numbers that a counter gets on with."""


def _direct(*nodes: Node) -> Iterator[Change]:
    for node in walk(*nodes):
        if node.kind == "step":
            yield variable(node.parts[0]), 1 if node.text == "++" else -1
        elif node.kind == "assign":
            yield variable(node.parts[0]), _direction(node)
        elif node.kind == "getline":
            yield (RECORD if node.parts[0] is NOTHING else variable(node.parts[0])), 0
            yield from (("NR", 0), ("FNR", 0), ("RT", 0))
        elif node.kind == "each":
            yield node.parts[0].text, 0
        elif node.kind == "delete":
            yield variable(node.parts[0]), 0
        elif node.kind == "call":
            yield from _changed_by(node)


def _changed_by(call: Node) -> Iterator[Change]:
    if call.text in {"sub", "gsub"}:
        yield (variable(call.parts[2]) if len(call.parts) > 2 else RECORD), 0
    elif call.text in {"split", "patsplit", "asort", "asorti"}:
        for part in call.parts[1:] if call.text in {"split", "patsplit"} else call.parts:
            yield f"{part.text}[]", 0
    elif call.text == "match":
        yield "RSTART", 0
        yield "RLENGTH", 0
        for part in call.parts[2:]:
            yield f"{part.text}[]", 0


def variable(node: Node) -> str:
    """What is changed by an assignment to `node`."""
    if node.kind == "element":
        return f"{node.text}[]"
    if node.kind == "field":
        index = node.parts[0]
        one = index.kind == "name" or (index.kind == "number" and index.text.strip("0") != "")
        return f"${index.text}" if one else RECORD
    return node.text


def _direction(assign: Node) -> int:
    """1 for `v += 2` and `v = v + 2`, -1 for the same with minus; 0 for all else."""
    target, value = assign.parts
    sign = {"+=": 1, "-=": -1}.get(assign.text, 0)
    if assign.text == "=" and value.kind == "binary" and value.parts[0] == target:
        sign = {"+": 1, "-": -1}.get(value.text, 0)
        value = value.parts[1]
    return sign if value.kind == "number" and _STEP.fullmatch(value.text) else 0


def changes(nodes: Sequence[Node], functions: Mapping[str, Node]) -> list[Change]:
    """The changes in `nodes`, and in every function if one of them is called there."""
    found = list(_direct(*nodes))
    if any(n.kind == "call" and n.text in functions for n in walk(*nodes)):
        for function in functions.values():
            own = {part.text for part in function.parts[0].parts}
            changed = list(_direct(function.parts[1]))
            found += [(name, 0) for name, _ in changed if name not in own]
            if any(name.endswith("[]") for name, _ in changed):
                found.append(("[]", 0))
    return found
