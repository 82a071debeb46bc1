"""One value as text: for people, with units and local times, or exact, for other programs. Pure.

Units of numbers come from names; times are shown in the local time zone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pulsus.cli.results.text_cells import cells, on_one_line
from pulsus.core.telemetry.sanitize import escape_controls
from pulsus.core.text.value_units import plain_number, with_unit
from pulsus.late_pattern import late_pattern

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue

ABSENT = "–"
NOTHING = "none"
_TIME = late_pattern(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)", re.ASCII
)
_MOST_ITEMS = 1000
"""Longer lists are counted, and not joined to see if they fit."""


def is_number(value: JsonValue) -> bool:
    """Return True for a number; booleans are none of them."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_nested(value: JsonValue) -> bool:
    """Return True for a list or mapping that is not empty."""
    return isinstance(value, list | dict) and bool(value)


def is_empty(value: JsonValue) -> bool:
    """Return True for a value that says nothing: null, an empty text, list or mapping."""
    return value is None or value in ("", [], {})


def readable(name: str, value: JsonValue, most: int | None = None) -> str:
    """Return the value on one line for a person, its unit and kind taken from `name`.

    No value is blank: an empty text is shown as an absent value is.

    A list or mapping that takes more than `most` columns is folded to `3 items` or `{…}`; None
    writes it out.
    """
    match value:
        case None:
            return ABSENT
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return with_unit(name, value)
        case str():
            return on_one_line(local_time(value)) or ABSENT
        case _:
            return _readable_nested(name, value, most)


def exact(value: JsonValue) -> str:
    """Return the value on one line for `grep` and `awk`: no unit, no rounding, UTC as given.

    A missing value is `-`, an empty text `""`, a list or mapping JSON.
    """
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case str():
            return on_one_line(value) or '""'
        case _:
            return as_json(value, blanks=False)


def as_json(value: JsonValue, *, blanks: bool = True) -> str:
    """Return the value as JSON on one line that no terminal takes for commands.

    With `blanks` it can be folded between its parts; without them it is one word for `awk`, if its
    texts are.
    """
    between = (", ", ": ") if blanks else (",", ":")
    return escape_controls(json.dumps(value, ensure_ascii=False, separators=between, default=str))


def local_time(text: str) -> str:
    """Return an ISO 8601 time with an offset as local time without one; any other text as is."""
    if len(text) > 40 or not _TIME.fullmatch(text):
        return text
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return text
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def is_folded(value: JsonValue, shown: str) -> bool:
    """Return True if `shown` stands for a list or mapping without showing it."""
    return is_nested(value) and shown in (_count(value), "{…}")


def _readable_nested(name: str, value: JsonValue, most: int | None) -> str:
    if not is_nested(value):
        return NOTHING
    short = _count(value) if isinstance(value, list) else "{…}"
    if most is not None and len(value) > _MOST_ITEMS:  # type: ignore[arg-type]
        return short
    items = list(value.values()) if isinstance(value, Mapping) else value
    assert isinstance(items, list)
    if isinstance(value, list) and all(_is_flat_mapping(item) for item in value):
        whole = "; ".join(readable(name, item) for item in value)
    elif any(is_nested(item) for item in items):
        whole = as_json(value)
    elif isinstance(value, Mapping):
        whole = ", ".join(f"{on_one_line(k)} {readable(k, v)}" for k, v in value.items())
    else:
        whole = ", ".join(readable(name, item) for item in items)
    return whole if most is None or cells(whole) <= most else short


def _is_flat_mapping(value: JsonValue) -> bool:
    return isinstance(value, dict) and not any(is_nested(item) for item in value.values())


def _count(value: JsonValue) -> str:
    count = len(value) if isinstance(value, list | dict) else 0
    return f"{plain_number(count)} item{'' if count == 1 else 's'}"
