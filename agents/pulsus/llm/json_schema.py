"""Whether a JSON value fits a JSON Schema: the part of it that answers are asked for with. Pure.

Not all of JSON Schema: a keyword that is not understood here is an error of the caller, so that
nothing counts as checked that was not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_NUMBER = (int, float)
_SIZES: tuple[tuple[str, tuple[type, ...], bool], ...] = (
    ("minLength", (str,), True),
    ("maxLength", (str,), False),
    ("minItems", (list,), True),
    ("maxItems", (list,), False),
    ("minimum", _NUMBER, True),
    ("maximum", _NUMBER, False),
)
"""Keyword, the values it is about, and whether it is a lower bound."""
_NOTES = {"title", "description", "default", "examples", "$schema"}
_KNOWN = {
    *(keyword for keyword, _, _ in _SIZES),
    *_NOTES,
    *("type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items"),
}


def misfits(value: Any, schema: Mapping[str, Any], at: str = "$") -> Iterator[str]:
    """What is wrong with `value`, each with its place. Raises ValueError for an unknown keyword."""
    if unknown := sorted(set(schema) - _KNOWN):
        raise ValueError(f"this JSON Schema keyword is not supported: {unknown[0]}")
    if "anyOf" in schema:
        found = [list(misfits(value, option, at)) for option in schema["anyOf"]]
        if all(found):
            yield f"{at}: fits none of {len(found)} forms; the nearest: {min(found, key=len)[0]}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{at}: is not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{at}: is none of {', '.join(map(repr, schema['enum']))}"
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{at}: is no {schema['type']}"
        return
    yield from chain(_sizes(value, schema, at), _text(value, at))
    if isinstance(value, dict):
        yield from _members(value, schema, at)
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from misfits(item, schema["items"], f"{at}[{place}]")


def closed(schema: Mapping[str, Any]) -> bool:
    """Whether every object lists all its members and allows no other: OpenAI's `strict` form."""
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    if "items" in schema:
        parts.append(schema["items"])
    named = set(schema.get("properties", ()))
    whole = schema.get("additionalProperties") is False and named == set(schema.get("required", ()))
    return (schema.get("type") != "object" or whole) and all(closed(part) for part in parts)


def _members(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: lacks {name!r}"
    others = schema.get("additionalProperties", True)
    for name, member in value.items():
        yield from _text(name, at)
        if name in properties:
            yield from misfits(member, properties[name], f"{at}.{name}")
        elif others is False:
            yield f"{at}: has {name!r}, which is not asked for"
        elif isinstance(others, Mapping):
            yield from misfits(member, others, f"{at}.{name}")


def _sizes(value: Any, schema: Mapping[str, Any], at: str) -> Iterator[str]:
    for keyword, kinds, least in _SIZES:
        if keyword not in schema or not isinstance(value, kinds) or isinstance(value, bool):
            continue
        bound = schema[keyword]
        size = _size(value)
        if (size < bound) if least else (size > bound):
            yield f"{at}: {keyword} is {bound}, found {size}"


def _size(value: Any) -> float:
    return value if isinstance(value, _NUMBER) else len(value)


def _text(value: Any, at: str) -> Iterator[str]:
    """A lone surrogate is JSON but no text: it could be written nowhere."""
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        yield f"{at}: is not valid Unicode"


def _is(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    return any(
        isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
        for name in names
    )


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: `true` is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
