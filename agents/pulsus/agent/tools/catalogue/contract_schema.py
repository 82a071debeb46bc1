"""A tool's arguments as the JSON Schema that a model is shown. Pure.

Arguments that do not fit the schema are refused in `agent/loop/check_calls.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pulsus.core.contract.type_hints import Hint, Shape, is_plain, parse_hint
from pulsus.core.python_source import python_parser
from pulsus.core.types import ArgSpec, JsonValue, ToolSpec

_TYPES: Final[Mapping[str, str]] = {
    "str": "string",
    "Path": "string",
    "bytes": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "dict": "object",
    "list": "array",
    "tuple": "array",
}
_NAMED: Final = ("positional_or_keyword", "keyword_only")


def contract_schema(tool: ToolSpec) -> dict[str, Any]:
    """Return the JSON Schema of the tool's inputs. Other inputs are not allowed."""
    named = [arg for arg in tool.args if arg.kind in _NAMED]
    return {
        "type": "object",
        "properties": {arg.name: _property(arg) for arg in named},
        "required": [arg.name for arg in named if arg.required],
        "additionalProperties": False,
    }


def default_values(tool: ToolSpec) -> dict[str, JsonValue]:
    """Return the tool's defaults that are plain values, by argument."""
    return {
        arg.name: python_parser.read_literal(arg.default)
        for arg in tool.args
        if arg.default is not None and is_plain(arg.default)
    }


def _property(arg: ArgSpec) -> dict[str, Any]:
    found = _schema(parse_hint(arg.type_hint))
    if arg.description:
        found["description"] = " ".join(arg.description.split())
    if arg.default is not None and is_plain(arg.default):
        value = python_parser.read_literal(arg.default)
        if value is not None:
            found["default"] = value
    return found


def _schema(hint: Hint) -> dict[str, Any]:
    if hint.anything or any(shape.name not in {*_TYPES, "Literal"} for shape in hint.shapes):
        return {}
    parts = [_shape_schema(shape) for shape in hint.shapes]
    if len(parts) == 1:
        return parts[0]
    plain = all(set(part) == {"type"} for part in parts)
    # A list of types is shorter than anyOf, and every model's server takes it.
    return {"type": [part["type"] for part in parts]} if plain else {"anyOf": parts}


def _shape_schema(shape: Shape) -> dict[str, Any]:
    if shape.name == "Literal":
        return {"enum": list(shape.values)}
    found: dict[str, Any] = {"type": _TYPES[shape.name]}
    if shape.name == "list" and len(shape.args) == 1 and (items := _schema(shape.args[0])):
        found["items"] = items
    return found
