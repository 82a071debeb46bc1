"""Type hints as text, compared without importing anything (spec §6 wiring, §10 SemVer). Pure.

A tool's hints are read from source, so they are words here: `list[dict[str, Any]]`, `Path | None`.
`fits` says whether one tool's output may feed another tool's argument, and is generous. `admits`
says which of two hints takes more values, and is strict. A missing hint admits everything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pulsus.core.python_source import python_literals
from pulsus.core.python_source.names import last_name
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_FAMILY = {
    **dict.fromkeys(("list", "List", "Sequence", "MutableSequence"), "list"),
    **dict.fromkeys(("Iterable", "Collection", "set", "frozenset", "Set", "AbstractSet"), "list"),
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping", "TypedDict"), "dict"),
    **dict.fromkeys(("Path", "PurePath", "PathLike"), "Path"),
    **dict.fromkeys(("Any", "object", "JsonValue"), "Any"),
    **{name: name for name in ("str", "int", "float", "bool", "bytes", "None")},
}
_SCALARS = frozenset({"str", "int", "float", "bool", "bytes", "Path", "Literal"})
_TEXT = frozenset({"str", "Path"})
_WRAPPERS = ("Annotated", "Final", "Required", "NotRequired")
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


@dataclass(frozen=True, slots=True)
class Shape:
    """One alternative of a hint: a family name, its arguments if any are written, or literals."""

    name: str
    args: tuple[Hint, ...] = ()
    values: tuple[JsonValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """A parsed hint: its alternatives, in the order written."""

    shapes: tuple[Shape, ...]

    @property
    def concrete(self) -> tuple[Shape, ...]:
        """The alternatives without None."""
        return tuple(shape for shape in self.shapes if shape.name != "None")

    @property
    def optional(self) -> bool:
        """True if None is one of the alternatives."""
        return any(shape.name == "None" for shape in self.shapes)

    @property
    def anything(self) -> bool:
        """True if every value fits."""
        return any(shape.name == "Any" for shape in self.shapes)

    @property
    def scalar(self) -> bool:
        """True if no alternative is a container. A missing hint counts as scalar."""
        return all(shape.name in _SCALARS or shape.name == "Any" for shape in self.concrete)

    @property
    def path(self) -> bool:
        """True if the function takes a `Path` and no text."""
        return any(s.name == "Path" for s in self.shapes) and not self.has("str")

    def has(self, name: str) -> bool:
        """Return True if a family is among the alternatives."""
        return any(shape.name == name for shape in self.shapes)


ANYTHING = Hint((Shape("Any"),))


def parse_hint(text: str | None) -> Hint:
    """Return the hint that `text` writes; without an expression, one that fits everything."""
    node = python_literals.parse_expression(text or "")
    try:
        return ANYTHING if node is None else _hint(node)
    except RecursionError:
        return ANYTHING


def fits(given: Hint, wanted: Hint) -> bool:
    """Return True if a value of type `given` may be passed as `wanted`.

    Every alternative of `given` but None must fit one of `wanted`. A tool that may give None is
    still the right source: it reports itself that it has no value.
    """
    if given.anything or wanted.anything:
        return True
    return all(any(_fits(one, other) for other in wanted.shapes) for one in given.concrete)


def accepts(hint: Hint, value: JsonValue) -> bool:
    """Return True if `hint` takes a JSON value. A class that JSON does not know takes any value."""
    return any(_accepts(shape, value) for shape in hint.shapes)


def write_annotation(hint: Hint) -> str:
    """Write `hint` in names that a module importing Any, Literal and Path can use."""
    if hint.anything:
        return "Any"
    return " | ".join(dict.fromkeys(_annotation(shape) for shape in hint.shapes))


def is_plain(text: str | None) -> bool:
    """Return True if `text` is the source of a constant, which means the same in any module."""
    node = python_literals.parse_expression(text or "")
    try:
        value = ... if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, str | int | float | None)


def alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of a union, without quotes and wrappers such as `Annotated`."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from alternatives(left)
            yield from alternatives(right)
        case ast.Constant(value=str(text)) if quoted := python_literals.parse_expression(text):
            yield from alternatives(quoted)
        case ast.Subscript(value=head) if inner := _parameters(node):
            name = last_name(head)
            if name == "Union":
                yield from (one for part in inner for one in alternatives(part))
            elif name == "Optional":
                yield from (*alternatives(inner[0]), ast.Constant(None))
            elif name in _WRAPPERS:
                yield from alternatives(inner[0])
            else:
                yield node
        case _:
            yield node


def admits(wide: str | None, narrow: str | None) -> bool:
    """Return True if every value of type `narrow` is one of type `wide`, as far as the words tell.

    `Sequence[str]` admits `list[str]`, `float` admits `int`, `str` admits `Literal["a"]`. This is a
    preorder, so a change made in two steps is never greater than both.
    """
    outer = _words(wide)
    if outer & _ANYTHING:
        return True
    inner = _words(narrow)
    return not inner & _ANYTHING and all(not outer.isdisjoint(_wider(one)) for one in inner)


def is_same(one: str | None, other: str | None) -> bool:
    """Return True if both hints admit the same values."""
    return admits(one, other) and admits(other, one)


def _words(hint: str | None) -> frozenset[str]:
    """Return the alternatives of a hint as text, each literal by itself."""
    text = (hint or "").strip() or "Any"
    node = python_literals.parse_expression(text)
    try:
        found = () if node is None else tuple(alternatives(node))
        return frozenset(word for one in found for word in _as_words(one)) or frozenset({text})
    except RecursionError:
        return frozenset({text})


def _as_words(node: ast.expr) -> Iterator[str]:
    if not isinstance(node, ast.Subscript):
        yield _without_module(node)
        return
    head, inner = _without_module(node.value), _parameters(node)
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


def _wider(one: str) -> Iterator[str]:
    """Yield the alternative, and all that admit it."""
    head, bracket, rest = one.partition("[")
    if head == "Literal":
        yield one
        try:
            kind = _LITERALS.get(type(ast.literal_eval(rest[:-1])))
        except (SyntaxError, ValueError):  # several values, or none that is a constant
            return
        yield from _wider(kind) if kind else ()
        return
    for name in (head, *_WIDER.get(head, ())):
        yield f"{name}{bracket}{rest}"
        yield name


def _parameters(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _hint(node: ast.expr) -> Hint:
    return Hint(tuple(shape for one in alternatives(node) for shape in _shapes(one)))


def _shapes(node: ast.expr) -> tuple[Shape, ...]:
    match node:
        case ast.Constant(value=None):
            return (Shape("None"),)
        case ast.Subscript(value=head):
            name, inner = last_name(head) or "Any", _parameters(node)
            if name == "Literal":
                return _literal(inner).shapes
            if name in ("tuple", "Tuple"):
                return (Shape("tuple", _tuple_args(inner)),)
            return (Shape(_FAMILY.get(name, name), tuple(map(_hint, inner))),)
        case ast.Name() | ast.Attribute():
            name = last_name(node)
            return (Shape(_FAMILY.get(name, name)),)
        case _:
            return ANYTHING.shapes


def _literal(inner: list[ast.expr]) -> Hint:
    values = tuple(node.value for node in inner if isinstance(node, ast.Constant))
    words = tuple(v for v in values if isinstance(v, str | int | bool))
    none = (Shape("None"),) if None in values else ()
    return Hint((Shape("Literal", values=words), *none)) if words else ANYTHING


def _tuple_args(inner: list[ast.expr]) -> tuple[Hint, ...]:
    match inner:
        case [one, ast.Constant(value=value)] if value is ...:
            return (_hint(one),)
        case _:
            return ()


def _fits(given: Shape, wanted: Shape) -> bool:
    match given.name, wanted.name:
        case ("Literal", "Literal"):
            return set(given.values) <= set(wanted.values)
        case ("Literal", name):
            return all(_accepts(Shape(name), value) for value in given.values)
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


def _accepts(shape: Shape, value: JsonValue) -> bool:
    if shape.name == "Literal":
        return any(value == v and type(value) is type(v) for v in shape.values)
    known = _JSON.get(shape.name, object)
    if not isinstance(value, known) or (known in (int, (int, float)) and isinstance(value, bool)):
        return False
    if known is dict and isinstance(value, dict):
        return _all(shape, 1, list(value.values()))
    return known is not list or not isinstance(value, list) or _all(shape, 0, value)


def _all(shape: Shape, place: int, values: list[JsonValue]) -> bool:
    return len(shape.args) <= place or all(accepts(shape.args[place], v) for v in values)


def _annotation(shape: Shape) -> str:
    match shape.name:
        case "str" | "int" | "float" | "bool" | "bytes" | "None" | "Path":
            return shape.name
        case "Literal":
            return f"Literal[{', '.join(map(python_literals.write_literal, shape.values))}]"
        case "list" | "tuple":
            return f"list[{write_annotation(shape.args[0]) if shape.args else 'Any'}]"
        case "dict" if len(shape.args) == 2:
            return f"dict[{', '.join(write_annotation(arg) for arg in shape.args)}]"
        case "dict":
            return "dict[str, Any]"
        case _:
            return "Any"
