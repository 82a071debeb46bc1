"""Collects the constants of a module, and those that a conversion makes of them. Pure.

`core/validators/memorised_examples.py` and `core/compose/writing/memorisation_doubts.py` look for
hardcoded results of examples among them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from pulsus.core.contract.example_match import ANY
from pulsus.core.python_source import python_parser
from pulsus.core.types import JsonValue

_DEEPEST = 100
_LOOKUPS = ("get", "pop", "setdefault")
_MAKING = ("int", "float", "str", "bool", "dict", "list", "tuple", "set", "loads")


def list_constants(tree: ast.Module) -> dict[str, int]:
    """Return every constant of the code, folded, with the first line of each."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.Module(tree.body[1:], [])):
        for value in _possible_results(node):
            for constant, line in _list_constants_of(value):
                found.setdefault(make_key(constant), line)
        if isinstance(node, ast.expr) and (known := evaluate_literal(node)) is not ...:
            found.setdefault(make_key(known), node.lineno)
    return found


def _possible_results(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case (
            ast.Return(value=ast.expr() as value)
            | ast.Yield(value=ast.expr() as value)
            | ast.Assign(value=value)
            | ast.AnnAssign(value=ast.expr() as value)
            | ast.NamedExpr(value=value)
            | ast.Lambda(body=value)
            | ast.Call(func=ast.Attribute(attr="append" | "add"), args=[value])
        ):
            yield value
        case ast.Dict(values=values):
            yield from values
        case ast.arguments(defaults=defaults, kw_defaults=named):
            yield from defaults
            yield from (value for value in named if value)
        case _:
            pass


def _list_constants_of(node: ast.expr) -> Iterator[tuple[JsonValue, int]]:
    """Yield the constants an expression may be, and the line of each."""
    whole = evaluate_literal(node)
    if whole is not ...:
        yield whole, node.lineno  # type: ignore[misc]
    match node:
        case ast.Dict(values=inner) | ast.BoolOp(values=inner):
            pass
        case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner):
            pass
        case ast.IfExp(body=body, orelse=orelse):
            inner = [body, orelse]
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
            inner = [value]
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in _LOOKUPS:
            inner = [value, *args[1:]]
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=named
        ) if name in _MAKING:
            inner = [*args, *(k.value for k in named)]
            yield from (converted for arg in args for converted in _list_converted_constants(arg))
        case _:
            inner = []
    for each in inner:
        yield from _list_constants_of(each)


def _list_converted_constants(arg: ast.expr) -> Iterator[tuple[JsonValue, int]]:
    """Yield the values of quoted numbers or JSON, and the line of each."""
    for text, line in _list_constants_of(arg):
        if not isinstance(text, str):
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        yield value, line
        yield from ((leaf, line) for leaf in list_parts(value))


def evaluate_literal(node: ast.expr, depth: int = _DEEPEST) -> object:
    """Return the value an expression plainly is, with constants folded, or `...`.

    Longer sums than `depth` parts give `...`: each part would be added to all before it again.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            if depth == 0:
                return ...
            known = evaluate_literal(right, depth - 1)
            return (
                ...
                if known is ...
                else _compute_operation(evaluate_literal(left, depth - 1), op, known)
            )
        case ast.JoinedStr(values=[ast.Constant(value=text)]):
            return text
        case ast.BinOp() | ast.JoinedStr():
            return ...
        case _:
            try:
                return python_parser.read_literal(node)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                return ...


def _compute_operation(left: object, op: ast.operator, right: object) -> object:
    match left, op, right:
        case str(), ast.Add(), str():
            return left + right
        case int() | float(), _, int() | float() if max(abs(left), abs(right)) < 1e9:
            if isinstance(op, ast.Mult):
                return left * right
            return left + right if isinstance(op, ast.Add) else left - right
        case _:
            return ...


def list_parts(value: JsonValue) -> Iterator[JsonValue]:
    """Yield the values that a pattern names, one by one."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from list_parts(inner) if key != ANY else ()
        case list() if value:
            for inner in value:
                yield from list_parts(inner)
        case _:
            if value != ANY:
                yield value


def make_key(value: object) -> str:
    """Return a constant as text; equal numbers and equal lists have the same text."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return json.dumps(value, sort_keys=True, default=repr)
