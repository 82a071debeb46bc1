"""Type hints as text, compared without importing anything (routing spec §6, wiring by type).

A tool's hints are read from source, so they are words here: `list[dict[str, Any]]`, `Path | None`.
This is a small lattice over those words, good enough to say whether one tool's output may feed
another tool's argument. A hint nobody wrote, or that is no expression, says nothing and fits all.
"""

from __future__ import annotations

import ast

from pulsus.core.python_source import python_literals
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


@dataclass(frozen=True, slots=True)
class Shape:
    """One alternative of a hint: a family name, its arguments (none = not said), or literals."""

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
        """Whether None is one of the alternatives."""
        return any(shape.name == "None" for shape in self.shapes)

    @property
    def anything(self) -> bool:
        """Whether every value fits."""
        return any(shape.name == "Any" for shape in self.shapes)

    @property
    def scalar(self) -> bool:
        """Whether no alternative is a container; a hint that says nothing counts as scalar."""
        return all(shape.name in _SCALARS or shape.name == "Any" for shape in self.concrete)

    @property
    def path(self) -> bool:
        """Whether the function wants a `Path` rather than text."""
        return any(s.name == "Path" for s in self.shapes) and not self.has("str")

    def has(self, name: str) -> bool:
        """Whether a family is among the alternatives."""
        return any(shape.name == name for shape in self.shapes)


ANYTHING = Hint((Shape("Any"),))


def parse(text: str | None) -> Hint:
    """The hint that `text` writes; `ANYTHING` where it is empty or no expression."""
    node = python_literals.expression(text or "")
    try:
        return ANYTHING if node is None else _hint(node)
    except RecursionError:
        return ANYTHING


def fits(given: Hint, wanted: Hint) -> bool:
    """Whether a value of type `given` may be used where `wanted` is asked for.

    Every alternative of `given` but None must fit one of `wanted`: a tool that may give None is
    still the right source, and says so itself when it has nothing.
    """
    if given.anything or wanted.anything:
        return True
    return all(any(_fits(one, other) for other in wanted.shapes) for one in given.concrete)


def accepts(hint: Hint, value: JsonValue) -> bool:
    """Whether a JSON value is one of `hint`. A hint of a class JSON does not know takes any."""
    return any(_accepts(shape, value) for shape in hint.shapes)


def annotation(hint: Hint) -> str:
    """`hint` in names that a module importing Any, Literal and Path can use."""
    if hint.anything:
        return "Any"
    return " | ".join(dict.fromkeys(_annotation(shape) for shape in hint.shapes))


def is_plain(text: str | None) -> bool:
    """Whether `text` is the source of a constant, which means the same in any module."""
    node = python_literals.expression(text or "")
    try:
        value = ... if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, str | int | float | None)


def _hint(node: ast.expr) -> Hint:
    match node:
        case ast.Constant(value=None):
            return Hint((Shape("None"),))
        case ast.Constant(value=str(text)):
            return parse(text)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Hint(_hint(left).shapes + _hint(right).shapes)
        case ast.Subscript(value=head, slice=inner):
            return _subscript(_name(head), inner.elts if isinstance(inner, ast.Tuple) else [inner])
        case ast.Name() | ast.Attribute():
            name = _name(node)
            return Hint((Shape(_FAMILY.get(name, name)),))
        case _:
            return ANYTHING


def _subscript(name: str, inner: list[ast.expr]) -> Hint:
    match name:
        case "Optional":
            return Hint((*_hint(inner[0]).shapes, Shape("None")))
        case "Union":
            return Hint(tuple(shape for node in inner for shape in _hint(node).shapes))
        case "Annotated" | "Final" | "Required" | "NotRequired":
            return _hint(inner[0])
        case "Literal":
            return _literal(inner)
        case "tuple" | "Tuple":
            return Hint((Shape("tuple", _tuple_args(inner)),))
        case _:
            return Hint((Shape(_FAMILY.get(name, name), tuple(_hint(node) for node in inner)),))


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


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return "Any"


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


def _accepts(shape: Shape, value: JsonValue) -> bool:
    match shape.name:
        case "None":
            return value is None
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "str" | "Path" | "bytes":
            return isinstance(value, str)
        case "Literal":
            return any(value == v and type(value) is type(v) for v in shape.values)
        case "list" | "tuple":
            return isinstance(value, list) and _all(shape, 0, value)
        case "dict":
            return isinstance(value, dict) and _all(shape, 1, list(value.values()))
        case _:
            return True


def _all(shape: Shape, place: int, values: list[JsonValue]) -> bool:
    return len(shape.args) <= place or all(accepts(shape.args[place], v) for v in values)


def _annotation(shape: Shape) -> str:
    match shape.name:
        case "str" | "int" | "float" | "bool" | "bytes" | "None" | "Path":
            return shape.name
        case "Literal":
            return f"Literal[{', '.join(map(_word, shape.values))}]"
        case "list" | "tuple":
            return f"list[{annotation(shape.args[0]) if shape.args else 'Any'}]"
        case "dict" if len(shape.args) == 2:
            return f"dict[{', '.join(annotation(arg) for arg in shape.args)}]"
        case "dict":
            return "dict[str, Any]"
        case _:
            return "Any"


def _word(value: JsonValue) -> str:
    return python_literals.literal(value)
