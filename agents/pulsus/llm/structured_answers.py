"""Find the JSON value in a model's answer, fenced or bare, and check it against a schema. Pure.

A Python module in an answer is found by `core/compose/writing/module_from_answer.py`. A model is
asked again for a module (a retry after an invalid answer) in `core/compose/generator.py`; in the
agent, `agent/model/json_protocol.py` corrects it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from pulsus.core.compose.model_protocol import Schema
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import ModelAnswerInvalid

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

_FENCE = re.compile(r"```[ \t]*(?:json|JSON)?[ \t]*\r?\n(.*?)```", re.S)
_THOUGHT = "</think>"
_STARTS = 32
"""Places in prose at which JSON is looked for: each costs a reading of the rest."""

_KNOWN = frozenset(
    (
        *("title", "description", "default", "examples", "$schema", "type", "enum", "const"),
        *("anyOf", "properties", "required", "additionalProperties", "items", "minItems"),
        *("maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern"),
    )
)
"""Keywords that are checked, in every schema within a schema, or that only describe."""

_DESCRIBING = frozenset(("title", "description", "default", "examples", "$schema"))
"""Keywords that no value can break."""
_FRAME = frozenset(("type", "properties", "required", "additionalProperties"))

_NAMING = ("required", "additionalProperties")
"""Keywords whose message names members. Others quote the whole value, which can be long."""


def json_answer(text: str, schema: Schema) -> str:
    """Return the first JSON value in `text` that fits `schema`, as it stands there.

    Raises ModelAnswerInvalid, which says why the first JSON value does not fit, or that the text
    has none.
    """
    first = ""
    for found, value in _json_values(text):
        wrong = list(islice(find_misfits(value, schema), 3))
        if not wrong:
            return found
        first = first or "; ".join(wrong)
    raise ModelAnswerInvalid(
        f"the answer does not fit: {first}" if first else "the answer holds no JSON",
        hint="ask again, or choose a model that follows JSON schemas (`pulsus doctor --model`)",
        answer=one_line(text, 500),
    )


def find_misfits(value: Any, schema: Schema) -> Iterator[str]:
    """Yield each place where `value` does not fit, and why. Raises like `make_check`."""
    yield from make_check(schema)(value)


def make_check(schema: Schema) -> Callable[[Any], Iterator[str]]:
    """Return the function that yields each place where a value does not fit, and why.

    Raises ValueError for a keyword that is not in `_KNOWN`: the library would pass over a mistake.
    """
    for part in subschemas(schema):
        if unknown := sorted(set(part) - _KNOWN):
            raise ValueError(f"this JSON Schema keyword is not supported: {unknown[0]}")
    make = _validator_class()
    validator = make(schema)
    fits_frame = _simple_frame(schema) or make(_frame_of(schema)).is_valid
    # The library makes the validators of members anew for each value. Here they are made once.
    members = {
        name: _simple_check(part) or make(part).is_valid
        for name, part in schema.get("properties", {}).items()
    }

    def fits(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and fits_frame(value)
            and all(members[name](value[name]) for name in value if name in members)
        )

    def check(value: Any) -> Iterator[str]:
        try:
            if not _is_ascii(value):
                _ENCODER.encode(value).encode("utf-8")
        except (UnicodeEncodeError, RecursionError):
            # A lone surrogate is JSON, but it could be written to no file.
            yield "$: is not valid Unicode, or nests too deeply"
            return
        # The library alone says why, and has the last word on what does not fit.
        if not fits(value):
            yield from map(_first_problem, validator.iter_errors(value))

    return check


def _frame_of(schema: Schema) -> Schema:
    """Return the schema with any value allowed for each of its members."""
    return {**schema, "properties": dict.fromkeys(schema.get("properties", {}), True)}


def _simple_frame(schema: Schema) -> Callable[[dict[str, Any]], bool] | None:
    """Return the check of an object's names as `_frame_of` makes it, or None for other schemas."""
    names, required = schema.get("properties", {}).keys(), tuple(schema.get("required", ()))
    others = schema.get("additionalProperties", True)
    simple = schema.keys() - _DESCRIBING <= _FRAME and isinstance(others, bool)
    if not simple or schema.get("type", "object") != "object":
        return None
    return lambda value: (
        all(name in value for name in required) and (others or value.keys() <= names)
    )


def _simple_check(part: Schema | bool) -> Callable[[Any], bool] | None:
    """Return the check of a text, number or truth value, or None if only the library can tell.

    Most inputs of tools are such. The library needs 30 µs for each.
    """
    if not isinstance(part, Mapping):
        return None
    match {name: each for name, each in part.items() if name not in _DESCRIBING}:
        case {"type": "string", "enum": [*listed], **rest} if not rest:
            texts = frozenset(each for each in listed if isinstance(each, str))
            return lambda value: isinstance(value, str) and value in texts
        case {"type": "string", **limits} if limits.keys() <= {"minLength", "maxLength"}:
            least, most = limits.get("minLength", 0), limits.get("maxLength", math.inf)
            return lambda value: isinstance(value, str) and least <= len(value) <= most
        case {"type": "integer", **limits} if limits.keys() <= {"minimum", "maximum"}:
            low, high = limits.get("minimum", -math.inf), limits.get("maximum", math.inf)
            return lambda value: type(value) is int and low <= value <= high
        case {"type": "boolean", **rest} if not rest:
            return lambda value: isinstance(value, bool)
        case _:
            return None


def _is_ascii(value: Any) -> bool:
    """Return True for an object of ASCII texts and truth values: it is valid Unicode."""
    return type(value) is dict and all(
        type(name) is str
        and name.isascii()
        and (each.isascii() if type(each) is str else type(each) is bool)
        for name, each in value.items()
    )


def subschemas(schema: Schema) -> Iterator[Schema]:
    """Yield the schema and every schema in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema.get("items"), schema.get("additionalProperties")]
    for part in inner:
        if isinstance(part, Mapping):
            yield from subschemas(part)


@cache
def _validator_class() -> type[Validator]:
    # Late: it costs 0.1 s, and most runs ask no model. Draft 4's types, because the tools that read
    # an answer take 2.0 for no whole number.
    from jsonschema import Draft4Validator, Draft202012Validator, validators

    types = Draft4Validator.TYPE_CHECKER
    extended: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, type_checker=types
    )
    return extended


def _first_problem(error: ValidationError) -> str:
    from jsonschema.exceptions import best_match

    error = best_match([error]) or error
    keyword, wanted = str(error.validator), error.validator_value
    why = error.message if keyword in _NAMING else f"{keyword} must be {json.dumps(wanted)}"
    return one_line(f"{error.json_path}: {why}", 200)


def _json_values(text: str) -> Iterator[tuple[str, Any]]:
    """Yield each JSON value in the text, the likeliest place first."""
    said = text.rpartition(_THOUGHT)[2]
    for part in (said, *_FENCE.findall(said)):
        yield from _whole_value(part.strip())
    starts = islice(re.finditer(r"[{\[]", said), _STARTS)
    for start in starts:
        try:
            value, end = _DECODER.raw_decode(said, start.start())
        except (ValueError, RecursionError):
            continue
        yield said[start.start() : end], value


def _whole_value(part: str) -> Iterator[tuple[str, Any]]:
    try:
        yield part, _DECODER.decode(part)
    except (ValueError, RecursionError):
        return


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
