"""Numbers with a unit, as programs read them: times, counts and sizes. Pure.

`cost_estimate.py` uses them.
"""

from __future__ import annotations

import re
from math import inf
from typing import Final

from pulsus.core.text.unit_factors import KIB, SECONDS

_NUMBER: Final = r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|0[xX][0-9a-fA-F]+)"
_PLAIN: Final = re.compile(_NUMBER)
_PIECE: Final = re.compile(rf"{_NUMBER}\s*([A-Za-zµ]*)\s*")
_CLOCK: Final = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")

_SECONDS: Final = {
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), SECONDS["nanosecond"]),
    **dict.fromkeys(("us", "µs", "usec", "microsecond", "microseconds"), SECONDS["microsecond"]),
    **dict.fromkeys(
        ("ms", "msec", "millisecond", "milliseconds", "millis"), SECONDS["millisecond"]
    ),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), SECONDS["second"]),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), SECONDS["minute"]),
    **dict.fromkeys(("h", "hr", "hour", "hours"), SECONDS["hour"]),
    **dict.fromkeys(("d", "day", "days"), SECONDS["day"]),
    **dict.fromkeys(("w", "week", "weeks"), SECONDS["week"]),
    **dict.fromkeys(("mon", "month", "months"), SECONDS["month"]),
    **dict.fromkeys(("y", "year", "years"), SECONDS["year"]),
}
_SIZES: Final = {"b": 512.0, "c": 1.0, "w": 2.0}
_POWERS: Final = "kmgtpezy"


def seconds(text: str, unit: float = 1.0) -> float | None:
    """Return the time that `text` is, a bare number in `unit`; None for a text that is no time."""
    if _PLAIN.fullmatch(text):
        return _parse_number(text) * unit
    clock = _CLOCK.fullmatch(text)
    if clock:
        return int(clock[1] or 0) * 3600.0 + int(clock[2]) * 60.0 + float(clock[3])
    total, at = 0.0, 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        name = piece[2] if piece else ""
        length = _SECONDS.get(name) or _SECONDS.get(name.lower())
        if piece is None or (length is None and (name or at)):
            return None
        total += _parse_number(piece[1]) * (unit if length is None else length)
        at = piece.end()
    return total if text else None


def number(text: str, unit: float = 1.0) -> float | None:
    """Return the count or size that `text` is (`5`, `10k`, `1.5GiB`, `0x10`, `1e6`). None for
    another."""
    text = text.lstrip("+")
    found = _PIECE.fullmatch(text)
    if found is None:
        return None
    name = found[2].lower()
    if not name:
        return _parse_number(found[1]) * unit
    if name in _SIZES:
        return _parse_number(found[1]) * _SIZES[name]
    power = _POWERS.find(name[0])
    if power < 0 or name[1:] not in {"", "b", "ib", "i"}:
        return None
    return _parse_number(found[1]) * KIB ** (power + 1)


def _parse_number(text: str) -> float:
    try:
        return float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
    except OverflowError:
        return inf


def deadline(text: str) -> float:
    """Return the seconds after which `timeout TEXT` ends a program. Without end if that cannot
    be told."""
    return seconds(text) or inf
