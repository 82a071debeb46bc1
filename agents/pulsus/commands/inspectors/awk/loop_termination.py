"""Whether the loops of an awk program are seen to end.

Not whether they end: a counter that runs towards a bound nobody moves, lines that are read until
there are no more, a text that is cut shorter. All else may run for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pulsus.commands.inspectors.awk.changes import Change, changes, variable
from pulsus.commands.inspectors.awk.nodes import NOTHING, Node, walk
from pulsus.commands.inspectors.awk.numeric_variables import numbers, numeric
from pulsus.commands.inspectors.awk.shrinking_loops import shortens
from pulsus.fast_dataclass import dataclass

_WAYS: Final = {"<": 1, "<=": 1, ">": -1, ">=": -1}
_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_PURE: Final = frozenset({"length", "int", "split", "index", "substr"})
_WHOLE: Final = frozenset(
    {"print", "join", "binary", "unary", "field", "element", "call", "group", "assign", "step"}
)
"""Constructs of which every part is come to."""

_MOST: Final = 60
"""Nodes of a condition that is followed."""

_LARGEST: Final = 10_000_000
"""Rounds a number written in a bound may ask for: seconds, not hours."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """One `for` or `while`: what every round comes to, all that stands in it, what that changes."""

    first: Node
    condition: Node
    always: tuple[Node, ...]
    whole: tuple[Node, ...]
    changed: Sequence[Change]
    counted: bool
    """Whether the step comes behind the body."""

    numbers: frozenset[str] = frozenset()
    """Variables that hold numbers: a bound that is text is compared as text."""

    late: bool = False
    """Whether the lines may all be read by then: some awks go on saying that reading failed."""


def endless(rules: Sequence[Node]) -> str | None:
    """What may not end: `while`, `for` or the name of a function that calls itself; or None."""
    functions = {rule.text: rule for rule in rules if rule.kind == "function"}
    itself = _recursive(functions)
    if itself is not None:
        return itself
    known = numbers(rules)
    several = len(_repeated(rules)) > 1
    for rule in rules:
        late = several or rule.kind == "function" or rule.text == "END"
        for node in walk(rule):
            loops = node.kind in {"while", "for"}
            if loops and not _ends(replace(_loop(node, functions), numbers=known, late=late)):
                return node.kind
    return None


def _repeated(rules: Sequence[Node]) -> list[Node]:
    """The loops of the program, each that stands in one over an array twice."""
    arrays = [node for node in walk(*rules) if node.kind == "each"]
    return [node for node in walk(*rules, *arrays) if node.kind in {"while", "for"}]


def _recursive(functions: Mapping[str, Node]) -> str | None:
    calls = {
        name: {n.text for n in walk(node) if n.kind == "call" and n.text in functions}
        for name, node in functions.items()
    }
    while calls:
        leaves = [name for name, called in calls.items() if not called & calls.keys()]
        if not leaves:
            return next(iter(calls))
        for name in leaves:
            del calls[name]
    return None


def _loop(node: Node, functions: Mapping[str, Node]) -> _Loop:
    if node.kind == "for":
        whole = node.parts[1:]
        changed = changes(whole, functions)
        return _Loop(node.parts[0], whole[0], whole[1:2], whole, changed, counted=True)
    changed = changes(node.parts, functions)
    always = _always(node.parts[1])
    return _Loop(NOTHING, node.parts[0], always, node.parts, changed, counted=False)


def _always(body: Node) -> tuple[Node, ...]:
    """The assignments that every round comes to."""
    statements = body.parts if body.kind == "block" else (body,)
    if any(node.kind == "continue" for node in walk(body)):
        return ()
    return tuple(one for statement in statements for one in _sure(statement))


def _sure(node: Node) -> Iterator[Node]:
    """The assignments in `node` that are made whenever it is come to."""
    if node.kind in {"assign", "step"}:
        yield node
    if node.kind in _WHOLE and node.text not in {"&&", "||"}:
        for part in node.parts:
            yield from _sure(part)


def _ends(loop: _Loop) -> bool:
    short = sum(1 for _ in walk(loop.condition)) <= _MOST
    return short and any(
        _reads_on(part, loop)
        or _counts(part, loop)
        or _counts_down(part, loop)
        or _known(part, loop)
        or shortens(part, loop.always, loop.changed)
        for part in _conjuncts(loop.condition)
    )


def _conjuncts(node: Node) -> list[Node]:
    found = []
    while node.kind == "binary" and node.text == "&&":
        found.append(node.parts[1])
        node = node.parts[0]
    return [node, *found]


def _reads_on(part: Node, loop: _Loop) -> bool:
    """`getline`, or `(getline line < "file") > 0`, where nothing opens the file anew."""
    if part.kind == "getline":
        return not part.text and not loop.late
    again = any(node.kind == "call" and node.text == "close" for node in walk(*loop.whole))
    return (
        part.kind == "binary"
        and part.parts[0].kind == "getline"
        and (part.text, part.parts[1].text) in {(">", "0"), (">=", "1"), ("==", "1")}
        and not again
        and ("[]", 0) not in loop.changed
    )


def _counts(part: Node, loop: _Loop) -> bool:
    """`i <= NF`, where every round takes a step towards a bound that stays."""
    if part.kind != "binary":
        return False
    left, right = part.parts
    return _towards(left, part.text, right, loop) or _towards(
        right, _FLIPPED.get(part.text, ""), left, loop
    )


def _towards(counter: Node, mark: str, bound: Node, loop: _Loop) -> bool:
    way = _WAYS.get(mark, 0)
    always = loop.always
    if counter.kind == "step":
        always, counter = (counter,), counter.parts[0]
    return (
        way != 0
        and counter.kind == "name"
        and _steps(counter.text, way, always, loop.changed)
        and _stays(bound, counter.text, loop)
        and _small(loop.first)
    )


def _steps(name: str, way: int, always: Sequence[Node], changed: Sequence[Change]) -> bool:
    """Whether `name` only moves this `way`, and does in every round."""
    return all(other == way for one, other in changed if one == name) and any(
        variable(step.parts[0]) == name for step in always if step.kind in {"step", "assign"}
    )


def _stays(bound: Node, counter: str, loop: _Loop) -> bool:
    names = frozenset(name for name, _ in loop.changed)
    return (
        numeric(bound, loop.numbers)
        and _small(bound)
        and all(_fixed(node, counter, names, loop) for node in walk(bound))
    )


def _small(node: Node) -> bool:
    """Whether no number written there is large, nor made large by a power or from a text."""
    return not any(
        (one.kind == "number" and not (one.text.isdigit() and int(one.text[:9]) < _LARGEST))
        or (one.kind == "binary" and one.text in {"^", "**", "*"})
        for one in walk(node)
    )


def _fixed(node: Node, counter: str, names: frozenset[str], loop: _Loop) -> bool:
    """Whether what `node` stands for is not changed by the loop."""
    if node.kind in {"step", "assign", "getline"}:
        return False
    if node.kind == "call":
        # To look at an element of an array is to add it.
        arrays = {part.text for part in node.parts}
        looked = any(n.kind == "element" and n.text in arrays for n in walk(*loop.whole))
        added = looked or names & {"[]", *(f"{array}[]" for array in arrays)}
        return node.text in _PURE and not added
    if node.kind == "element":
        return not names & {f"{node.text}[]", "[]", node.text}
    if node.kind == "field":
        return not any(name.startswith("$") for name in names)
    if node.kind == "name" and node.text in {"NF", "length"}:
        return not any(_resizes(name, counter, loop) for name in names)
    return node.kind != "name" or (node.text != counter and node.text not in names)


def _resizes(name: str, counter: str, loop: _Loop) -> bool:
    """Whether a change of `name` may add fields: not that of a field that is there."""
    if name == "NF":
        return True
    there = name[1:].isdigit() or name == "$NF" or (loop.counted and name == f"${counter}")
    return name.startswith("$") and not there


def _counts_down(part: Node, loop: _Loop) -> bool:
    """`for (i = NF; i; i--)`: whole numbers that come to zero."""
    first = loop.first
    if part.kind != "name" or first.kind != "assign" or first.parts[0] != part:
        return False
    start = first.parts[1]
    whole = (start.kind == "name" and start.text in {"NF", "NR", "FNR"}) or (
        start.kind == "call" and start.text in {"length", "split"}
    )
    ones = [step for step in loop.changed if step[0] == part.text] == [(part.text, -1)]
    return whole and ones and loop.always[0].kind == "step" and loop.always[0].parts[0] == part


def _known(part: Node, loop: _Loop) -> bool:
    """`for (i = 1; i in a; i++)`, where nothing adds to `a`."""
    if part.kind != "in" or part.parts[0].kind != "name":
        return False
    counter = part.parts[0]
    grown = {name for name, _ in loop.changed} & {f"{part.text}[]", "[]", part.text}
    asked = [n for n in walk(*loop.whole) if n.kind == "element" and n.text == part.text]
    return (
        not grown
        and all(one.parts == (counter,) for one in asked)
        and _steps(counter.text, 1, loop.always, loop.changed)
    )
