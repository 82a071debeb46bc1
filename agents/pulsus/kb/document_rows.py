"""Rows of a facts document: their keys, and the values that each key allows. Pure.

Here a row is refused for an unknown key (with the nearest one), a missing key, or a value that is
not valid: a name, a number out of range, a time without its zone. The sections and their keys are
in `facts_document.py`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NoReturn, cast

from pulsus.core.types import JsonValue
from pulsus.errors import FactsInvalid
from pulsus.fast_dataclass import dataclass
from pulsus.kb.facts import NAME_FORM

_NAME = re.compile(NAME_FORM, re.ASCII)
_MOST_SHOWN: Final = 60
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 8999


@dataclass(frozen=True, slots=True)
class RowField:
    """One key of a row. `read` returns the value, or raises ValueError with what is allowed."""

    read: Callable[[JsonValue], object]
    required: bool = False


def read_row(row: JsonValue, fields: Mapping[str, RowField], place: str) -> dict[str, object]:
    """Return the values of a row. Raises FactsInvalid for an unknown key or a value not allowed."""
    body = require_mapping(row, place)
    if not body.keys() <= fields.keys():
        require_known_keys(body, fields, place)
    found: dict[str, object] = {}
    for key, field in fields.items():
        if key in body or field.required:
            found[key] = read_field(field, body.get(key), f"{place}.{key}", key in body)
    return found


def read_field(field: RowField, value: JsonValue, place: str, given: bool) -> object:
    """Return the value of one key, None without one. Raises FactsInvalid if it is not allowed."""
    if not given:
        if field.required:
            raise missing_key(place)
        return None
    try:
        return field.read(value)
    except ValueError as problem:
        refuse_kind(place, value, str(problem))


def missing_key(place: str) -> FactsInvalid:
    """Return the error for a row without one of its keys."""
    row, _, key = place.rpartition(".")
    return FactsInvalid(
        f"{row}: the key {key!r} is missing", hint=f"add {key!r}", place=place, value=None
    )


def require_mapping(value: JsonValue, place: str) -> Mapping[str, JsonValue]:
    """Return an object with its keys. Raises FactsInvalid for anything else."""
    if not isinstance(value, dict):
        what = "an object with the keys of a row" if place else "an object with nodes and links"
        refuse_kind(place, value, what)
    return value


def require_known_keys(body: Mapping[str, JsonValue], keys: Iterable[str], place: str) -> None:
    """Raise FactsInvalid, with the nearest key, for a key that is not in `keys`."""
    for key in body:
        if key not in keys:
            near = difflib.get_close_matches(key, list(keys), 1)
            fix = f"write {near[0]!r}" if near else f"remove it; the keys are {', '.join(keys)}"
            where = f"{place}.{key}" if place else key
            raise FactsInvalid(
                f"{_shown_place(where)}: there is no such key",
                hint=fix,
                place=where,
                value=_shortened(ascii(key)),
            )


def refuse_value(place: str, value: object, problem: str, fix: str) -> NoReturn:
    """Raise FactsInvalid with the place, the value, the reason and the fix."""
    _refuse(place, value, f": {problem}", fix)


def refuse_kind(place: str, value: object, expected: str) -> NoReturn:
    """Raise FactsInvalid for a value of another kind than the `expected` one."""
    _refuse(place, value, f", and must be {expected}", "correct that value")


def _refuse(place: str, value: object, reason: str, fix: str) -> NoReturn:
    shown = _shortened(ascii(value))
    message = f"{_shown_place(place)} is {shown}{reason}"
    raise FactsInvalid(message, hint=fix, place=place, value=shown)


def _shown_place(place: str) -> str:
    # An unknown key is part of the place, and it may have any character.
    return _shortened(ascii(place)[1:-1]) or "the document"


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def shown_key(key: object) -> object:
    """Return the key of a fact as a message shows it."""
    return " – ".join(map(str, key[:2])) if isinstance(key, tuple) else key


def parse_name(value: JsonValue) -> str:
    """Return the name of a node or group. Raises ValueError with what is allowed."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("a name of at most 128 letters, digits and the signs _ . : -")
    return value


def parse_name_or_null(value: JsonValue) -> str | None:
    """Return the name, or None for null. Raises ValueError with what is allowed."""
    return None if value is None else parse_name(value)


def choice_of(options: tuple[str, ...]) -> Callable[[JsonValue], str]:
    """Return a reader that takes one of `options`."""

    def read(value: JsonValue) -> str:
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"one of {', '.join(options)}")
        return value

    return read


def whole_number(least: int, most: int) -> Callable[[JsonValue], int]:
    """Return a reader of whole numbers from `least` to `most`."""

    def read(value: JsonValue) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return value

    return read


def number_between(least: float, most: float) -> Callable[[JsonValue], float]:
    """Return a reader of finite numbers from `least` to `most`."""

    def read(value: JsonValue) -> float:
        # A comparison with NaN is False, so NaN is refused too.
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if not known or not least <= cast("float", value) <= most:
            raise ValueError(f"a number from {least:.10g} to {most:.10g}")
        return cast("float", value)

    return read


def parse_flag(value: JsonValue) -> bool:
    """Return true or false. Raises ValueError for anything else."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def parse_time(value: JsonValue) -> datetime:
    """Return the time in UTC. Raises ValueError for a text without its zone, or another age."""
    try:
        if not isinstance(value, str):
            raise ValueError
        found = datetime.fromisoformat(value)
        if found.tzinfo is None:
            raise ValueError
        found = found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("an ISO 8601 time with its zone, such as 2026-03-01T12:00:00Z") from None
    # A time to live is added to it, and what Python cannot count would end in an OverflowError.
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise ValueError(f"a time from {_FIRST_YEAR} to {_LAST_YEAR}, such as 2026-03-01T12:00:00Z")
    return found
