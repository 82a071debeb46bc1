"""Explain a cron expression in plain words and say when it fires next.

Understands five fields (minute, hour, day of month, month, day of week) with lists, ranges,
steps and names such as `mon` or `jan`, and the short forms `@hourly`, `@daily`, `@weekly`,
`@monthly`, `@yearly`. Where both day fields are restricted, cron runs when either fits; the
explanation says so. All times are UTC, so there is no daylight saving time to consider.

Args:
    expression (str): The schedule, for example `*/15 8-18 * * mon-fri`.
    count (int): How many of the next runs to list, 0 to 100.
    after (str): Runs later than this ISO 8601 time are listed; the present when empty.

Returns:
    explanation (str): What the schedule means.
    rows (list[dict[str, Any]]): The next runs: `run` (number), `time` (ISO 8601, UTC),
        `weekday`.
    next_run (str | None): The first of them; None when it never fires.
    expression (str): The five fields that were understood.
    note (str): What is easily misread in it; empty when there is nothing.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {expression: "30 2 * * mon-fri", count: 2, after: "2025-03-07T12:00:00Z"}
      output:
        explanation: at 02:30, on Monday to Friday
        rows:
          - {run: 1, time: "2025-03-10T02:30:00+00:00", weekday: Monday}
          - {run: 2, time: "2025-03-11T02:30:00+00:00", weekday: Tuesday}
        next_run: "2025-03-10T02:30:00+00:00"
        expression: 30 2 * * 1-5
        note: ""
    - title: a date that does not exist
      inputs: {expression: "0 0 30 2 *", after: "2025-01-01T00:00:00Z"}
      output: {next_run: null, rows: [], note: "it never fires: no such date exists", ...: ...}
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

_SHORT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of month", 1, 31), ("month", 1, 12))
_LIMITS = (*_FIELDS, ("day of week", 0, 7))
_HORIZON_DAYS = 366 * 8 + 2  # 29 February can be eight years away, around 2100


def run(expression: str, count: int = 5, after: str = "") -> dict[str, Any]:
    if not 0 <= count <= 100:
        raise ValueError(f"count {count} is out of range: give 0 to 100")
    start = _start(after)
    if expression.strip().lower() == "@reboot":
        note = "it follows the machine's start, so the times cannot be known"
        return {
            "explanation": "once, when the machine has started",
            "rows": [],
            "next_run": None,
        } | {
            "expression": "@reboot",
            "note": note,
        }
    fields = _normalise(expression)
    sets = [_values(text, *limits) for text, limits in zip(fields, _LIMITS, strict=True)]
    either = not fields[2].startswith("*") and not fields[4].startswith("*")
    times = _next(sets, either, start, max(count, 1))
    note = ""
    if not times:
        note = "it never fires: no such date exists"
    elif either:
        note = "both day fields are restricted, so cron runs when either one fits"
    elif 60 % _step(fields[0]) or 24 % _step(fields[1]):
        note = "the step does not divide the hour or day evenly: the last gap is shorter"
    rows = [
        {"run": number, "time": time.isoformat(), "weekday": _DAYS[time.isoweekday() % 7]}
        for number, time in enumerate(times[:count], 1)
    ]
    return {
        "explanation": _explain(fields, sets, either),
        "rows": rows,
        "next_run": times[0].isoformat() if times else None,
        "expression": " ".join(fields),
        "note": note,
    }


def _start(after: str) -> datetime:
    if not after:
        return datetime.now(UTC)
    try:
        start = datetime.fromisoformat(after)
    except ValueError:
        raise ValueError(f"after {after!r} is no time: write 2025-03-01T12:00:00Z") from None
    return (start if start.tzinfo else start.replace(tzinfo=UTC)).astimezone(UTC)


def _normalise(expression: str) -> list[str]:
    """The five fields with names turned into numbers."""
    text = expression.strip().lower()
    fields = _SHORT.get(text, text).split()
    if len(fields) != 5:
        raise ValueError(
            f"expression {expression!r} has {len(fields)} fields: write minute, hour, "
            f"day of month, month and day of week, or one of {', '.join(_SHORT)}"
        )
    months, days = _numbers(_MONTHS, 1), _numbers(_DAYS, 0)
    week = _named(re.sub(r"-sun(day)?\b", "-7", fields[4]), days)
    return [*fields[:3], _named(fields[3], months), week]


def _named(field: str, numbers: dict[str, str]) -> str:
    return re.sub(r"[a-z]+", lambda word: numbers.get(word[0], word[0]), field)


def _numbers(names: list[str], first: int) -> dict[str, str]:
    short = {name[:3].lower(): str(n) for n, name in enumerate(names, first)}
    return short | {name.lower(): str(n) for n, name in enumerate(names, first)}


def _values(text: str, name: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(?:\*|(\d+)(?:-(\d+))?)(?:/(\d+))?", part)
        if match is None:
            raise ValueError(f"{name} {part!r} is not understood: use numbers, a-b, */n or lists")
        first = int(match[1]) if match[1] else low
        single = match[1] and not match[2] and not match[3]
        last = int(match[2]) if match[2] else first if single else high
        step = int(match[3] or 1)
        if not low <= first <= last <= high or step < 1:
            raise ValueError(f"{name} {part!r} is out of range: give {low} to {high}, low-high")
        found.update(range(first, last + 1, step))
    return {value % 7 for value in found} if name == "day of week" else found


def _next(sets: list[set[int]], either: bool, start: datetime, count: int) -> list[datetime]:
    minutes, hours, days, months, weekdays = sets
    found: list[datetime] = []
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    for offset in range(_HORIZON_DAYS):
        day = midnight + timedelta(days=offset)
        in_month, in_week = day.day in days, day.isoweekday() % 7 in weekdays
        if day.month not in months or not (in_month or in_week if either else in_month and in_week):
            continue
        for hour in sorted(hours):
            for minute in sorted(minutes):
                time = day.replace(hour=hour, minute=minute)
                if time > start:
                    found.append(time)
                if len(found) == count:
                    return found
    return found


def _step(field: str) -> int:
    return int(field[2:]) if re.fullmatch(r"\*/\d+", field) else 1


def _explain(fields: list[str], sets: list[set[int]], either: bool) -> str:
    minute, hour, month_day, month, week_day = fields
    if len(sets[0]) * len(sets[1]) <= 6:
        clock = [f"{h:02}:{m:02}" for h in sorted(sets[1]) for m in sorted(sets[0])]
        parts = ["at " + _and(clock)]
    else:
        parts = [_every(minute, "minute", sets[0])]
        if hour != "*":
            parts.append(_every(hour, "hour", sets[1]))
    days = []
    if month_day != "*":
        days.append("on " + _every(month_day, "day", sets[2]) + " of the month")
    if week_day != "*":
        words = re.fullmatch(r"(\d)-(\d)", week_day)
        names = [_DAYS[n] for n in sorted(sets[4], key=lambda n: n or 7)]
        span = f"{_DAYS[int(words[1]) % 7]} to {_DAYS[int(words[2]) % 7]}" if words else _and(names)
        days.append("on " + span)
    parts += [" or ".join(days)] if either else days
    if month != "*":
        parts.append("in " + _and([_MONTHS[n - 1] for n in sorted(sets[3])]))
    if hour != "*" and not days and month == "*":
        parts.append("every day")
    return ", ".join(parts)


def _every(field: str, unit: str, values: set[int]) -> str:
    if field == "*":
        return f"every {unit}"
    if _step(field) > 1:
        return f"every {_step(field)} {unit}s"
    if span := re.fullmatch(r"(\d+)-(\d+)", field):
        return f"every {unit} from {span[1]} to {span[2]}"
    return f"{unit} " + _and([str(value) for value in sorted(values)])


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
