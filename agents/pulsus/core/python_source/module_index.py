"""A module's syntax tree, read once: its nodes, constants and the origins of its names. Pure.

`core/validators/effects/effect_uses.py` judges effects by it.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from pulsus.core.python_source.constant_folding import collect_constants, fold
from pulsus.core.python_source.names import last_name
from pulsus.core.python_source.syntax_nodes import list_nodes

_DEEPEST = 8
_BUILTINS = frozenset(
    (
        *("open", "exec", "eval", "__import__", "getattr", "vars", "globals", "breakpoint"),
        *("help", "compile"),
    )
)
_DEFINITIONS: tuple[type[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef], ...] = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
_Node = TypeVar("_Node", bound=ast.AST)
_NAMING = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.IfExp)
"""Expressions that may have a dotted name."""
_NONE: frozenset[str] = frozenset()
_BUILTIN = frozenset(("builtins",))


class ModuleIndex:
    """A module's nodes and constants, its imports, and the names bound once to what they give.

    `nodes` leaves out contexts and operators, such as `Load()` and `Add()`.
    """

    def __init__(self, tree: ast.AST | None) -> None:
        self.tree = tree
        self.nodes = tuple(list_nodes(tree, marks=False)) if tree else ()
        self._by_class: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.nodes:
            self._by_class.setdefault(type(node), []).append(node)
        self.scope = collect_constants(self.nodes)
        self._imported: dict[str, set[str]] = {}
        self._starred: set[str] = set()
        self._keys: dict[int, frozenset[str]] = {}
        self.modules: set[str] = set()
        """Every part of every imported module's name."""
        self.defined: set[str] = set()
        self.calls: dict[int, ast.Call] = {}
        """Every call, by the identity of its function's node."""
        self.attributes = self.of_class(ast.Attribute)
        for call in self.of_class(ast.Call):
            self.calls[id(call.func)] = call
        for kind in _DEFINITIONS:
            self.defined.update(node.name for node in self.of_class(kind))
        for node in self.of_class(ast.Import):
            self._note_import(node)
        for node in self.of_class(ast.ImportFrom):
            if node.module and not node.level:
                self._note_import_from(node, node.module)

    def of_class(self, kind: type[_Node]) -> list[_Node]:
        """Return the nodes of one class, in the order of `nodes`."""
        return self._by_class.get(kind, [])  # type: ignore[return-value]

    def text(self, node: ast.expr) -> str | None:
        """Return the constant text or path that an expression is, or None."""
        found = fold(node, self.scope)
        return None if found is None else found.value

    def _note_import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules.update(alias.name.split("."))
            first = alias.name.partition(".")[0]
            name, whole = (alias.asname, alias.name) if alias.asname else (first, first)
            self._imported.setdefault(name, set()).add(whole)

    def _note_import_from(self, node: ast.ImportFrom, module: str) -> None:
        self.modules.update(module.split("."))
        for alias in node.names:
            if alias.name == "*":
                self._starred.add(module)
                continue
            self.modules.add(alias.name)
            self._imported.setdefault(alias.asname or alias.name, set()).add(
                f"{module}.{alias.name}"
            )

    def is_sure(self, node: ast.expr) -> bool:
        """Return True if a dotted name begins with a name that only one import binds."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return (
            isinstance(node, ast.Name)
            and len(self._imported.get(node.id, ())) == 1
            and node.id not in self.scope.bound
        )

    def is_builtin(self, name: str) -> bool:
        """Return True if a name is a builtin: neither imported nor bound."""
        return name not in self._imported and name not in self.scope.bound and not self._starred

    def keys(self, node: ast.AST) -> frozenset[str]:
        """Return `module.name` with the last part of the module, or `module`, or nothing."""
        known = self._keys.get(id(node))
        if known is None:
            found = self.dotted(node) if isinstance(node, _NAMING) else _NONE
            known = frozenset(map(_normalise_origin, found)) if found else _NONE
            self._keys[id(node)] = known
        return known

    def dotted(self, node: ast.expr, depth: int = _DEEPEST) -> frozenset[str]:
        """Return the whole dotted names that an expression may be."""
        if depth == 0:
            return _NONE
        inner = depth - 1
        match node:
            case ast.Name(id=name):
                return self._origins_of_name(name, inner)
            case ast.Attribute(value=value, attr="__dict__"):
                return self.dotted(value, inner)
            case ast.Attribute(value=value, attr=name):
                return self._origins_of_attribute(self.dotted(value, inner), name)
            case ast.IfExp(body=body, orelse=orelse):
                return self.dotted(body, inner) | self.dotted(orelse, inner)
            case ast.Call(func=func, args=[first, *rest]):
                return self._origins_of_call(last_name(func), first, rest, inner)
            case ast.Subscript(value=value, slice=at):
                return self._origins_of_item(value, at, inner)
            case _:
                return _NONE

    def _origins_of_name(self, name: str, depth: int) -> frozenset[str]:
        if name in self._imported:
            return frozenset(self._imported[name])
        if name in self.defined:
            return _NONE
        if name in self.scope:
            return self.dotted(self.scope[name], depth)
        if name == "__builtins__":
            return _BUILTIN
        if name not in _BUILTINS and not self._starred:
            return _NONE
        found = {f"{module}.{name}" for module in self._starred}
        return frozenset(found | {f"builtins.{name}"} if name in _BUILTINS else found)

    def _origins_of_call(
        self, name: str, first: ast.expr, rest: list[ast.expr], depth: int
    ) -> frozenset[str]:
        if name == "getattr" and rest:
            text = self.text(rest[0])
            return (
                _NONE
                if text is None
                else self._origins_of_attribute(self.dotted(first, depth), text)
            )
        if name in ("__import__", "import_module"):
            text = self.text(first)
            return _NONE if text is None else frozenset((text,))
        return self.dotted(first, depth) if name == "vars" else _NONE

    def _origins_of_item(self, value: ast.expr, at: ast.expr, depth: int) -> frozenset[str]:
        text = self.text(at)
        if text is None:
            return _NONE
        if last_name(value) == "modules":
            return frozenset((text,))
        if isinstance(value, ast.Call) and last_name(value.func) in ("globals", "locals"):
            return self._origins_of_name(text, depth)
        holds_names = isinstance(value, ast.Call) or last_name(value) in (
            "__dict__",
            "__builtins__",
        )
        return self._origins_of_attribute(self.dotted(value, depth), text) if holds_names else _NONE

    def _origins_of_attribute(self, owners: frozenset[str], name: str) -> frozenset[str]:
        return frozenset(f"{owner}.{name}" for owner in owners) if owners else _NONE


def _normalise_origin(dotted: str) -> str:
    parts = [part if part.startswith("__") else part.lstrip("_") for part in dotted.split(".")]
    return ".".join(parts[-2:])
