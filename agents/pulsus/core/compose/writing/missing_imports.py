"""The imports that a model forgot (spec §7). Pure.

Small models call `json.loads` without `import json` and do not find it when told. Only modules of
the allowlist are imported, by their own names: what the module may do stays as it was.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection


def with_missing_imports(source: bytes, allowed: Collection[str]) -> bytes:
    """`source` with an import of every allowed module it uses (`json.loads`) and nowhere binds.

    As it is where it is no Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return source
    used = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    missing = sorted((used & set(allowed)) - _bound(tree) - set(dir(builtins)))
    if not missing:
        return source
    lines = source.splitlines(keepends=True)
    at = _first_statement(tree)
    made = "".join(f"import {name}\n" for name in missing).encode("ascii")
    return b"".join([*lines[:at], made, *lines[at:]])


def _bound(tree: ast.AST) -> set[str]:
    """Every name that is given a value somewhere, in whatever scope."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case _:
                pass
    return found


def _first_statement(tree: ast.Module) -> int:
    """How many lines come before the first import or statement that is no `__future__`."""
    for number, node in enumerate(tree.body):
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if number == 0:
                continue
            case ast.ImportFrom(module="__future__"):
                continue
            case _:
                pass
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        return min(node.lineno, *(d.lineno for d in decorators), node.lineno) - 1
    raise AssertionError("an attribute is used, so there is a statement")
