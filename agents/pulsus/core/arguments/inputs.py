"""The inputs of a tool, as words of a request may fill them: type, role, choices, examples. Pure.

Inputs that words never fill stand here: passwords, tokens and other secrets, `force`, `confirm`,
`overwrite`, `dry_run`. A route's inputs get their values in `routing/inputs/route_inputs.py`; a
value of the wrong type is refused in `execution/parse_inputs.py`. They come from a JSON Schema or
from a tool's contract, never from running the tool. A malformed schema raises nothing: an input
without a usable type gets no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pulsus.core.arguments.input_roles import role_of, unit_of
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import STOP_WORDS, words
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

NO_DEFAULT: Final = "\0none"
MAX_INPUTS: Final = 100
"""Further inputs of a tool get no value."""
MAX_DESCRIPTION: Final = 4000
"""The characters of a description that are read."""

_TYPES = {
    **{name: name for name in ("string", "integer", "number", "boolean", "array", "object")},
    **{"str": "string", "int": "integer", "float": "number", "bool": "boolean"},
    **{"list": "array", "dict": "object"},
}
_FILLABLE_TYPES = frozenset(("string", "integer", "number", "boolean", "array"))
_NEVER = late_pattern(
    r"\b(?:dry_run|overwrite|allow_\w+|force|yes|confirm|password|passwd|secret|token|api_key"
    r"|apikey|credential\w*)\b"
)
"""Names of inputs that only a person gives: what permits something, and what is secret."""

_LISTED = late_pattern(r"`([^`\n]{1,40})`|'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"")
_BEHIND_EG = late_pattern(
    r"(?i)(?:e\.?g\.?,?|for example,?|such as|like|examples?:|i\.e\.,?|either|one of:?|options?:?"
    r"|can be|must be|possible values(?: are)?:?|including)\s+([^.()\n]{3,200})"
)
_BEHIND_COLON = late_pattern(
    r":\s+((?:[\w.+-]{1,20},\s+){1,9}[\w.+-]{1,20}(?:,?\s+or\s+[\w.+-]{1,20}))\b"
)
_REGION = late_pattern(r"\b([A-Z][\w.]{1,30}(?: [A-Z][\w.]{1,30}){0,5}, [A-Z]{2})\b")
_ASKS_REGION = late_pattern(r"(?i)city,? (?:and )?(?:state|country)|city, st\b")
_ASKS_FRACTION = late_pattern(
    r"(?i)\bdecimal\b|\bas a fraction\b|\bbetween 0(?:\.0)? and 1(?:\.0)?\b|0\.\d"
)
_LEVEL = late_pattern(
    r"\b(\d{1,2}) (?:\(|= ?|is |are |means |also (?:takes|counts|shows) )\(?([a-z]{3,20})\b"
)
"""`3 is error, 4 also takes warnings`, `0 (emergency)`."""
_BEFORE_EXAMPLE = late_pattern(r"(?i)\bfor example\b")
_MEMBER_BREAK = late_pattern(r",\s*(?:or |and )?|\s+or\s+|\s+and\s+|/")
_NUMBERED = late_pattern(r"(?<=[a-zA-Z])\d+\b|_\d+\b")
_ALTERNATIVE = late_pattern(r"\b(?:this|it) or `([^`\n]{1,40})`")
_PREFIXED = late_pattern(r"[a-z]+:[A-Z]")
_NAMES_OF_TYPES = word_set("""
    ip address url domain name host email phone id code number date time title content type status
    location city value text
    """)
"""An example of these words alone is a kind of value, not a value."""
_NO_EXAMPLES = word_set("etc etc. all any none other others default dontcare")


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a tool.

    `type` is a JSON Schema type, and `item` that of the members of an array. `unit` is its kind and
    the factor to the base unit: ("duration", 3600.0) for `hours`. `words` are the stems of its
    name, `described` those of its description. `choices` are its closed choices, `examples` the
    values that the description lists, and `listed` says that it lists several. `region` asks for
    `City, State`, `formatted` for a prefix as in `country:FR`, `fraction` for 0.75 instead of 75.
    `levels` are the words that its description has for numbers, as ("warning", 4). `alternatives`
    are the inputs that may be given instead: "give this or `file`". `place` is its number in the
    tool. An input that is not `fillable` never gets a value.
    """

    name: str
    type: str
    role: str
    required: bool
    default: JsonValue
    description: str
    unit: tuple[str, float]
    words: frozenset[str]
    described: frozenset[str]
    choices: tuple[JsonValue, ...]
    examples: tuple[str, ...]
    region: bool
    formatted: bool
    listed: bool
    item: str
    place: int
    fillable: bool = True
    fraction: bool = False
    levels: tuple[tuple[str, int], ...] = ()
    alternatives: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fillable:
    """The inputs of one tool, and the stems of the tool's own name and summary."""

    inputs: tuple[Input, ...]
    own: frozenset[str]


