"""Find the loops of an awk program that are not seen to end.

An endless loop (infinite loop) is refused by it. Memory use is checked in `text_growth.py`.

Three forms are accepted: `for (key in array)`, a `for` that counts towards a bound which nothing
in the loop changes, and `while ((getline line < "file") > 0)`. Every other loop may run for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.inspectors.awk.nodes import NOTHING, AwkNode, walk

_STEPS: Final = {
    **dict.fromkeys(("<", "<="), ("++", "+=")),
    **dict.fromkeys((">", ">="), ("--", "-=")),
}
"""Comparison of a counter with its bound -> steps that come nearer to the bound."""

_COUNTS: Final = frozenset({"NF", "NR", "FNR", "length"})
"""Variables that awk itself sets to a count."""

_COUNTING: Final = frozenset(
    {"length", "int", "split", "index", "sub", "gsub", "match", "asort", "asorti"}
)
_FILLING: Final = frozenset({"split", "patsplit", "asort", "asorti", "match"})
"""Functions that fill arrays among their arguments."""

_RECORD: Final = AwkNode("field", parts=(AwkNode("number", "0"),))
_ONE: Final = AwkNode("number", "1")
_DIGITS: Final = 7
"""Digits of the largest number in a bound: ten million rounds take seconds, not hours."""


def find_unbounded(rules: Sequence[AwkNode]) -> str | None:
    """Return `for`, `while` or the name of a function that may not end, or None."""
    functions = {rule.text for rule in rules if rule.kind == "function"}
    counts = _counting_variables(rules)
    unchecked = set(functions)
    for rule in rules:
        # Two parameters of a function may be the same array: its length is not known to stay.
        allowed = {"int"} if rule.kind == "function" else {"int", "length"}
        for node in walk(rule):
            if node.kind == "for" and not (
                _is_counting_loop(node, counts, allowed) and not _has_call_of(node, functions)
            ):
                return "for"
            if node.kind == "while" and not (
                _is_getline_condition(node.parts[0])
                and not _has_call_of(node, functions | {"close"})
            ):
                return "while"
        if rule.kind == "function":
            # A function that calls only functions written before it cannot call itself.
            if _has_call_of(rule, unchecked):
                return rule.text
            unchecked.discard(rule.text)
    return None


def _has_call_of(node: AwkNode, names: set[str]) -> bool:
    return any(one.kind == "call" and one.text in names for one in walk(node))


def _is_getline_condition(condition: AwkNode) -> bool:
    """Return True for `(getline line < "file") > 0`."""
    if condition.kind != "binary" or condition.parts[0].kind != "getline":
        return False
    file, compared = condition.parts[0].text, (condition.text, condition.parts[1].text)
    return file != "" and compared in {(">", "0"), (">=", "1"), ("==", "1")}


def _is_counting_loop(loop: AwkNode, counts: frozenset[str], allowed: set[str]) -> bool:
    """Return True for `for (i = 1; i <= bound; i++)`, if the loop changes neither `i` nor the
    bound.

    `allowed` are the functions that the bound may call.
    """
    first, condition, step, body = loop.parts
    changed = AwkNode("loop", parts=(condition, body))
    while condition.text == "&&":
        condition = condition.parts[0]
    if condition.kind != "binary" or condition.parts[0].kind != "name":
        return False
    counter, bound = condition.parts
    return (
        first.kind == "assign"
        and first.parts[0] == counter
        and _is_count_expression(first.parts[1], counts)
        and step.text in _STEPS.get(condition.text, ())
        and step.parts[0] == counter
        and (step.kind == "step" or (_is_small_number(step.parts[1]) and step.parts[1].text != "0"))
        and _is_count_expression(bound, counts)
        and all(part.text in allowed for part in walk(bound) if part.kind == "call")
        and _is_bound_unchanged(counter.text, bound, changed)
    )


def _is_count_expression(node: AwkNode, counts: frozenset[str]) -> bool:
    """Return True for a number that is not large. awk compares anything else as text."""
    if node.kind == "binary" or (node.kind == "call" and node.text == "int"):
        known = node.kind == "call" or node.text in {"+", "-", "/", "%"}
        return known and all(_is_count_expression(part, counts) for part in node.parts)
    if node.kind == "name":
        return node.text in counts
    return _is_small_number(node) or (node.kind == "call" and node.text in _COUNTING)


def _is_small_number(node: AwkNode) -> bool:
    return node.kind == "number" and node.text.isdigit() and len(node.text) <= _DIGITS


def _is_bound_unchanged(counter: str, bound: AwkNode, loop: AwkNode) -> bool:
    """Return True if nothing in `loop` changes the counter, or a part of the bound."""
    changed = {_variable_key(target) for target, _ in _assignments(loop)}
    parts = list(walk(bound))
    names = {part.text for part in parts if part.kind == "name"}
    if any(part.kind == "field" or part.text in _COUNTS - {"NR", "FNR"} for part in parts):
        # The field at the counter is there already, so a change of it adds none.
        there = {f"${counter}"} if _is_at_most_fields(bound) else set()
        if any(name.startswith(("$", "NF")) for name in changed - there):
            return False
    return (
        counter not in names
        and not changed & {counter, *names, *(f"{name}[]" for name in names)}
        # To look at an element of an array adds it.
        and not any(node.kind == "element" and node.text in names for node in walk(loop))
    )


def _is_at_most_fields(bound: AwkNode) -> bool:
    """Return True for `NF`, `NF - 1` and `NF / 2`."""
    if bound.kind == "binary" and bound.text in {"-", "/"} and bound.parts[1].kind == "number":
        bound = bound.parts[0]
    return bound.kind == "name" and bound.text == "NF"


def _counting_variables(rules: Sequence[AwkNode]) -> frozenset[str]:
    """Return the variables that hold counts only.

    A variable that the program never sets may come from `-v`, so it may be a text.
    """
    counts = set(_COUNTS)
    others: set[str] = set()
    for target, value in _assignments(*rules):
        is_count = _is_count_expression(value, _COUNTS)
        (counts if is_count else others).add(_variable_key(target))
    return frozenset(counts - others)


def _assignments(*nodes: AwkNode) -> Iterator[tuple[AwkNode, AwkNode]]:
    """Yield each variable that `nodes` change, with its value if they contain it."""
    for node in walk(*nodes):
        if node.kind == "step":
            yield node.parts[0], _ONE
        elif node.kind == "assign":
            yield node.parts[0], node.parts[1] if node.text == "=" else NOTHING
        elif node.kind == "getline":
            yield _RECORD if node.parts[0] is NOTHING else node.parts[0], NOTHING
            yield from ((AwkNode("name", name), _ONE) for name in ("NR", "FNR"))
        elif node.kind in {"each", "delete"}:
            yield node.parts[0], NOTHING
        elif node.kind == "names":
            yield from ((name, NOTHING) for name in node.parts)
        elif node.kind == "call" and node.text in {"sub", "gsub"}:
            yield node.parts[2] if len(node.parts) > 2 else _RECORD, NOTHING
        elif node.kind == "call" and node.text in _FILLING:
            yield from ((AwkNode("element", part.text), NOTHING) for part in node.parts)


def _variable_key(node: AwkNode) -> str:
    """Return `a[]` for an element, `$i` for the field at `i`, `$` for any other field."""
    if node.kind == "element":
        return f"{node.text}[]"
    if node.kind == "field":
        return f"${node.parts[0].text}" if node.parts[0].kind == "name" else "$"
    return node.text
