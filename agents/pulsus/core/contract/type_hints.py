"""Parse type hints as text, without importing anything (spec §6, §10). Pure.

Values are checked against hints in `type_compatibility.py`.

A tool's hints are read from source, so they are words here: `list[dict[str, Any]]`, `Path | None`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from pulsus.core.python_source import python_literals, python_parser
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
_WRAPPERS = ("Annotated", "Final", "Required", "NotRequired")


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

    @property
    def json_only(self) -> bool:
        """True if a value can only be written as JSON: no text, and no words between commas."""
        return bool(self.concrete) and all(
            shape.name == "dict"
            or (shape.name in ("list", "tuple") and shape.args and not shape.args[0].scalar)
            for shape in self.concrete
        )

    def has(self, name: str) -> bool:
        """Return True if a family is among the alternatives."""
        return any(shape.name == name for shape in self.shapes)


ANYTHING = Hint((Shape("Any"),))


@lru_cache(maxsize=1024)  # tools of a catalogue write the same hints again and again
def parse_hint(text: str | None) -> Hint:
    """Return the hint that `text` writes; without an expression, one that fits everything."""
    node = python_literals.parse_expression(text or "")
    try:
        return ANYTHING if node is None else _parse_node(node)
    except RecursionError:
        return ANYTHING


def write_annotation(hint: Hint) -> str:
    """Write `hint` in names that a module importing Any, Literal and Path can use."""
    if hint.anything:
        return "Any"
    return " | ".join(dict.fromkeys(_write_shape(shape) for shape in hint.shapes))


def json_example(hint: Hint) -> JsonValue:
    """Return a short value that fits `hint`, as a message shows it."""
    shape = next(iter(hint.concrete), Shape("Any"))
    match shape.name:
        case "list" | "tuple":
            return [json_example(shape.args[0]) if shape.args else 1]
        case "dict":
            return {"a": json_example(shape.args[1]) if len(shape.args) == 2 else 1}
        case "Literal":
            return shape.values[0]
        case "str" | "Path" | "bytes":
            return "a"
        case "bool":
            return True
        case _:
            return 1


def is_plain(text: str | None) -> bool:
    """Return True if `text` is the source of a constant, which means the same in any module."""
    node = python_literals.parse_expression(text or "")
    try:
        value = ... if node is None else python_parser.read_literal(node)
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
        case ast.Subscript(value=head) if inner := type_parameters(node):
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


def type_parameters(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _parse_node(node: ast.expr) -> Hint:
    return Hint(tuple(shape for one in alternatives(node) for shape in _parse_shapes(one)))


def _parse_shapes(node: ast.expr) -> tuple[Shape, ...]:
    match node:
        case ast.Constant(value=None):
            return (Shape("None"),)
        case ast.Subscript(value=head):
            name, inner = last_name(head) or "Any", type_parameters(node)
            if name == "Literal":
                return _parse_literal(inner).shapes
            if name in ("tuple", "Tuple"):
                return (Shape("tuple", _parse_tuple_args(inner)),)
            return (Shape(_FAMILY.get(name, name), tuple(map(_parse_node, inner))),)
        case ast.Name() | ast.Attribute():
            name = last_name(node)
            return (Shape(_FAMILY.get(name, name)),)
        case _:
            return ANYTHING.shapes


def _parse_literal(inner: list[ast.expr]) -> Hint:
    values = tuple(node.value for node in inner if isinstance(node, ast.Constant))
    words = tuple(v for v in values if isinstance(v, str | int | bool))
    none = (Shape("None"),) if None in values else ()
    return Hint((Shape("Literal", values=words), *none)) if words else ANYTHING


def _parse_tuple_args(inner: list[ast.expr]) -> tuple[Hint, ...]:
    match inner:
        case [one, ast.Constant(value=value)] if value is ...:
            return (_parse_node(one),)
        case _:
            return ()


def _write_shape(shape: Shape) -> str:
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
