"""Numbers in messages: singular and plural (`1 failure`, `2 failures`), and `30` for 30.0. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue

_MOST_EXACT = 1e15
"""Below this every whole number is a float without loss."""


def counted(number: int, what: str, many: str = "") -> str:
    """`1 failure`, `2 failures`; `many` for a plural that is not `what` and an s."""
    return f"{number} {what if number == 1 else many or f'{what}s'}"


def without_decimal_zero(value: JsonValue) -> JsonValue:
    """Return a whole number for a float without a fraction, because a person says no `.0`."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_EXACT:
        return int(value)
    return value
