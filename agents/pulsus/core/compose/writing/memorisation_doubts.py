"""Doubt that a generated module works results out: no unattended approval then (§7). Pure.

Hardcoded results are found here: results of examples that stand in the source as constants, inputs
of examples told apart by their text, length or first letter. That can be hidden, so the stronger
proof is an example the model never saw (`held`); it is chosen here too. A doubt blocks unattended
approval only; a person may still approve.

What refuses a module, or makes its proof `shape`, is in `core/validators/memorised_examples.py`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from pulsus.core.compose.writing.caller_examples import count_behaviours, has_differing_results
from pulsus.core.contract.example_match import (
    ANY,
    expects_value,
    input_values,
    is_apart,
    is_concrete,
)
from pulsus.core.contract.module_constants import (
    evaluate_literal,
    list_constants,
    list_parts,
    make_key,
)
from pulsus.core.python_source import python_literals as python
from pulsus.core.types import Example, JsonValue

_LEAST_HELD = 2
_FIX = "give an example more, with a result that no other has: one is always kept from the model"
_FEATURES = ("len", "hash", "sum", "ord", "max", "min")
Constants = Mapping[str, int]
"""Constants as JSON → the line they first stand in."""


def held_out_example(given: Sequence[Example]) -> Example | None:
    """Return the example to keep from the model; None if fewer than two name a value.

    The last one, best one that leaves results which differ, and that expects what no other does: a
    table of the others cannot give it.
    """
    if count_behaviours(given) < _LEAST_HELD:
        return None
    named = [e for e in reversed(given) if expects_value(e)]
    usable = [e for e in named if has_differing_results([o for o in given if o is not e])] or named
    alone = (e for e in usable if differs_from_all(e, [o for o in given if o is not e]))
    return next(alone, None) or usable[0]


def differs_from_all(one: Example, others: Iterable[Example]) -> bool:
    """Return True if an example expects a value that fits none of the others."""
    return all(is_apart(one.expected, o.expected) for o in others if expects_value(o))


def memorisation_signs(
    code: bytes, given: Sequence[Example], kept: Example | None, request: str
) -> tuple[str, ...]:
    """Return why the module may know the examples only; none where `kept` shows that it does not.

    `kept` is an example that the module's author never saw, and that the module passed.
    """
    shown = [e for e in given if e is not kept]
    if kept and differs_from_all(kept, shown):
        return ()
    tree = ast.Module(python.parse_module(code) or [], [])
    found = [*_find_known_results(tree, shown, request), *_find_known_inputs(tree, shown, request)]
    if not (kept or found):
        found = list(_find_guessable_results(tree, given, request))
    return tuple(f"{what}; {_FIX}" for what in found)


def copied(code: bytes, given: Sequence[Example], request: str) -> tuple[str, ...]:
    """Return where code tells an example from other inputs, by comparing with its very text.

    What the request names itself may be compared with.
    """
    known = {v for e in given for v in e.inputs.values() if isinstance(v, str)}
    telling = {text for text in known if len(text) > 1 and text not in request}
    tree = ast.Module(python.parse_module(code) or [], [])
    found = [
        (node, text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.MatchValue)
        for text in _list_compared_texts(node)
        if text in telling
    ]
    return tuple(
        f"line {node.lineno}: compares with {text!r}, the input of an example: work the result out"
        for node, text in found
    )


def tables(code: bytes, given: Sequence[Example]) -> tuple[str, ...]:
    """Return where a dict maps inputs of two examples to their results, and little else."""
    tree = ast.Module(python.parse_module(code) or [], [])
    pairs = {
        (make_key(v), make_key(r))
        for e in given
        for v in input_values(e)
        for r in _list_whole_results(e)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            hits = {pair for pair in _list_pairs(node) if pair in pairs}
            if len(hits) > 1 and 2 * len(hits) >= len(node.keys):
                found.append(
                    f"line {node.lineno}: a table of the examples' inputs and results: work the "
                    "result out"
                )
    return tuple(found)


def _find_known_results(tree: ast.Module, given: Sequence[Example], request: str) -> Iterator[str]:
    """Yield examples with results that differ, each made of constants of the module."""
    known = list_constants(tree)
    answered = [
        e for e in given if expects_value(e) and _is_made_of_constants(e.expected, known, request)
    ]
    for one, other in combinations(answered, 2):
        if is_apart(one.expected, other.expected):
            lines = sorted(
                {known[k] for e in (one, other) for k in _list_result_keys(e) if k in known}
            )
            shown = " and ".join(json.dumps(e.expected)[:60] for e in (one, other))
            yield (
                f"line {', '.join(map(str, lines))}: the results of examples ({shown}) stand in "
                "the code"
            )
            return


def _find_known_inputs(tree: ast.Module, given: Sequence[Example], request: str) -> Iterator[str]:
    """Yield code that knows an example's input by its text, its length or a letter."""
    values = [value for example in given for value in input_values(example)]
    texts = {v for v in values if isinstance(v, str) and len(v) > 1}
    sizes = {len(v) for v in values if isinstance(v, str | list)}
    sizes = {n for n in sizes if n > 2 and str(n) not in _request_words(request)}
    ends = {end for v in values if isinstance(v, str) for end in (v[:1], v[-1:])}
    for node in ast.walk(ast.Module(tree.body[1:], [])):
        match node:
            case ast.Constant(value=str(text)) if text in texts and text not in request:
                yield f"line {node.lineno}: {text!r}, the input of an example, stands in the code"
                return
            case _:
                for one, other, known in _list_comparisons(node, sizes):
                    if why := _describe_distinction(one, other, known, ends):
                        yield f"line {one.lineno}: tells inputs of examples apart by {why}"
                        return


