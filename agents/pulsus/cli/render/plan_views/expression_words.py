"""Expressions of a plan in words: `above of disks is not empty`. Pure.

Expressions are checked in `core/compose/plans/dsl/expressions.py`.

A reviewer of a plan need not read jinja2. Words stand only for what they say exactly: any other
part of an expression is shown as it is written, with its references in words. This module imports
jinja2, so it is imported only for plans that hold an expression.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, cast

from jinja2 import nodes

from pulsus.core.compose.plans.dsl.expression_references import ITEM, read_reference
from pulsus.core.compose.plans.dsl.expressions import parse_tree
from pulsus.core.types import (
    Constant,
    Expression,
    OutputRef,
    ParamRef,
    PlanValue,
    Structure,
    Template,
)

_COMPARISONS: Final = {
    "eq": "is",
    "ne": "is not",
    "gt": "is more than",
    "gteq": "is at least",
    "lt": "is less than",
    "lteq": "is at most",
    "in": "is in",
    "notin": "is not in",
}
_EMPTY: Final = {("eq", 0), ("lt", 1), ("lteq", 0)}
_NOT_EMPTY: Final = {("ne", 0), ("gt", 0), ("gteq", 1)}
"""Comparisons of a length that say if a list is empty."""
_LENGTHS: Final = frozenset(("length", "count"))
_CHOICES: Final = {"first": "the first of", "last": "the last of"}


def condition_words(source: str) -> str:
    """Return the condition of `when` in words."""
    return _condition(parse_tree(source))


def value_words(value: PlanValue) -> str:
    """Return a value of a plan in words; a constant as JSON."""
    match value:
        case Constant(constant):
            return json.dumps(constant, ensure_ascii=False)
        case ParamRef() | OutputRef():
            return _reference_words(value)
        case Expression(source):
            return _value(parse_tree(source))
        case Template(source):
            return _value(parse_tree(source, template=True))
        case Structure(parts) if isinstance(parts, Mapping):
            listed = (f"{json.dumps(key)}: {value_words(each)}" for key, each in parts.items())
            return f"{{{', '.join(listed)}}}"
        case Structure(parts):
            each_part = cast("tuple[PlanValue, ...]", parts)
            return f"[{', '.join(value_words(each) for each in each_part)}]"


def _reference_words(found: ParamRef | OutputRef | str) -> str:
    match found:
        case ParamRef(name):
            return f"the input {name}"
        case OutputRef(step, output):
            return f"{output} of {step}"
        case _:
            return f"the {ITEM}"


def _condition(node: nodes.Node) -> str:
    """Return what has to be true, as a clause."""
    match node:
        case nodes.And():
            return f"{_clause(node.left, nodes.Or)} and {_clause(node.right, nodes.Or)}"
        case nodes.Or():
            return f"{_clause(node.left, nodes.And)} or {_clause(node.right, nodes.And)}"
        case nodes.Not(node=nodes.Test() as test):
            return f"{_value(test.node)} is not {_test(test)}"
        case nodes.Not(node=nodes.And() | nodes.Or() | nodes.Compare() | nodes.Not()):
            return f"not ({_condition(node.node)})"
        case nodes.Not():
            return f"{_value(node.node)} is false, 0 or empty"
        case nodes.Test():
            return f"{_value(node.node)} is {_test(node)}"
        case nodes.Compare():
            return _comparison(node)
        case _:
            return f"{_value(node)} is true, or neither 0 nor empty"


def _clause(node: nodes.Node, enclosed: type[nodes.Node]) -> str:
    """Return a clause in parentheses if `and` and `or` would be mixed without them."""
    words = _condition(node)
    return f"({words})" if isinstance(node, enclosed) else words


def _comparison(node: nodes.Compare) -> str:
    clauses = []
    first: nodes.Node = node.expr
    for operand in node.ops:
        clauses.append(_compare(first, operand))
        first = operand.expr
    return " and ".join(clauses)


def _compare(first: nodes.Node, operand: nodes.Operand) -> str:
    if isinstance(first, nodes.Filter) and first.name in _LENGTHS and first.node is not None:
        compared = (operand.op, getattr(operand.expr, "value", None))
        if compared in _NOT_EMPTY or compared in _EMPTY:
            empty = "not empty" if compared in _NOT_EMPTY else "empty"
            return f"{_value(first.node)} is {empty}"
    return f"{_value(first)} {_COMPARISONS[operand.op]} {_value(operand.expr)}"


def _test(node: nodes.Test) -> str:
    return f"{node.name}{_arguments(node)}"


def _value(node: nodes.Node) -> str:
    """Return a value in words, or as it is written for what has no plain words."""
    reference = read_reference(node)
    if reference is not None:
        return _reference_words(reference)
    match node:
        case nodes.Output():
            return " + ".join(_piece(each) for each in node.nodes)
        case nodes.Const():
            return json.dumps(node.value, ensure_ascii=False)
        case nodes.Getattr():
            return f"{node.attr} of {_value(node.node)}"
        case nodes.Getitem(arg=nodes.Const(value=str() as key)):
            return f"{key} of {_value(node.node)}"
        case nodes.Getitem():
            return f"{_operand(node.node)}[{_index(node.arg)}]"
        case nodes.List() | nodes.Tuple():
            return f"[{', '.join(_value(each) for each in node.items)}]"
        case nodes.Dict():
            pairs = (f"{_value(each.key)}: {_value(each.value)}" for each in node.items)
            return f"{{{', '.join(pairs)}}}"
        case _:
            return _computed(node)


def _computed(node: nodes.Node) -> str:
    match node:
        case nodes.Filter(node=nodes.Node() as given):
            return _filtered(node, given)
        case nodes.And() | nodes.Or() | nodes.Not() | nodes.Compare() | nodes.Test():
            return f"({_condition(node)})"
        case nodes.BinExpr():
            return f"{_operand(node.left)} {node.operator} {_operand(node.right)}"
        case nodes.Concat():
            return " ~ ".join(_operand(each) for each in node.nodes)
        case nodes.Neg() | nodes.Pos():
            return f"{node.operator}{_operand(node.node)}"
        case nodes.CondExpr():
            other = _value(node.expr2) if node.expr2 else "nothing"
            return f"{_operand(node.expr1)} if {_condition(node.test)}, else {other}"
        case _:
            raise TypeError(f"{type(node).__name__} is no part of a checked expression")


def _index(node: nodes.Node) -> str:
    """Return an index, or the bounds of a slice as they are written."""
    if not isinstance(node, nodes.Slice):
        return _value(node)
    bounds = [node.start, node.stop, *([node.step] if node.step else [])]
    return ":".join(_value(each) if each else "" for each in bounds)


def _piece(node: nodes.Node) -> str:
    """Return a part of a text: what stands in it as JSON, the rest in words."""
    if isinstance(node, nodes.TemplateData):
        return json.dumps(node.data, ensure_ascii=False)
    return _operand(node)


def _filtered(node: nodes.Filter, given: nodes.Node) -> str:
    if not node.args and not node.kwargs:
        if node.name in _LENGTHS:
            return f"the length of {_operand(given)}"
        if node.name in _CHOICES:
            return f"{_CHOICES[node.name]} {_operand(given)}"
    return f"{_operand(given)} | {node.name}{_arguments(node)}"


def _arguments(node: nodes.Filter | nodes.Test) -> str:
    given = [_value(each) for each in node.args]
    given += [f"{each.key}={_value(each.value)}" for each in node.kwargs]
    return f"({', '.join(given)})" if given else ""


def _operand(node: nodes.Node) -> str:
    """Return a value, in parentheses if it is computed from others."""
    words = _value(node)
    computed = nodes.BinExpr | nodes.Concat | nodes.CondExpr
    return f"({words})" if isinstance(node, computed) else words
