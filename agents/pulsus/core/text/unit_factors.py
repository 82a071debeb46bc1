"""The factors of units of time and size. Tables only.

Each reader has its own words for these units, because the same word has another meaning elsewhere:
programs read `m` as minutes, and a request may mean metres. Requests:
core/arguments/spans/number_words.py. Names of inputs: core/arguments/input_roles.py. Words of
commands: commands/cost/quantities.py.
"""

from __future__ import annotations

from typing import Final

_DAY = 86400.0
_YEAR = 365.25 * _DAY

SECONDS: Final = {
    "nanosecond": 1e-9,
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": _DAY,
    "week": 7 * _DAY,
    "month": _YEAR / 12,
    "year": _YEAR,
}
"""Seconds in each unit of time. A year is a Julian year, and a month is a twelfth of it."""

KIB: Final = 1024.0
"""The factor from one unit of size to the next. Sizes are binary: a KB is 1,024 bytes."""

BYTES: Final = {
    "byte": 1.0,
    "kilobyte": KIB,
    "megabyte": KIB**2,
    "gigabyte": KIB**3,
    "terabyte": KIB**4,
}
"""Bytes in each unit of size."""
