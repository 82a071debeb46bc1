"""Finds the entry point of a module, and reads its signature (spec §4). Pure.

A module without `run` or `main`, with both, or with an async or decorated one is refused here; the
function is called in `core/sandbox/harness/load_and_call.py`. This is strict. A name that is bound
twice, conditionally or through a decorator is decided only at run time, and then the signature read
here could be another function's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pulsus.core.python_source.bindings import BINDERS, bound_names
from pulsus.core.types import ArgSpec, ParamKind

NAMES = ("run", "main")

_CLOSED = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Import, ast.ImportFrom, ast.Constant),
)
"""Nodes below which nothing is bound in the module's own scope."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a module has no usable entry point: a stable code and one line."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Binding:
    name: str
    node: ast.AST
    line: int
    nested: bool


def find_entry(module: ast.Module) -> ast.FunctionDef | Refusal:
    """Return the one top-level `def run` or `def main`, or the reason why the module has no entry
    point.
    """
    bindings = sorted(_list_entry_bindings(module), key=lambda b: b.line)
    if not bindings:
        return Refusal("NO_ENTRY", "no `def run(...)` or `def main(...)` at the top level")
    if len(bindings) > 1:
        where = ", ".join(f"{b.name} in line {b.line}" for b in bindings)
        return Refusal("AMBIGUOUS_ENTRY", f"more than one entry point: {where}; keep one")
    return _require_usable(bindings[0])


def defines_entry(module: ast.Module) -> bool:
    """Return True if the module's own text can make an entry point, usable or not.

    An import binds the name of another module's function, which is never an entry point.
    """
    imports = (ast.Import, ast.ImportFrom)
    return any(not isinstance(found.node, imports) for found in _list_entry_bindings(module))


def get_entry_name(function: ast.FunctionDef) -> Literal["run", "main"]:
    """`run` or `main`."""
    return "run" if function.name == "run" else "main"


def _require_usable(binding: _Binding) -> ast.FunctionDef | Refusal:
    at, name, node = f"line {binding.line}", binding.name, binding.node
    if isinstance(node, ast.AsyncFunctionDef):
        return Refusal("ASYNC_ENTRY", f"{at}: `async def {name}` cannot be called; use `def`")
    if not isinstance(node, ast.FunctionDef):
        return Refusal("ENTRY_NOT_FUNCTION", f"{at}: `{name}` is not defined with `def`")
    if binding.nested:
        return Refusal(
            "CONDITIONAL_ENTRY", f"{at}: `{name}` is defined inside a block; define it at the top"
        )
    if node.decorator_list:
        return Refusal(
            "DECORATED_ENTRY", f"{at}: `{name}` is decorated, which can change its signature"
        )
    return node


def _list_entry_bindings(module: ast.Module) -> list[_Binding]:
    """Return every place at module scope that binds or deletes an entry name."""
    found: list[_Binding] = []
    todo: list[tuple[ast.AST, bool]] = [(node, False) for node in module.body if not _is_text(node)]
    while todo:
        node, nested = todo.pop()
        found += [
            _Binding(name, node, getattr(node, "lineno", 0), nested)
            for name in _bound_names(node)
            if name in NAMES
        ]
        if not isinstance(node, _CLOSED):
            todo += [(child, True) for child in ast.iter_child_nodes(node)]
    return found


def _is_text(node: ast.AST) -> bool:
    """Return True for a docstring or another text, which binds nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bound_names(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [name for alias in node.names for name in bound_names(alias)]
    return [*bound_names(node)] if type(node) in BINDERS else []


_PARTS = frozenset(("__code__", "__defaults__", "__kwdefaults__"))
_NAMESPACES = frozenset(("globals", "vars"))


def find_exchanged_entry(node: ast.AST) -> int:
    """Return the line in which a node exchanges a function, or a part of one, at run time; or 0.

    What a reviewer reads would then not be what is called: the code and defaults of a function, a
    name of the module's own namespace, the module itself.
    """
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if name in _PARTS:
            return node.lineno
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return node.lineno if name in _PARTS or name in NAMES else 0
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            return node.lineno if _is_namespace(owner) else 0
        case ast.Call(func=ast.Attribute(value=owner, attr="update" | "setdefault" | "pop")):
            return node.lineno if _is_namespace(owner) else 0
        case _:
            return 0


def _is_namespace(node: ast.expr) -> bool:
    """Return True for `globals()`, `vars()`, or the table of modules."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[]):
            return name in _NAMESPACES
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
            return True
        case _:
            return False


def read_signature(
    function: ast.FunctionDef, descriptions: Mapping[str, str]
) -> tuple[ArgSpec, ...]:
    """Return the function's parameters, in the order of `inspect.signature`.

    `descriptions` are by argument name. Raises ValueError or RecursionError for a hint or default
    that cannot be written back as source.
    """
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    required = len(positional) - len(a.defaults)
    found: list[ArgSpec] = []

    def add(arg: ast.arg, kind: ParamKind, default: ast.expr | None) -> None:
        found.append(
            ArgSpec(
                name=arg.arg,
                type_hint=write_source(arg.annotation),
                required=default is None and kind not in ("var_positional", "var_keyword"),
                default=write_source(default),
                description=descriptions.get(arg.arg, ""),
                kind=kind,
            )
        )

    for index, arg in enumerate(positional):
        kind: ParamKind = (
            "positional_only" if index < len(a.posonlyargs) else "positional_or_keyword"
        )
        add(arg, kind, a.defaults[index - required] if index >= required else None)
    if a.vararg:
        add(a.vararg, "var_positional", None)
    for arg, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        add(arg, "keyword_only", default)
    if a.kwarg:
        add(a.kwarg, "var_keyword", None)
    return tuple(found)


def write_source(node: ast.expr | None) -> str | None:
    """Return the expression as source text, as `ast.unparse` writes it."""
    match node:
        case None:
            return None
        case ast.Name(id=name):
            return name
        case ast.Constant(value=None | bool() | int() | str() as value, kind=None):
            return repr(value)  # most hints and defaults: an unparser for each costs too much
        case _:
            return ast.unparse(node)
