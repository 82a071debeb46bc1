"""Read written dates and times of day: `May 5, 2023`, `8am`, `half past six` (ISO 8601). Pure."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_HOURS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def read_clock(text: str) -> str:
    """Return `8am` or `14:30` as `HH:MM[:SS]`, or nothing if it is no time of day."""
    low = text.lower()
    low = re.sub(r" (?:in the|at) (?:morning)", "am", low)
    low = re.sub(r" (?:in the|at) (?:afternoon|evening|night)", "pm", low)
    spoken = re.fullmatch(r"(half|quarter) (past|to) (\w+)", low)
    if spoken:
        return _spoken_time(*spoken.groups())
    low = low.replace(".", "").replace(" ", "")
    if low in ("noon", "midnight"):
        return "12:00" if low == "noon" else "00:00"
    half = low[-2:] if low.endswith(("am", "pm")) else ""
    parts = low.removesuffix(half).split(":") if half else low.split(":")
    hour = int(parts[0])
    if half:
        if not 1 <= hour <= 12:
            return ""
        hour = hour % 12 + (12 if half == "pm" else 0)
    rest = parts[1:] or ["00"]
    if hour > 23 or any(int(part) > 59 for part in rest):
        return ""
    return ":".join((f"{hour:02}", *rest))


def iso_date(text: str) -> str:
    """Return a written date as `YYYY-MM-DD`; nothing if it has no year or could be two dates."""
    low = text.lower().replace(",", " ").replace(" of ", " ")
    month = next((n for n, name in enumerate(_MONTHS, 1) if re.search(rf"\b{name}", low)), 0)
    numbers = [int(n) for n in re.findall(r"\d+", low)]
    try:
        if month:
            year = next((n for n in numbers if n > 31), 0)
            day = next((n for n in numbers if n <= 31), 0)
            return date(year, month, day).isoformat() if year and day else ""
        if len(numbers) >= 3 and numbers[0] > 31:
            return date(*numbers[:3]).isoformat()
        if len(numbers) == 3:
            first, second, year = numbers
            year += 2000 if year < 100 else 0
            if "." in text:
                return date(year, second, first).isoformat()
            if first > 12:
                return date(year, second, first).isoformat()
            return date(year, first, second).isoformat()
    except ValueError:
        pass
    return ""


def _spoken_time(part: str, side: str, hour: str) -> str:
    if hour not in _HOURS and not hour.isdecimal():
        return ""
    at = int(hour) if hour.isdecimal() else _HOURS.index(hour) + 1
    minutes = 30 if part == "half" else 15
    total = at * 60 + (minutes if side == "past" else -minutes)
    return f"{total // 60:02}:{total % 60:02}" if 0 <= total < 24 * 60 else ""
