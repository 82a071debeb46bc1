"""Read the fields of a plan file: mappings, texts, names and numbers, each with its place. Pure.

An unknown key (with the nearest known one), a missing key and a value of the wrong type are refused
here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from pulsus.core.compose.plans.dsl.refusal import refuse


def require_mapping(
    data: object,
    place: str,
    *,
    required: AbstractSet[str] | None = None,
    allowed: AbstractSet[str] | None = None,
) -> Mapping[str, Any]:
    """Return the mapping. Raises PlanInvalid for other values, and unknown or missing keys."""
    if not isinstance(data, dict):
        refuse(place, data, "it is not a mapping", _suggest_mapping(required, allowed))
    for key in data:
        if not isinstance(key, str):
            refuse(place, key, "a key is not text", "put quotes round it")
        if allowed is not None and key not in allowed:
            refuse(f"{place}.{key}", key, "the key is unknown", _suggest_key(key, allowed))
    # Sorted, so that the same file always gives the same message.
    for key in sorted((required or set()) - data.keys()):
        refuse(place, data, f"{key!r} is missing", f"add `{key}:`")
    return data


def require_text(value: object, place: str) -> str:
    """Return the text. Raises PlanInvalid for any other value."""
    if not isinstance(value, str):
        refuse(place, value, "it is not text", "put quotes round it")
    return value


def require_names(value: object, place: str) -> tuple[str, ...]:
    """Return the list of texts as a tuple. Raises PlanInvalid for any other value."""
    if not isinstance(value, list):
        refuse(place, value, "it is not a list", "write a list of names")
    return tuple(require_text(item, f"{place}[{i}]") for i, item in enumerate(value))


def _suggest_mapping(required: AbstractSet[str] | None, allowed: AbstractSet[str] | None) -> str:
    """Return how to write the mapping, with its keys if they are known."""
    if not allowed:
        return "write `key: value` pairs"
    known = sorted(allowed)
    needed = [key for key in known if key in (required or ())]
    if needed == known:
        return f"write `key: value` pairs with the keys {' and '.join(known)}"
    needs = f", and {' and '.join(needed)} must be given" if needed else ""
    return f"write `key: value` pairs; the keys are {', '.join(known)}{needs}"


def _suggest_key(key: str, allowed: AbstractSet[str]) -> str:
    known = sorted(allowed)
    near = difflib.get_close_matches(key, known, 1)
    listed = f"the keys are {', '.join(known)}"
    return f"did you mean {near[0]!r}? {listed}" if near else listed


def require_number(value: object, place: str) -> float:
    """Return the number. Raises PlanInvalid for any other value."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        refuse(place, value, "it is not a number", "write seconds, such as 30")
    return value


def optional_text(value: object, place: str) -> str | None:
    """Return the text, or None for no value. Raises PlanInvalid for any other value."""
    return None if value is None else require_text(value, place)
