"""Refuse modules of any author that memorised their examples (spec §8, ADR 33). Pure.

A module with hardcoded results, or one that reads its own docstring or source, is refused here.
This reads the source of any author. A table of the examples proves nothing, and is refused. Code
with the inputs and results of every example may be honest (a table of units), so its proof is
`shape`. The dry run finds hidden copies, because it also runs the module without its examples.

Signs in a generated module that only stop an approval without a person are found by
`core/compose/writing/memorisation_doubts.py`.
"""

from __future__ import annotations

import ast
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence

from pulsus.core.contract.example_match import expects_value, input_values
from pulsus.core.contract.module_constants import evaluate_literal, list_parts, make_key
from pulsus.core.python_source.bindings import assignments
from pulsus.core.python_source.syntax_nodes import node_fields
from pulsus.core.system.word_lists import WordLists
from pulsus.core.types import Example, JsonValue, ToolSpec
from pulsus.core.validators.code_constants import LEAST_HASH, CodeConstants

_READS_ITSELF = WordLists(__file__).names("reads_itself")
_BY_NAME = ("getattr", "hasattr", "setattr")
_BARE_NAMES = frozenset(("globals", "locals", "vars", "eval", "exec", "compile"))
_OWN_PLACES = ("/proc/self", "/proc/thread-self", "/pulsus", "/dev/fd")
_HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_256")
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
_LEAST_PART = 3
"""A shorter text is part of any other by chance."""
_DERIVED = frozenset(("len", "sum", "ord", "hash", "max", "min", "crc32", "adler32", "int"))


def list_deciding_nodes(tree: ast.AST | None) -> tuple[ast.AST, ...]:
    """Return all nodes except docstrings, annotations and defaults, which decide no result."""
    return tuple(_walk_deciding_nodes(tree or ast.Module([], [])))


def may_read_itself(code: Sequence[ast.AST]) -> bool:
    """Return True if the code names a way to its own docstring, source, frames or memory.

    Many honest modules do (`argparse` shows `__doc__`): it is a reason to look, not to refuse.
    `code` are the deciding nodes.
    """
    for node in code:
        match node:
            case ast.Name(id=name):
                found = name in _READS_ITSELF or name in _BARE_NAMES
            case ast.Attribute(attr=name):
                found = name in _READS_ITSELF
            case ast.alias(name=name):
                found = not _READS_ITSELF.isdisjoint(name.split("."))
            case ast.ImportFrom(module=str(name)):
                found = not _READS_ITSELF.isdisjoint(name.split("."))
            case ast.Constant(value=str(text)):
                found = text in _READS_ITSELF or text in _BARE_NAMES or text.endswith("/mem")
                found = found or any(place in text for place in _OWN_PLACES)
            case ast.Call(func=ast.Name(id=name), args=[_, by, *_]) if name in _BY_NAME:
                found = not isinstance(by, ast.Constant)
            case _:
                found = False
        if found:
            return True
    return False


def find_example_table(code: Sequence[ast.AST], tool: ToolSpec) -> str:
    """Return where a constant table maps every example to its result, and nothing else; or "".

    `code` are the deciding nodes.
    """
    given = [e for e in tool.examples if expects_value(e)]
    bound: Mapping[str, list[ast.expr]] | None = None
    for node in code if given else ():
        match node:
            case ast.Subscript(value=constant, slice=by) if not isinstance(by, ast.Constant):
                pass
            case ast.Call(func=ast.Attribute(value=constant, attr="get" | "pop"), args=[by, *_]):
                pass
            case _:
                continue
        bound = _values_by_name(code) if bound is None else bound
        if _is_table(_evaluate_constant(constant, bound), given):
            return f"line {node.lineno}: a table of its examples"
    return ""


def find_doubt(code: Sequence[ast.AST], tool: ToolSpec) -> str:
    """Return why the examples prove the shape only: the code holds their inputs and results.

    `code` are the deciding nodes.
    """
    given = [e for e in tool.examples if expects_value(e)]
    if not given:
        return ""
    known = CodeConstants(code)
    sizes = _list_compared_features(code)
    if all(_has_known_inputs(e, tool, known, sizes) and _is_result_known(e, known) for e in given):
        return "its code holds the inputs and the results of every example"
    return ""


def _walk_deciding_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        for field in node_fields(type(node), False):
            if field in ("annotation", "returns"):
                continue
            value = getattr(node, field, None)
            for each in value if isinstance(value, list) else (value,):
                if not isinstance(each, ast.AST) or isinstance(each, ast.arguments):
                    continue
                if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
                    todo.append(each)


def _values_by_name(code: Sequence[ast.AST]) -> Mapping[str, list[ast.expr]]:
    """Return the values that each name is bound to."""
    found: dict[str, list[ast.expr]] = {}
    for node in code:
        for target, value, _ in assignments(node) if isinstance(node, _ASSIGNMENTS) else ():
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
    return found


