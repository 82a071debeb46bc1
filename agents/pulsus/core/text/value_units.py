"""Numbers with the unit that their name announces: bytes, percent, durations, times. Pure.

Sizes and times of results are made readable (`1.2 GiB`) here; `cli/results/value_text.py` shows
times in the local time zone. Units of a request are read in `core/arguments/spans/measures.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from pulsus.late_pattern import late_pattern

_BYTES = late_pattern(r"(?:^|_)bytes\Z")
_BYTES_PER_SECOND = late_pattern(r"(?:^|_)bytes_per_second\Z")
_PERCENT = late_pattern(r"(?:^|_)percent\Z")
_SECONDS = late_pattern(r"(?:^|_)(?<!per_)seconds\Z")
_MILLISECONDS = late_pattern(r"(?:^|_)(?:ms|milliseconds)\Z")
_SINCE_1970 = late_pattern(r"(?:^|_)timestamp_")
"""A moment, and no duration: `timestamp_ms`, `timestamp_seconds`."""

_MULTIPLES = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_LARGEST = 1 << 80
"""Numbers from here on are no size or time of anything; they stay as they are."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def with_unit(name: str, number: float) -> str:
    """Return the number in the unit of its name: `("size_bytes", 1288490188)` gives `1.2 GiB`.

    A name without a unit gives the number alone, with at most four decimals.
    """
    spell = _speller(name) if -_LARGEST < number < _LARGEST else None
    return spell(number) if spell else plain_number(number)


def has_unit(name: str) -> bool:
    """Return True if numbers of that name get a unit."""
    return _speller(name) is not None


def short_heading(name: str) -> str:
    """Return the name without the unit that every cell shows: `used_percent` gives `used %`."""
    if _PERCENT.search(name):
        return f"{name[: -len('percent')].rstrip('_')} %".lstrip()
    if _speller(name) is None:
        return name
    rest = re.sub(r"_(?:bytes(?:_per_second)?|seconds|ms|milliseconds)\Z", "", name)
    return f"{rest}/s" if _BYTES_PER_SECOND.search(name) and rest != name else rest


def plain_number(number: float) -> str:
    """Return an integer as it is, and a fraction without the noise of binary arithmetic."""
    if isinstance(number, int) or not math.isfinite(number):
        return str(number)
    return f"{number:.4g}" if abs(number) < 1 else f"{round(number, 4)}"


def byte_size(number: float) -> str:
    """Return bytes in binary multiples with one decimal: `1.2 GiB`; below 1024 as `512 B`."""
    if abs(number) < 1024:
        return f"{plain_number(number)} B"
    size = float(number)
    for multiple in _MULTIPLES:
        size /= 1024
        if abs(size) < 1023.95 or multiple == _MULTIPLES[-1]:
            break
    return f"{size:.1f} {multiple}"


def duration(seconds: float) -> str:
    """Return a duration in the two largest units that matter: `2 h 5 min`, `0.31 s`, `0.4 ms`."""
    size = abs(seconds)
    sign = "-" if seconds < 0 else ""
    if 0 < size < 0.001:
        return f"{sign}{size * 1000:.2g} ms"
    if size < 9.995:
        return f"{sign}{plain_number(round(size, 2 if size >= 0.1 else 4))} s"
    if size < 59.95:
        return f"{sign}{size:.1f} s"
    whole = round(size)
    if whole < _HOUR:
        return sign + _two(whole, _MINUTE, "min", 1, "s")
    if whole < 2 * _DAY:
        return sign + _two(whole, _HOUR, "h", _MINUTE, "min")
    return sign + _two(whole, _DAY, "d", _HOUR, "h")


def _two(whole: int, large: int, name: str, small: int, rest_name: str) -> str:
    count, rest = divmod(whole, large)
    return f"{count} {name} {rest // small} {rest_name}" if rest // small else f"{count} {name}"


def _milliseconds(number: float) -> str:
    if abs(number) >= 1000:
        return duration(number / 1000)
    return f"{plain_number(round(number, 1 if abs(number) >= 10 else 2))} ms"


def _percent(number: float) -> str:
    if isinstance(number, int):
        return f"{number} %"
    return f"{number:.2g} %" if 0 < abs(number) < 0.05 else f"{number:.1f} %"


def _since_1970(scale: int) -> Callable[[float], str]:
    def spell(number: float) -> str:
        from datetime import datetime

        try:
            moment = datetime.fromtimestamp(number / scale).astimezone()
        except (OverflowError, OSError, ValueError):
            return plain_number(number)
        return f"{moment:%Y-%m-%d %H:%M:%S}"

    return spell


def _speller(name: str) -> Callable[[float], str] | None:
    """Return the function that spells numbers of that name; None if the name has no unit."""
    if _SINCE_1970.search(name):
        return _since_1970(1000 if _MILLISECONDS.search(name) else 1)
    if _BYTES_PER_SECOND.search(name):
        return lambda number: f"{byte_size(number)}/s"
    for pattern, spell in (
        (_BYTES, byte_size),
        (_PERCENT, _percent),
        (_SECONDS, duration),
        (_MILLISECONDS, _milliseconds),
    ):
        if pattern.search(name):
            return spell
    return None
