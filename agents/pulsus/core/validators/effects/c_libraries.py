"""Finds the C libraries that a module loads with `ctypes`, and the functions it names. Pure."""

from __future__ import annotations

import ast

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.validators.effects.library_effects import C_READING


class CLibraries:
    """The C libraries of a module, with the functions of them that its text names."""

    def __init__(self, module: ModuleIndex) -> None:
        self._named: dict[str | int, dict[str, None]] = {}
        """Functions by the name, or the call's identity, that they are taken from."""
        self._taken: set[int] = set()
        self._names = {id(value): name for name, value in module.scope.items()}
        self._loads: dict[str, set[int]] = {}
        for node in module.nodes:
            match node:
                case ast.Attribute(value=owner, attr=name):
                    self._note_name(owner, name)
                case (
                    ast.Call(func=ast.Name(id="getattr"), args=[owner, by, *_])
                    | ast.Subscript(value=owner, slice=by)
                ):
                    text = module.text(by)
                    self._note_name(owner, "whose name is put together" if text is None else text)
                case ast.Name(id=name, ctx=ast.Load()):
                    self._loads.setdefault(name, set()).add(id(node))
                case _:
                    pass

    def _note_name(self, owner: ast.expr, name: str) -> None:
        key = owner.id if isinstance(owner, ast.Name) else id(owner)
        self._named.setdefault(key, {})[name] = None
        self._taken.add(id(owner))

    def unknown(self, call: ast.Call) -> tuple[str, ...]:
        """Return functions that are not known to read; the whole library where the text does not
        say.
        """
        name = self._names.get(id(call))
        loads = {id(call)} if name is None else self._loads.get(name, set())
        named = self._named.get(id(call) if name is None else name, {})
        found = tuple(f"C function {each}" for each in named if each not in C_READING)
        return found if loads <= self._taken else (*found, "ctypes.CDLL passed on as a value")
