"""Check values against type hints, and type hints against each other (spec §6, §10). Pure.

`accepts` says whether a hint takes an input's value, before its tool runs; the error about a value
of the wrong type is made in `execution/parse_inputs.py`. `fits` says whether one tool's output may
feed another tool's argument, and is generous; `core/compose/plans/type_check.py` refuses a
mismatch. `admits` says which of two hints takes more values, and is strict. A missing hint admits
everything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pulsus.core.contract.type_hints import Hint, Shape, alternatives, type_parameters
from pulsus.core.python_source import python_literals, python_parser
from pulsus.core.types import JsonValue

_TEXT = frozenset({"str", "Path"})
_ANYTHING = frozenset({"Any", "object"})
_MODULES = ("typing.", "t.", "collections.abc.", "abc.")
_BUILTIN = {name: name.lower() for name in ("List", "Dict", "Set", "Tuple", "FrozenSet")}
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
"""The types that admit another with the same parameters; closed, so that it is transitive."""
_LITERALS = {str: "str", int: "int", bool: "bool", bytes: "bytes", type(None): "None"}


def fits(given: Hint, wanted: Hint) -> bool:
    """Return True if a value of type `given` may be passed as `wanted`.

    Every alternative of `given` but None must fit one of `wanted`. A tool that may give None is
    still the right source: it reports itself that it has no value.
    """
    if given.anything or wanted.anything:
        return True
    return all(any(_is_compatible(one, other) for other in wanted.shapes) for one in given.concrete)


def accepts(hint: Hint, value: JsonValue) -> bool:
    """Return True if `hint` takes a JSON value. A class that JSON does not know takes any value."""
    return any(_is_accepted(shape, value) for shape in hint.shapes)


def admits(wide: str | None, narrow: str | None) -> bool:
    """Return True if every value of type `narrow` is one of type `wide`, as far as the words tell.

    `Sequence[str]` admits `list[str]`, `float` admits `int`, `str` admits `Literal["a"]`. This is a
    preorder, so a change made in two steps is never greater than both.
    """
    outer = _split_alternatives(wide)
    if outer & _ANYTHING:
        return True
    inner = _split_alternatives(narrow)
    return not inner & _ANYTHING and all(
        not outer.isdisjoint(_list_wider_types(one)) for one in inner
    )


def is_same(one: str | None, other: str | None) -> bool:
    """Return True if both hints admit the same values."""
    return admits(one, other) and admits(other, one)


def _split_alternatives(hint: str | None) -> frozenset[str]:
    """Return the alternatives of a hint as text, each literal by itself."""
    text = (hint or "").strip() or "Any"
    node = python_literals.parse_expression(text)
    try:
        found = () if node is None else tuple(alternatives(node))
        return frozenset(word for one in found for word in _write_alternative(one)) or frozenset(
            {text}
        )
    except RecursionError:
        return frozenset({text})


def _write_alternative(node: ast.expr) -> Iterator[str]:
    if not isinstance(node, ast.Subscript):
        yield _without_module(node)
        return
    head, inner = _without_module(node.value), type_parameters(node)
    if head == "Literal" and all(isinstance(part, ast.Constant) for part in inner):
        yield from (f"Literal[{ast.unparse(part)}]" for part in inner)
    else:
        yield f"{head}[{', '.join(map(ast.unparse, inner))}]"


def _without_module(node: ast.expr) -> str:
    """Return the name of a type without the module that typing's own names come from."""
    text = ast.unparse(node)
    for module in _MODULES:
        text = text.removeprefix(module)
    return _BUILTIN.get(text, text)


def _list_wider_types(one: str) -> Iterator[str]:
    """Yield the type itself, and every type that admits it."""
    head, bracket, rest = one.partition("[")
    if head == "Literal":
        yield one
        try:
            kind = _LITERALS.get(type(python_parser.read_literal(rest[:-1])))
        except (SyntaxError, ValueError):  # several values, or none that is a constant
            return
        yield from _list_wider_types(kind) if kind else ()
        return
    for name in (head, *_WIDER.get(head, ())):
        yield f"{name}{bracket}{rest}"
        yield name


def _is_compatible(given: Shape, wanted: Shape) -> bool:
    match given.name, wanted.name:
        case ("Literal", "Literal"):
            return set(given.values) <= set(wanted.values)
        case ("Literal", name):
            return all(_is_accepted(Shape(name), value) for value in given.values)
        case ("int", "float"):
            return True
        case ("list" | "tuple", "list" | "tuple") | ("dict", "dict"):
            return all(map(fits, given.args, wanted.args))
        case (one, other):
            return one == other or {one, other} <= _TEXT


_JSON: Mapping[str, type | tuple[type, ...]] = {
    **{"None": type(None), "bool": bool, "int": int, "float": (int, float), "dict": dict},
    **dict.fromkeys(("str", "Path", "bytes"), str),
    **dict.fromkeys(("list", "tuple"), list),
}
"""The types of the JSON values that each family takes."""


def _is_accepted(shape: Shape, value: JsonValue) -> bool:
    if shape.name == "Literal":
        return any(value == v and type(value) is type(v) for v in shape.values)
    known = _JSON.get(shape.name, object)
    if not isinstance(value, known) or (known in (int, (int, float)) and isinstance(value, bool)):
        return False
    if known is dict and isinstance(value, dict):
        return _has_accepted_items(shape, 1, list(value.values()))
    return known is not list or not isinstance(value, list) or _has_accepted_items(shape, 0, value)


def _has_accepted_items(shape: Shape, place: int, values: list[JsonValue]) -> bool:
    return len(shape.args) <= place or all(accepts(shape.args[place], v) for v in values)