def from_schema(tool: Mapping[str, Any]) -> Fillable:
    """Return the inputs of `{name, description, parameters}`, where parameters is a JSON Schema."""
    parameters = _mapping(tool.get("parameters"))
    required = _items(parameters.get("required"))
    properties = [
        (name, _mapping(spec))
        for name, spec in _mapping(parameters.get("properties")).items()
        if isinstance(name, str)
    ]
    named = frozenset(name for name, _ in properties)
    made = [
        _input(name, spec, name in required, place, named - {name})
        for place, (name, spec) in enumerate(properties[:MAX_INPUTS])
    ]
    about = f"{tool.get('name', '')} {tool.get('description', '')}"
    return Fillable(tuple(made), stems(about[:MAX_DESCRIPTION]))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that carry meaning."""
    return frozenset(stem_in_full(word) for word in words(text) if word not in STOP_WORDS)


def _input(
    name: str, spec: Mapping[Any, Any], required: bool, place: int, others: frozenset[str]
) -> Input:
    kind = _type_of(spec)
    description = str(spec.get("description") or "")[:MAX_DESCRIPTION]
    items = _mapping(spec.get("items"))
    choices = _items(spec.get("enum")) or _items(items.get("enum"))
    default = spec.get("default", NO_DEFAULT)
    parts = tuple(words(_NUMBERED.sub("", name)))
    # "give this or `file`" refers to another input: its name is no value of this one.
    listed = [one for one in _listed(description) if one not in others]
    examples = _examples(name, description, listed)
    return Input(
        name=name,
        type=kind,
        role=role_of(parts, kind, description, default, bool(choices)),
        required=required,
        default=default,
        description=description,
        unit=unit_of(parts, description, kind),
        words=frozenset(map(stem_in_full, parts)),
        described=stems(_BEFORE_EXAMPLE.sub(" ", description)),
        choices=choices,
        examples=examples,
        region=_wants_region(description, examples),
        formatted="format" in description and any(_PREFIXED.match(one) for one in examples),
        listed=len(listed) > 1 or _BEHIND_COLON.search(description) is not None,
        item=_type_of(items or _mapping(spec.get("additionalProperties"))),
        place=place,
        levels=tuple(_levels(description)) if kind == "integer" else (),
        fillable=_is_fillable(kind, spec) and _NEVER.search(name) is None,
        alternatives=others.intersection(_ALTERNATIVE.findall(description)),
        fraction=_ASKS_FRACTION.search(description) is not None,
    )


def _is_fillable(kind: str, spec: Mapping[Any, Any]) -> bool:
    """Return True for a type that words can give: a mapping only if its values are texts."""
    if kind == "object":
        return _mapping(spec.get("additionalProperties")).get("type") == "string"
    return kind in _FILLABLE_TYPES


def _type_of(spec: Mapping[Any, Any]) -> str:
    """Return the type of a schema, without null: its `type`, or that of its first alternative.

    A schema without both takes any value, so a text too. A type that JSON Schema does not know is
    "unknown": nothing is known to fit it.
    """
    if spec.get("type") is not None:
        return _known_type(spec["type"])
    alternatives = _items(spec.get("anyOf")) or _items(spec.get("oneOf"))
    if not alternatives:
        return "string"
    kinds = [_known_type(_mapping(one).get("type")) for one in alternatives]
    return next((kind for kind in kinds if kind != "unknown"), "unknown")


def _known_type(named: object) -> str:
    names = named if isinstance(named, list) else [named]
    return next((_TYPES[n] for n in names if isinstance(n, str) and n in _TYPES), "unknown")


def _levels(description: str) -> Iterator[tuple[str, int]]:
    for number, word in _LEVEL.findall(description):
        yield stem_in_full(word.lower()), int(number)


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _listed(description: str) -> list[str]:
    """Return the words that a description has in quotes."""
    return [next(filter(None, match)) for match in _LISTED.findall(description)]


def _examples(name: str, description: str, listed: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a description: those `listed`, and those behind "e.g."."""
    found = list(listed)
    rest = _LISTED.sub("\0", description)
    found.extend(_REGION.findall(rest))
    rest = _REGION.sub("\0", rest)
    for text in (*_BEHIND_COLON.findall(rest), *_BEHIND_EG.findall(rest)):
        parts = (part.strip() for part in _MEMBER_BREAK.split(text))
        found.extend(part.strip(" '\"`") for part in parts if 1 < len(part) <= 30)
    no_values = {*words(name), *_NAMES_OF_TYPES}
    return tuple(
        one
        for one in dict.fromkeys(found)
        if "\0" not in one
        and one.lower() not in _NO_EXAMPLES
        and not no_values.issuperset(words(one))
    )


def _wants_region(description: str, examples: Sequence[str]) -> bool:
    """Return True if the description asks for `City, State`."""
    asked = _ASKS_REGION.search(description) is not None
    return asked or any(re.search(r"\w, [A-Z]", one) for one in examples)
