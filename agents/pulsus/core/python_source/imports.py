"""Lists the packages that a module imports, and tells which are optional (spec §8). Pure.

`core/validators/steps/installed_packages.py` reports missing packages, and
`core/compose/guardrails/allowed_imports.py` decides which imports generated code may have.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from pulsus.core.python_source.names import last_name
from pulsus.core.python_source.syntax_nodes import list_children
from pulsus.fast_dataclass import dataclass

_OURS = "pulsus"
_CATCHING = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


@dataclass(frozen=True, slots=True)
class Import:
    """One imported top-level package. `late`: only when a function is called.

    `optional`: the module goes on without it, or it is there for type checkers alone.
    """

    name: str
    line: int
    late: bool = False
    optional: bool = False


def list_third_party(tree: ast.Module) -> tuple[Import, ...]:
    """Return imports of what is neither the standard library nor Pulsus, in the order of the
    lines.
    """
    found = [
        Import(name, line, late, optional)
        for name, line, late, optional in _list_imported_names(tree)
        if name not in sys.stdlib_module_names and name != _OURS
    ]
    return tuple(sorted(found, key=lambda each: each.line))


def _list_imported_names(tree: ast.Module) -> Iterator[tuple[str, int, bool, bool]]:
    todo: list[tuple[ast.AST, bool, bool]] = [(node, False, False) for node in tree.body]
    while todo:
        node, late, optional = todo.pop()
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield alias.name.partition(".")[0], node.lineno, late, optional
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0], node.lineno, late, optional
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                todo += [(child, True, optional) for child in list_children(node)]
            case ast.Try() if any(map(_is_import_error_handler, node.handlers)):
                todo += [(child, late, True) for child in node.body]
                rest = (*node.handlers, *node.orelse, *node.finalbody)
                todo += [(child, late, optional) for child in rest]
            case ast.If(test=test) if _is_for_type_checkers(test):
                todo += [(child, late, optional) for child in node.orelse]
            case ast.With(items=items) if any(map(_is_suppressing_import_error, items)):
                todo += [(child, late, True) for child in node.body]
            case _:
                todo += [(child, late, optional) for child in list_children(node)]


def _is_import_error_handler(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or _has_import_error(handler.type)


def _has_import_error(node: ast.expr) -> bool:
    kinds = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(last_name(kind) in _CATCHING for kind in kinds)


def _is_suppressing_import_error(item: ast.withitem) -> bool:
    call = item.context_expr
    return (
        isinstance(call, ast.Call)
        and last_name(call.func) == "suppress"
        and any(map(_has_import_error, call.args))
    )


def _is_for_type_checkers(test: ast.expr) -> bool:
    return last_name(test) == "TYPE_CHECKING"
