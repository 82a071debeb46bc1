"""The names that a node of a syntax tree binds, and the values it assigns. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

BINDERS = frozenset(
    (
        *(ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
        *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    )
)
"""Nodes that may bind a name otherwise than by an import."""

ASSIGNING = frozenset(
    (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.withitem)
)
"""Nodes of which `assignments` yields something."""


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node binds; a parameter may hold anything."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
            yield name
        case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            yield name
        case _:
            pass


def assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """Yield (target, value, how) of what one node assigns.

    How: the target `is` the value, is bound `with` it, or is `each` of its elements.
    """
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value, "is") for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield target, value, "is"
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield target, value, "each"
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield target, value, "with"
        case _:
            pass
