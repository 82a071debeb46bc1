"""The inputs of a tool's entry point, as the filler reads them (docs/tool-contract.md). Pure.

`inputs.py` says which of them words of a request may fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pulsus.core.arguments.inputs import Fillable, from_schema
from pulsus.core.contract import type_hints
from pulsus.core.contract.type_hints import Hint
from pulsus.core.python_source import python_parser
from pulsus.core.types import ArgSpec, JsonValue

_TYPES = {
    "str": "string",
    "Path": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
}


def from_arguments(args: Sequence[ArgSpec], name: str, summary: str) -> Fillable:
    """Return the inputs of `args`; `name` and `summary` are the tool's, or those of a plan's tools.

    An argument whose type is not known takes no value from a request.
    """
    named = [arg for arg in args if not arg.kind.startswith("var_")]
    parameters = {
        "properties": {arg.name: _schema(arg) for arg in named},
        "required": [arg.name for arg in named if arg.required],
    }
    return from_schema({"name": name, "description": summary, "parameters": parameters})


def _schema(arg: ArgSpec) -> dict[str, Any]:
    hint = type_hints.parse_hint(arg.type_hint)
    schema: dict[str, Any] = {**_schema_of_hint(hint), "description": arg.description}
    default = _default(arg.default)
    if default is not _UNKNOWN:
        schema["default"] = default
    return schema


def _schema_of_hint(hint: Hint) -> dict[str, Any]:
    choices = [value for shape in hint.concrete for value in shape.values]
    if choices and all(shape.name == "Literal" for shape in hint.concrete):
        whole = all(isinstance(c, int) and not isinstance(c, bool) for c in choices)
        return {"type": "integer" if whole else "string", "enum": choices}
    known = next((shape for shape in hint.concrete if shape.name in _TYPES), None)
    if known is None:
        return {"type": "object"}
    items = {"items": _schema_of_hint(known.args[0])} if known.args else {}
    if known.name == "dict" and len(known.args) == 2:
        return {"type": "object", "additionalProperties": _schema_of_hint(known.args[1])}
    return {"type": _TYPES[known.name], **(items if _TYPES[known.name] == "array" else {})}


_UNKNOWN = object()


def _default(source: str | None) -> JsonValue | object:
    """Return the default as a value; _UNKNOWN for none, or one that is no literal."""
    if source is None:
        return _UNKNOWN
    try:
        value = python_parser.read_literal(source)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN
    return list(value) if isinstance(value, tuple) else value
