"""Which of two type hints admits more, read as text (spec §10, SemVer). Pure.

A hint is the set of its alternatives. Wider means: every alternative of the one stands in the
other, as it is or without its parameters (`list` for `list[str]`). No hint, `Any` and `object`
admit everything. This is a preorder, so a change made in two steps is never greater than both.
"""

from __future__ import annotations

import ast

_ANYTHING = frozenset({"Any", "object", "typing.Any"})
_OPTIONAL = frozenset({"Optional", "typing.Optional"})
_UNION = frozenset({"Union", "typing.Union"})


def admits(wide: str | None, narrow: str | None) -> bool:
    """Whether every value that fits `narrow` fits `wide`, as far as the words tell."""
    outer = _alternatives(wide)
    if outer & _ANYTHING:
        return True
    inner = _alternatives(narrow)
    return not inner & _ANYTHING and all(
        one in outer or one.partition("[")[0] in outer for one in inner
    )


def same(one: str | None, other: str | None) -> bool:
    """Whether both admit the same."""
    return admits(one, other) and admits(other, one)


def _alternatives(hint: str | None) -> frozenset[str]:
    if hint is None or not hint.strip():
        return frozenset({"Any"})
    try:
        return frozenset(_split(ast.parse(hint.strip(), mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset({hint.strip()})


def _split(node: ast.expr) -> list[str]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_split(left), *_split(right)]
        case ast.Constant(value=str() as quoted):
            return [*_alternatives(quoted)]
        case ast.Subscript(value=value, slice=inner) if ast.unparse(value) in _OPTIONAL:
            return [*_split(inner), "None"]
        case ast.Subscript(value=value, slice=ast.Tuple(elts=inner)) if (
            ast.unparse(value) in _UNION
        ):
            return [one for part in inner for one in _split(part)]
        case _:
            return [ast.unparse(node)]
