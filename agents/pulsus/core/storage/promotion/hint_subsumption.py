"""Which of two type hints admits more, read as text (spec §10, SemVer). Pure.

A hint is the set of its alternatives. Wider means: for every alternative of the one, the other has
it, or something that admits it: `list` or `Sequence[str]` for `list[str]`, `float` for `int`, `str`
for `Literal["a"]`. No hint, `Any` and `object` admit everything. This is a preorder, so a change
made in two steps is never greater than both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

_ANYTHING = frozenset({"Any", "object"})
_MODULES = ("typing.", "t.", "collections.abc.", "abc.")
_SAME = {"List": "list", "Dict": "dict", "Set": "set", "Tuple": "tuple", "FrozenSet": "frozenset"}
_MANY = ("Collection", "Iterable", "Container")
_WIDER: Mapping[str, tuple[str, ...]] = {
    "int": ("float",),  # PEP 484; not bool to int: the command line reads "true" by the hint
    "list": ("MutableSequence", "Sequence", *_MANY),
    "tuple": ("Sequence", *_MANY),
    "MutableSequence": ("Sequence", *_MANY),
    "Sequence": _MANY,
    "set": ("MutableSet", "Set", *_MANY),
    "dict": ("MutableMapping", "Mapping"),
    "MutableMapping": ("Mapping",),
    "Collection": ("Iterable", "Container"),
}
"""What admits what, with the same parameters; closed, so that it is transitive."""

_LITERALS = {str: "str", int: "int", bool: "bool", bytes: "bytes", type(None): "None"}


def admits(wide: str | None, narrow: str | None) -> bool:
    """Whether every value that fits `narrow` fits `wide`, as far as the words tell."""
    outer = _alternatives(wide)
    if outer & _ANYTHING:
        return True
    inner = _alternatives(narrow)
    return not inner & _ANYTHING and all(not outer.isdisjoint(_above(one)) for one in inner)


def _above(one: str) -> Iterator[str]:
    """The alternative and all that admit it."""
    head, bracket, rest = one.partition("[")
    if head == "Literal":
        yield one
        if kind := _LITERALS.get(type(_constant(rest[:-1]))):
            yield from _above(kind)
        return
    for name in (head, *_WIDER.get(head, ())):
        yield f"{name}{bracket}{rest}"
        yield name


def same(one: str | None, other: str | None) -> bool:
    """Whether both admit the same."""
    return admits(one, other) and admits(other, one)


def _constant(text: str) -> object:
    """The one value of a literal; an ellipsis, which none has, where it is none or several."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return ...


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
        case ast.Subscript(value=value, slice=inner):
            return _generic(_name(value), inner)
        case _:
            return [_name(node)]


def _generic(head: str, inner: ast.expr) -> list[str]:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    match head:
        case "Optional":
            return [*_split(inner), "None"]
        case "Union":
            return [one for part in parts for one in _split(part)]
        case "Annotated" if parts:
            return _split(parts[0])
        case "Literal" if all(isinstance(part, ast.Constant) for part in parts):
            return [f"Literal[{ast.unparse(part)}]" for part in parts]
        case _:
            return [f"{head}[{', '.join(ast.unparse(part) for part in parts)}]"]


def _name(node: ast.expr) -> str:
    """The hint without the module that typing's own names come from."""
    text = ast.unparse(node)
    for module in _MODULES:
        text = text.removeprefix(module)
    return _SAME.get(text, text)
