"""Collects the bindings of a module's names, function by function. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from pulsus.core.python_source.bindings import BINDERS, assignments, bound_names
from pulsus.core.python_source.names import last_name

Bound = tuple[int, str]
"""A name, with the function it belongs to; 0 is the module."""
_Functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class LocalBindings:
    """Every binding of every name: (value, how). The value is None if the text does not show it.

    How: the name `is` the value, is bound `with` it, is one `item` or `each` of its elements.
    """

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.values: dict[Bound, list[tuple[ast.expr | None, str]]] = {}
        self._homes: dict[int, tuple[int, ...]] = {}
        """By the identity of a name's node: its functions, the innermost first."""
        self._assigned: dict[int, tuple[ast.expr, str]] = {}
        self._outer = {
            name for n in nodes if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names
        }
        self._note_scopes(nodes[0])
        for node in nodes:
            for target, value, how in assignments(node):
                self._note_target(target, value, how)
        parameters = _collect_passed_arguments(nodes)
        for node in nodes:
            for name in bound_names(node) if type(node) in BINDERS else ():
                bound = (self._homes[id(node)][0], name)
                found = self.values.setdefault(bound, [])
                if isinstance(node, ast.arg):
                    given = parameters.get(id(node))
                    found.extend([(v, "is") for v in given] if given else [(None, "")])
                else:
                    found.append(self._assigned.get(id(node), (None, "")))

    def of(self, node: ast.Name) -> Bound | None:
        """Return the binding that a name means, or None if `global` or `nonlocal` blurs it."""
        if node.id in self._outer:
            return None
        for home in self._homes.get(id(node), (0,)):
            if (home, node.id) in self.values:
                return home, node.id
        return None

    def is_number(self, node: ast.Name) -> bool:
        """Return True if a name is only bound to numbers that a loop counts."""
        bound = self.of(node)
        values = self.values.get(bound, []) if bound else []
        return bool(values) and all(
            value is not None and (how == "number" or _is_count(value, how))
            for value, how in values
        )

    def _note_scopes(self, module: ast.AST) -> None:
        todo: list[tuple[ast.AST, tuple[int, ...]]] = [(module, (0,))]
        while todo:
            node, homes = todo.pop()
            self._homes[id(node)] = homes
            inner = (id(node), *homes) if isinstance(node, _Functions) else homes
            for child in ast.iter_child_nodes(node):
                default = isinstance(node, ast.arguments) and not isinstance(child, ast.arg)
                todo.append((child, inner[1:] if default else inner))

    def _note_target(self, target: ast.expr, value: ast.expr, how: str) -> None:
        if isinstance(target, ast.Name):
            self._assigned[id(target)] = (value, how)
        elif isinstance(target, ast.Tuple | ast.List):
            counted = how == "each" and isinstance(value, ast.Call)
            for position, each in enumerate(target.elts):
                if not isinstance(each, ast.Name):
                    continue
                if counted and last_name(value.func) == "enumerate" and position == 0:  # type: ignore[attr-defined]
                    self._assigned[id(each)] = (value, "number")
                elif how == "is":
                    self._assigned[id(each)] = (value, "item")


def _is_count(value: ast.expr, how: str) -> bool:
    called = last_name(value.func) if isinstance(value, ast.Call) else ""
    number = isinstance(value, ast.Constant) and isinstance(value.value, int)
    return (how == "each" and called == "range") or (how == "is" and (number or called == "len"))


def _collect_passed_arguments(nodes: Sequence[ast.AST]) -> dict[int, list[ast.expr | None]]:
    """Return by parameter the values that calls pass, if all calls of its function are known."""
    functions: dict[str, list[ast.FunctionDef]] = {}
    names: dict[str, int] = {}
    calls: dict[str, list[ast.Call]] = {}
    methods = {id(child) for n in nodes if isinstance(n, ast.ClassDef) for child in n.body}
    for node in nodes:
        for name in bound_names(node) if type(node) in BINDERS else ():
            names[name] = names.get(name, 0) + 1
        if isinstance(node, ast.FunctionDef) and id(node) not in methods:
            functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names[node.id] = names.get(node.id, 0) + 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.setdefault(node.func.id, []).append(node)
    found: dict[int, list[ast.expr | None]] = {}
    for name, defined in functions.items():
        called = calls.get(name, [])
        if len(defined) == 1 and called and names[name] == len(called) + 1:
            found.update(_list_passed_values(defined[0], called))
    return found


def _list_passed_values(
    function: ast.FunctionDef, calls: list[ast.Call]
) -> Iterator[tuple[int, list[ast.expr | None]]]:
    if function.decorator_list or function.args.posonlyargs or function.name == "run":
        return
    for position, arg in enumerate(function.args.args):
        yield id(arg), [_find_argument(call, position, arg.arg) for call in calls]


def _find_argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if len(call.args) > position:
        return call.args[position]
    return next((each.value for each in call.keywords if each.arg == name), None)
