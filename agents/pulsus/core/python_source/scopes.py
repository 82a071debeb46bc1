"""Reads a module's syntax tree with the parents and the meaning of its names. Pure.

The guardrails of generated code (`core/compose/guardrails/`) judge a module by it;
`module_index.py` does the same for effects.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Mapping
from functools import cached_property
from types import ModuleType

from pulsus.core.python_source.bindings import bound_names
from pulsus.core.python_source.syntax_nodes import list_children, list_nodes

Problem = tuple[int, str]


class Syntax:
    """One module, read for judging it. `allowed` are the modules it may import."""

    def __init__(self, tree: ast.Module, allowed: frozenset[str]) -> None:
        self.allowed = allowed
        self.nodes = tuple(list_nodes(tree))
        self.tree = tree

    @cached_property
    def parents(self) -> Mapping[int, ast.AST]:
        """The node that each node lies in, by its id."""
        return {id(child): node for node in self.nodes for child in list_children(node)}

    @cached_property
    def calls(self) -> Mapping[int, ast.Call]:
        """Every call, by the identity of its function's node."""
        return {id(node.func): node for node in self.nodes if isinstance(node, ast.Call)}

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """Names of the module → the modules they stand for."""
        bound: dict[str, str] = {}
        for node in self.nodes:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        root = alias.name if alias.asname else alias.name.partition(".")[0]
                        bound[alias.asname or root] = root
                case ast.ImportFrom(module=str(module), level=0, names=names):
                    for alias in names:
                        if isinstance(get_value(module, alias.name, self.allowed), ModuleType):
                            bound[alias.asname or alias.name] = f"{module}.{alias.name}"
                case _:
                    pass
        return bound

    @cached_property
    def taken(self) -> Mapping[str, str]:
        """Names of the module → what they were taken for from another, such as `io.open`."""
        return {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in self.nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def origin(self, node: ast.AST) -> str:
        """Return the dotted name of another module or builtin that an expression plainly is."""
        match node:
            case ast.Name(id=name) if name in self.modules:
                return self.modules[name]
            case ast.Name(id=name):
                return self.taken.get(name, name)
            case ast.Attribute(value=inner, attr=attr):
                owner = self.origin(inner)
                return f"{owner}.{attr}" if owner else ""
            case _:
                return ""

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name that the module binds, in any scope."""
        return frozenset(name for name, _ in self.bindings)

    @cached_property
    def bindings(self) -> tuple[tuple[str, int], ...]:
        """(name, line) of everything that gives a name a value."""
        return tuple(
            (name, getattr(node, "lineno", 0)) for node in self.nodes for name in bound_names(node)
        )

    @cached_property
    def ambiguous(self) -> tuple[tuple[str, int], ...]:
        """(name, line) of every imported name that stands for something else too."""
        origins: dict[str, set[str]] = {}
        for node in self.nodes:
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                home = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                name = alias.asname or alias.name.partition(".")[0]
                target = alias.name if alias.asname or home else name
                origins.setdefault(name, set()).add(f"{home}{target}")
        others = {
            name: getattr(node, "lineno", 0)
            for node in self.nodes
            if not isinstance(node, ast.alias)
            for name in bound_names(node)
        }
        return tuple(
            (name, others.get(name, 1))
            for name, found in origins.items()
            if name in others or len(found) > 1
        )

    @cached_property
    def classes(self) -> frozenset[str]:
        """The classes it defines."""
        return frozenset(n.name for n in self.nodes if isinstance(n, ast.ClassDef))

    @cached_property
    def captured(self) -> tuple[tuple[str, int], ...]:
        """(name, line) of what is given a value by other means than `def`."""
        return tuple(
            (name, getattr(node, "lineno", 0))
            for node in self.nodes
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for name in bound_names(node)
        )

    @cached_property
    def stored(self) -> frozenset[str]:
        """The attributes that the module assigns, of any object."""
        return frozenset(
            n.attr
            for n in self.nodes
            if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
        )

    def __contains__(self, name: str) -> bool:
        return name in self.bound


def is_allowed(module: str, allowed: frozenset[str]) -> bool:
    """Return True if the module, or a package it lies in, is on the list."""
    parts = module.split(".")
    return any(".".join(parts[:n]) in allowed for n in range(1, len(parts) + 1))


def import_standard(module: str, allowed: frozenset[str]) -> ModuleType | None:
    """Import an allowed module of the standard library, to look at it. Importing has no effect."""
    root = module.partition(".")[0]
    if root not in sys.stdlib_module_names or not is_allowed(module, allowed):
        return None
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def get_value(module: str, attr: str, allowed: frozenset[str]) -> object:
    """Return an attribute of an allowed standard module, or None."""
    owner = import_standard(module, allowed)
    if owner is None:
        return None
    if not hasattr(owner, attr):
        import_standard(f"{module}.{attr}", allowed)
    return getattr(owner, attr, None)


def get_module_name(module: str, attr: str, found: ModuleType) -> str:
    """Return the name of a module found as an attribute: its own place if it lies there."""
    inner = f"{module}.{attr}"
    return inner if sys.modules.get(inner) is found else found.__name__


def is_offered(module: str, attr: str, owner: ModuleType) -> bool:
    """Return True if a standard module lists the name, or defines it under a plain name."""
    if attr in getattr(owner, "__all__", ()):
        return True
    if attr.startswith("_") or not hasattr(owner, attr):
        return False
    found = getattr(owner, attr)
    if inspect.ismodule(found):
        return get_module_name(module, attr, found) == f"{module}.{attr}"
    home = getattr(found, "__module__", None)
    return home is None or home.partition(".")[0].lstrip("_") == module.partition(".")[0]
