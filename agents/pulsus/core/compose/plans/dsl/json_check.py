"""Check that a value of a plan is JSON: finite numbers, text as keys, valid Unicode. Pure.

NaN, infinity and values that are nested too deep are refused here.
"""

from __future__ import annotations

import math

from pulsus.core.compose.plans.dsl.refusal import refuse

# No useful constant is nested deeper. The YAML reader allows 64 levels for the whole file.
MAX_DEPTH = 32


def check_json(value: object, place: str, depth: int = 0) -> None:
    """Raise PlanInvalid unless `value` is JSON: finite numbers, text as keys, valid Unicode."""
    if depth > MAX_DEPTH:
        refuse(place, "…", f"nested deeper than {MAX_DEPTH}", "flatten the value")
    match value:
        case None | bool() | int():
            return
        case str():
            check_text(value, place)
        case float():
            if not math.isfinite(value):
                refuse(
                    place, value, "JSON cannot express this number", "use a finite number or null"
                )
        case list():
            for i, item in enumerate(value):
                check_json(item, f"{place}[{i}]", depth + 1)
        case dict():
            for key, item in value.items():
                _check_key(key, place)
                check_json(item, f"{place}.{key}", depth + 1)
        case _:
            kind = type(value).__name__
            refuse(place, str(value), f"a {kind} is not a JSON value", "put quotes round it")


def check_text(text: str, place: str) -> None:
    """Raise PlanInvalid for text with half a surrogate pair."""
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        refuse(place, text, "it holds half a surrogate pair", "use valid Unicode")


def _check_key(key: object, place: str) -> None:
    if not isinstance(key, str):
        refuse(place, key, "a key is not text", "put quotes round it")
    check_text(key, place)
