"""Imports of a generated module against the allowlist (routing spec §7). Pure.

A module of the standard library carries others in its attributes (`pathlib.os`), so what is
reached through an allowed one is looked at too.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module

Problem = tuple[int, str]


def problems(tree: ast.Module, allowed: frozenset[str]) -> Iterator[Problem]:
    """(line, what is wrong) of every import, and of every way to a module around them."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from _imported(node.lineno, alias.name, allowed)
                    root = alias.name if alias.asname else alias.name.partition(".")[0]
                    bound[alias.asname or root] = root
            case ast.ImportFrom():
                yield from _from(node, allowed)
            case _:
                pass
    yield from _reached(tree, bound, allowed)


def is_allowed(module: str, allowed: frozenset[str]) -> bool:
    """Whether the module, or a package it lies in, is on the list."""
    parts = module.split(".")
    return any(".".join(parts[:n]) in allowed for n in range(1, len(parts) + 1))


def _imported(line: int, module: str, allowed: frozenset[str]) -> Iterator[Problem]:
    if not is_allowed(module, allowed):
        yield line, f"imports {module}, which is not on the allowlist"


def _from(node: ast.ImportFrom, allowed: frozenset[str]) -> Iterator[Problem]:
    module = node.module or ""
    if module == "__future__" and not node.level:
        return
    if node.level:
        yield node.lineno, "a relative import leads nowhere: a tool is one module"
        return
    if not is_allowed(module, allowed):
        yield node.lineno, f"imports {module}, which is not on the allowlist"
        return
    for alias in node.names:
        if alias.name == "*":
            yield node.lineno, f"imports * from {module}: name what is needed"
        else:
            yield from _hidden(node.lineno, module, alias.name, allowed)


def _reached(tree: ast.Module, bound: dict[str, str], allowed: frozenset[str]) -> Iterator[Problem]:
    """Modules behind an attribute of an imported one; modules handed on as values."""
    bases: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name) as base, attr=attr) if name in bound:
                bases.add(id(base))
                yield from _hidden(node.lineno, bound[name], attr, allowed)
            case _:
                pass
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in bound and id(node) not in bases:
                yield node.lineno, f"hands the module {name} on as a value"
            case _:
                pass


def _hidden(line: int, module: str, attr: str, allowed: frozenset[str]) -> Iterator[Problem]:
    found = _module_at(module, attr, allowed)
    if found and not is_allowed(found, allowed):
        yield line, f"reaches the module {found} through {module}.{attr}"


def _module_at(module: str, attr: str, allowed: frozenset[str]) -> str | None:
    """The name of the module that an attribute of an allowed one is; only of standard ones.

    Those are imported here to look: they are on the allowlist, and importing them does nothing.
    """
    root = module.partition(".")[0]
    if root not in sys.stdlib_module_names or not is_allowed(module, allowed):
        return None
    try:
        value = getattr(import_module(module), attr, None)
    except ImportError:
        return None
    return value.__name__ if inspect.ismodule(value) else None
