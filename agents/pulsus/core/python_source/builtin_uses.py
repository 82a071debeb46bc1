"""Finds the builtin functions that a module's text reaches. Pure.

This is lint, not a boundary: it misses a name that is put together at run time.
`core/validators/steps/static_gate.py` refuses `eval` and `exec` by it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from pulsus.core.python_source.syntax_nodes import list_nodes

_LOOKUPS = ("getattr", "hasattr")
_DEPTH = 6  # enough for `vars(builtins).__dict__`; a reviewer notices a longer chain


def find_builtin_uses(tree: ast.AST, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every use of a builtin of those names, called or not.

    Seen: the bare name, `builtins.NAME` under any alias, `from builtins import NAME`,
    `__builtins__["NAME"]`, `getattr(builtins, "NAME")`, `vars(builtins)["NAME"]`.
    """
    nodes = list_nodes(tree)
    aliases = {"builtins", "__builtins__"} | {
        alias.asname
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "builtins" and alias.asname
    }
    for node in nodes:
        for name in _list_builtins(node, aliases):
            if name in names:
                yield getattr(node, "lineno", 0), name


def _list_builtins(node: ast.AST, aliases: Collection[str]) -> tuple[str, ...]:
    """Return the builtins that this one node names."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return (name,)
        case ast.ImportFrom(module="builtins", names=found):
            return tuple(alias.name for alias in found)
        case ast.Attribute(value=owner, attr=name) if _is_builtins(owner, aliases):
            return (name,)
        case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))) if _is_builtins(
            owner, aliases
        ):
            return (name,)
        case ast.Call(
            func=ast.Name(id=lookup), args=[owner, ast.Constant(value=str(name)), *_]
        ) if lookup in _LOOKUPS and _is_builtins(owner, aliases):
            return (name,)
        case _:
            return ()


def _is_builtins(node: ast.expr, aliases: Collection[str], depth: int = _DEPTH) -> bool:
    """Return True if the expression plainly is the builtins module or its namespace."""
    if depth == 0:
        return False
    match node:
        case ast.Name(id=name):
            return name in aliases
        case ast.Attribute(value=inner, attr="__dict__"):
            return _is_builtins(inner, aliases, depth - 1)
        case ast.Call(func=ast.Name(id="vars"), args=[inner]):
            return _is_builtins(inner, aliases, depth - 1)
        case ast.Call(
            func=ast.Name(id="__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value="builtins"), *_],
        ):
            return True
        case ast.Subscript(slice=ast.Constant(value="builtins" | "__builtins__")):
            return True  # sys.modules["builtins"], globals()["__builtins__"]
        case _:
            return False
