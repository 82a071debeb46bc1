"""Which names of a module's text hold files of the run's own: temporary ones and memory. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.contract.named import last_name
from pulsus.core.validators.capability_names import TEMPORARY

_ROUNDS = 6


class Temporary:
    """Names bound to what `tempfile`, `io` or `os.pipe` gave, or to something made of it."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        self._names: set[str] = set()
        if not any(_is_source(node) for node in nodes):
            return
        bound = [pair for node in nodes for pair in _bindings(node)]
        functions = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
        calls: dict[str, list[ast.Call]] = {name: [] for name in functions}
        for node in nodes:
            if isinstance(node, ast.Call) and last_name(node.func) in calls:
                calls[last_name(node.func)].append(node)
        for _ in range(_ROUNDS):
            found = {name for names, value in bound if self.owns(value) for name in names}
            found |= self._parameters(functions, calls)
            if found <= self._names:
                break
            self._names |= found
        others = {name for names, value in bound for name in names if not self.owns(value)}
        self._names -= others  # bound to something else too: not known which it is

    def owns(self, node: ast.expr) -> bool:
        """Whether an expression is such a file, or lies below such a folder."""
        return self._mentions(node) and not _leads_out(node)

    def _mentions(self, node: ast.expr) -> bool:
        return any(
            _is_source(part) or (isinstance(part, ast.Name) and part.id in self._names)
            for part in ast.walk(node)
        )

    def _parameters(
        self, functions: dict[str, ast.FunctionDef], calls: dict[str, list[ast.Call]]
    ) -> set[str]:
        """Parameters that get such a file in every call of their function."""
        found: set[str] = set()
        for name, function in functions.items():
            for position, arg in enumerate(function.args.args):
                given = (_given(call, position, arg.arg) for call in calls[name])
                if calls[name] and all(each is not None and self.owns(each) for each in given):
                    found.add(arg.arg)
        return found


def _given(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position:
        return call.args[position]
    return next((each.value for each in call.keywords if each.arg == name), None)


def _is_source(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in TEMPORARY


def _bindings(node: ast.AST) -> Iterator[tuple[list[str], ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield [name for target in targets for name in _names(target)], value
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield _names(target), value
        case ast.NamedExpr(target=target, value=value):
            yield _names(target), value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield _names(target), value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield _names(target), value
        case _:
            pass


def _names(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _leads_out(node: ast.expr) -> bool:
    """Whether a constant part is absolute or goes up."""
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and (part.value.startswith(("/", "~")) or ".." in part.value.split("/"))
        for part in ast.walk(node)
    )
