"""C libraries that a module loads with `ctypes`, and which functions of them it names. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pulsus.core.validators.capability_names import C_READING
from pulsus.core.validators.constant_text import fold


class Libraries:
    """C libraries of the text: which functions of them it names."""

    def __init__(self, nodes: list[ast.AST], scope: Mapping[str, ast.expr]) -> None:
        self._nodes, self._scope = nodes, scope

    def unknown(self, call: ast.Call) -> tuple[str, ...]:
        """Functions that are not known to read; the whole library where the text does not say."""
        names = {name for name, value in self._scope.items() if value is call}
        taken: set[int] = set()
        found: dict[str, None] = {}
        for node in self._nodes:
            match node:
                case ast.Attribute(value=owner, attr=name):
                    pass
                case (
                    ast.Call(func=ast.Name(id="getattr"), args=[owner, by, *_])
                    | ast.Subscript(value=owner, slice=by)
                ):
                    text = fold(by, self._scope)
                    name = text.value if text else "a function whose name is put together"
                case _:
                    continue
            if owner is call or (isinstance(owner, ast.Name) and owner.id in names):
                taken.add(id(owner))
                if name not in C_READING:
                    found[f"C function {name}"] = None
        loads = {
            id(n)
            for n in self._nodes
            if n is call
            or (isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load))
        }
        if names:
            loads.discard(id(call))
        return tuple(found) if loads <= taken else (*found, "ctypes.CDLL passed on as a value")
