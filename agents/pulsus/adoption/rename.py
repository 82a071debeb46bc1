"""Rename names that a module binds at its top, wherever they mean the module's own. Pure.

`adoption/python_script.py` renames `run` and `main` with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from pulsus.core.python_source import bindings

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def bound_names(body: Collection[ast.stmt]) -> set[str]:
    """Return the names that these statements bind in their own scope."""
    return {
        name
        for node in _own_nodes(list(body))
        if not isinstance(node, ast.pattern)
        for name in bindings.bound_names(node)
    }


def names_used_in_functions(body: Collection[ast.stmt]) -> set[str]:
    """Return the names that functions and classes among these statements read."""
    return {
        node.id
        for stmt in body
        if isinstance(stmt, _SCOPES)
        for node in ast.walk(stmt)
        if isinstance(node, ast.Name)
    }


def rename_entries(text: str, tree: ast.Module, wanted: Collection[str]) -> str:
    """Return the text with `_NAME` for each of those names that the module binds and uses."""
    names = set(wanted) & bound_names(tree.body)
    places = sorted(set(_find_uses(tree, names, frozenset())), reverse=True)
    lines = text.split("\n")
    for line, column, name in places:
        row = lines[line - 1].encode("utf-8")
        found = re.search(rf"\b{re.escape(name)}\b".encode(), row[column:])
        if found:
            at = column + found.start()
            lines[line - 1] = (row[:at] + b"_" + row[at:]).decode("utf-8")
    return "\n".join(lines)


def _find_uses(
    scope: ast.AST,
    names: Collection[str],
    hidden: frozenset[str],
    here: frozenset[str] = frozenset(),
) -> Iterator[tuple[int, int, str]]:
    """Yield line, column in bytes and name of every use. `hidden` names are bound in a nearer
    scope.

    The methods of a class do not see the names that the class binds. These are hidden only in its
    own lines.
    """
    todo: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        for name in _names_in_node(node):
            if name in names and name not in hidden and name not in here:
                yield node.lineno, node.col_offset, name  # type: ignore[attr-defined]
        if isinstance(node, _SCOPES):
            outside, inside = _split_scope(node)
            todo += outside
            holder = ast.Module([], [])
            holder.body = inside  # type: ignore[assignment]
            if isinstance(node, ast.ClassDef):
                yield from _find_uses(holder, names, hidden, frozenset(bound_names(node.body)))
            else:
                yield from _find_uses(holder, names, hidden | _local_names(node))
        else:
            todo += ast.iter_child_nodes(node)


def _names_in_node(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Global(names=names):
            return tuple(names)
        case _:
            return ()


def _split_scope(node: _Scope) -> tuple[list[ast.AST], list[ast.AST]]:
    """Return the parts that are evaluated outside the scope, and those inside."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords], [*node.body]
    if isinstance(node, ast.Lambda):
        return [node.args], [node.body]
    returned = [node.returns] if node.returns is not None else []
    return [*node.decorator_list, node.args, *returned], [*node.body]


def _local_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Return the names that the function binds itself."""
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    names = {arg.arg for arg in every if arg is not None}
    if isinstance(node, ast.Lambda):
        return names
    globals_ = {
        n for stmt in _own_nodes(node.body) if isinstance(stmt, ast.Global) for n in stmt.names
    }
    return (names | bound_names(node.body)) - globals_


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of the scope, with nested functions and classes as one node each."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(
            node, (*_SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            todo += ast.iter_child_nodes(node)
