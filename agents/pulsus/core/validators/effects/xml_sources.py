"""Finds the sources of XML parsers: `xml.sax` takes a path for an address. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.validators.effects.library_effects import OPENERS, TEMPORARY
from pulsus.core.validators.effects.open_modes import get_keyword

_OPENS = TEMPORARY.union(OPENERS)


class XmlSources:
    """Names bound to open files, in a module that imports a parser of XML."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self.asked = "sax" in module.modules
        self._files: set[str] = set()
        if self.asked:
            self._files = {
                target.id
                for node in module.nodes
                for target, value in _list_bindings(node)
                if isinstance(target, ast.Name) and self._is_open_call(value)
            }

    def is_open(self, call: ast.Call) -> bool:
        """Return True if the first argument is an open file, not a path or an address."""
        first = call.args[0] if call.args else get_keyword(call, "source")
        if isinstance(first, ast.Name):
            return first.id in self._files
        return isinstance(first, ast.Call) and self._is_open_call(first)

    def _is_open_call(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and bool(self._module.keys(node.func) & _OPENS)


def _list_bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif isinstance(node, ast.Assign):
        yield node.targets[0], node.value