def _list_comparisons(
    node: ast.AST, sizes: set[int]
) -> Iterator[tuple[ast.expr, ast.expr, set[int]]]:
    match node:
        case ast.Compare(left=left, comparators=[right]):
            yield left, right, sizes
        case ast.BinOp(left=left, right=right):
            yield left, right, set()
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                if isinstance(case.pattern, ast.MatchValue):
                    yield subject, case.pattern.value, sizes
        case ast.Subscript(value=ast.Dict(keys=keys), slice=by):
            yield from ((by, each, sizes) for each in keys if each)
        case ast.Call(func=ast.Attribute(value=ast.Dict(keys=keys), attr="get"), args=[by, *_]):
            yield from ((by, each, sizes) for each in keys if each)
        case _:
            pass


def _find_guessable_results(
    tree: ast.Module, given: Sequence[Example], request: str
) -> Iterator[str]:
    """Yield a problem if a guess, or constants of the module, meet every expected result."""
    known = list_constants(tree)
    named = [e for e in given if expects_value(e)]
    telling = [
        e
        for e in named
        if is_concrete(_without_guessable_values(_without_inputs(e.expected, e), request))
    ]
    if all(_is_made_of_constants(e.expected, known, request) for e in telling):
        yield (
            "the examples expect only what a guess would meet (yes or no, or what the request or "
            "the inputs name)"
        )


def _describe_distinction(left: ast.expr, right: ast.expr, sizes: set[int], ends: set[str]) -> str:
    """Return the length, or the letter at a fixed place, that is compared with an example's."""
    for one, other in ((left, right), (right, left)):
        constant = evaluate_literal(other)
        match one:
            case ast.Call(func=ast.Name(id=name)) if name in _FEATURES and constant in sizes:
                return f"{name}() being {constant}"
            case ast.Subscript(slice=ast.Constant() | ast.UnaryOp() | ast.Slice()) if (
                isinstance(constant, str) and constant and constant in ends and constant.isalnum()
            ):
                return f"a letter being {constant!r}"
            case _:
                pass
    return ""


def _without_inputs(expected: JsonValue, example: Example) -> JsonValue:
    """Return the pattern with `...` for each value that is an input of the example."""
    if any(expected == given and is_concrete(expected) for given in example.inputs.values()):
        return ANY
    match expected:
        case dict() if expected:
            return {key: _without_inputs(value, example) for key, value in expected.items()}
        case _:
            return expected


def _is_made_of_constants(expected: JsonValue, known: Constants, request: str) -> bool:
    """Return True if constants alone make the result, and it is more than a yes or no."""
    if make_key(expected) in known and is_concrete(_without_guessable_values(expected, request)):
        return True
    leaves = list(list_parts(_without_guessable_values(expected, request)))
    return bool(leaves) and all(make_key(leaf) in known for leaf in leaves)


def _without_guessable_values(value: JsonValue, request: str) -> JsonValue:
    """Return the pattern with `...` for each value that a guess would meet.

    These are yes, no, nothing, and texts that the request names.
    """
    match value:
        case dict():
            return {k: _without_guessable_values(v, request) for k, v in value.items()}
        case list():
            return [_without_guessable_values(v, request) for v in value]
        case None | bool():
            return ANY
        case str() if value and _is_named_in(value.casefold(), request.casefold()):
            return ANY
        case _:
            return value


def _list_pairs(node: ast.Dict) -> Iterator[tuple[str, str]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            yield make_key(evaluate_literal(key)), make_key(evaluate_literal(value))


def _list_whole_results(example: Example) -> Iterator[JsonValue]:
    """Yield the result, and its only value if it is a dict with one key."""
    if expects_value(example):
        yield example.expected
        if isinstance(example.expected, dict) and len(example.expected) == 1:
            yield from example.expected.values()


def _list_result_keys(example: Example) -> Iterator[str]:
    yield make_key(example.expected)
    yield from map(make_key, list_parts(example.expected))


def _list_compared_texts(node: ast.Compare | ast.MatchValue) -> Iterator[str]:
    """Yield the texts that a comparison or a `case` compares with."""
    parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.value]
    for part in parts:
        inner = part.elts if isinstance(part, ast.Tuple | ast.List | ast.Set) else [part]
        for each in inner:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


def _is_named_in(text: str, request: str) -> bool:
    return text in _request_words(request) or (len(text) > 3 and text in request)


def _request_words(request: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", request.casefold()))
