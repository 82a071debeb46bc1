"""Read written dates and times of day as ISO 8601: `May 5, 2023`, `8am`, `half past six`. Pure.

An impossible date (February 30) and a date without a year are no value here. Durations ("two
weeks") are read by `measures.py` with the units of `number_words.py`, and "today" and "yesterday"
by `core/arguments/word_values.py`.
"""

from __future__ import annotations

import re
from datetime import date

from pulsus.late_pattern import late_pattern

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HOURS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
_DIGITAL = late_pattern(r"[0-9]{1,2}(?::[0-9]{2}){0,2}(?:am|pm)?")


def read_clock(text: str) -> str:
    """Return `8am`, `14:30` or `noon` as `HH:MM[:SS]`, or nothing if it is no time of day."""
    low = text.lower()
    low = re.sub(r" (?:in the|at) morning", "am", low)
    low = re.sub(r" (?:in the|at) (?:afternoon|evening|night)", "pm", low)
    spoken = re.fullmatch(r"(half|quarter) (past|to) (\w+)", low)
    if spoken:
        return _spoken_time(*spoken.groups())
    low = low.replace(".", "").replace(" ", "")
    if low in ("noon", "midnight"):
        return "12:00" if low == "noon" else "00:00"
    return _digital_time(low) if _DIGITAL.fullmatch(low) else ""


def iso_date(text: str) -> str:
    """Return a written date as `YYYY-MM-DD`; nothing if it has no year, or is no day of a calendar.

    Three numbers are month/day/year, and day.month.year with dots or if the first is above 12.
    """
    low = text.lower().replace(",", " ").replace(" of ", " ")
    month = next((n for n, name in enumerate(_MONTHS, 1) if re.search(rf"\b{name}", low)), 0)
    written = re.findall(r"\d+", low)
    numbers = [int(digits) for digits in written]
    if month:
        year = next((n for n in numbers if n > 31), 0)
        day = next((n for n in numbers if n <= 31), 0)
        return _iso(year, month, day) if year and day else ""
    if len(numbers) < 3:
        return ""
    first, second, third = numbers[:3]
    if first > 31 or len(written[0]) > 2:  # 0001 is a year too
        return _iso(first, second, third)
    if len(numbers) > 3:
        return ""
    year = third if len(written[2]) > 2 else third + 2000
    european = "." in text or first > 12
    return _iso(year, second, first) if european else _iso(year, first, second)


def _iso(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _digital_time(low: str) -> str:
    half = low[-2:] if low.endswith(("am", "pm")) else ""
    hours, *rest = low.removesuffix(half).split(":")
    hour = int(hours)
    if half:
        if not 1 <= hour <= 12:
            return ""
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or any(int(part) > 59 for part in rest):
        return ""
    return ":".join((f"{hour:02}", *(rest or ["00"])))


def _spoken_time(part: str, side: str, hour: str) -> str:
    if hour not in _HOURS and not (hour.isdecimal() and len(hour) < 3):
        return ""
    at = int(hour) if hour.isdecimal() else _HOURS.index(hour) + 1
    minutes = 30 if part == "half" else 15
    total = at * 60 + (minutes if side == "past" else -minutes)
    return f"{total // 60:02}:{total % 60:02}" if 0 <= total < 24 * 60 else ""