def _evaluate_constant(node: ast.expr, bound: Mapping[str, list[ast.expr]]) -> object:
    """Return the constant value of an expression, or `...`. A name counts if it is bound once."""
    if isinstance(node, ast.Name):
        values = bound.get(node.id, ())
        if len(values) != 1:
            return ...
        node = values[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        node = node.args[0] if node.func.id in ("dict", "list", "tuple") else node
    found = evaluate_literal(node)
    if isinstance(found, list | tuple) and all(_is_pair(item) for item in found):
        return {item[0]: item[1] for item in found if isinstance(item[0], str | int | float)}
    return found


def _is_pair(item: object) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2


def _is_table(constant: object, given: Sequence[Example]) -> bool:
    """Return True if it maps each example to its result, and nothing else."""
    if not isinstance(constant, dict) or not constant or len(constant) > len(given):
        return False
    entries = [(make_key(key), make_key(value)) for key, value in constant.items()]
    known = [(_list_input_keys(e), set(_list_result_keys(e))) for e in given]
    return all(any(key in f and value in r for f, r in known) for key, value in entries) and all(
        any(key in f and value in r for key, value in entries) for f, r in known
    )


def _list_input_keys(example: Example) -> set[str]:
    """Return the keys that a table may use: an input, its length, a letter, a hash."""
    found: set[str] = set()
    for value in input_values(example):
        found.add(make_key(value))
        if isinstance(value, str | list):
            found.add(make_key(len(value)))
        if isinstance(value, str):
            found |= {make_key(value[:1]), make_key(value[-1:]), make_key(sum(map(ord, value)))}
            found |= {make_key(each) for each in _list_hashes(value)}
    return found


def _list_hashes(text: str) -> Iterator[str | int]:
    data = text.encode("utf-8", "replace")
    for name in _HASHES:
        yield hashlib.new(name, data, usedforsecurity=False).hexdigest()
    yield zlib.crc32(data)
    yield zlib.adler32(data)


def _list_result_keys(example: Example) -> Iterator[str]:
    """Yield the result as a key, and the values below its keys."""
    yield make_key(example.expected)
    if isinstance(example.expected, dict):
        yield from (make_key(value) for value in example.expected.values())


def _has_known_inputs(
    example: Example, tool: ToolSpec, known: CodeConstants, sizes: frozenset[str]
) -> bool:
    """Return True if the code can tell this example from others, by each input given."""
    defaults = {arg.name: arg.default for arg in tool.args}
    given = [
        value
        for name, value in example.inputs.items()
        if not isinstance(value, bool) and repr(value) != defaults.get(name)
    ]
    paths = [file.path for file in example.files]
    given = [value for value in given if value not in paths]
    given += [file.content.decode("utf-8", "replace") for file in example.files]
    return bool(given) and all(_is_known_value(value, known, sizes) for value in given)


def _is_known_value(value: JsonValue, known: CodeConstants, sizes: frozenset[str]) -> bool:
    if make_key(value) in known.keys:
        return True
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 9:
        return str(abs(value)) in known.words
    if isinstance(value, str | list) and make_key(len(value)) in sizes:
        return True
    if isinstance(value, list | dict) and value:
        return all(make_key(leaf) in known.keys for leaf in list_parts(value))
    if not isinstance(value, str):
        return False
    hashed = [str(each)[:LEAST_HASH] for each in _list_hashes(value)]
    exact = any(make_key(each) in known.keys for each in _list_hashes(value))
    return exact or any(text[:LEAST_HASH] in hashed for text in known.texts if text)


def _is_result_known(example: Example, known: CodeConstants) -> bool:
    """Return True if constants make the whole result, beyond yes, no or nothing."""
    leaves = list(list_parts(example.expected))
    return bool(leaves) and all(
        leaf is None
        or isinstance(leaf, bool)
        or make_key(leaf) in known.keys
        or (isinstance(leaf, str) and len(leaf) >= _LEAST_PART and leaf in known.whole)
        or leaf in ("", 0)
        for leaf in leaves
    )


def _list_compared_features(code: Sequence[ast.AST]) -> frozenset[str]:
    """Return the constants that a length, a sum or a hash is compared with."""
    found: set[str] = set()
    for node in code:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            patterns = (case.pattern for case in node.cases)
            sides = [node.subject, *(p.value for p in patterns if isinstance(p, ast.MatchValue))]
        if sides and any(map(_is_derived_feature, sides)):
            values = map(evaluate_literal, sides)
            found |= {make_key(value) for value in values if value is not ...}
    return frozenset(found)


def _is_derived_feature(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _DERIVED
        case _:
            return False
