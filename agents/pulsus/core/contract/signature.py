"""An entry point's signature, read from its syntax tree (spec §4). Pure.

Equal to `inspect.signature` of the imported function; hints and defaults are source text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pulsus.core.types import ArgSpec, ParamKind


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
