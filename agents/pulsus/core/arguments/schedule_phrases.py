"""Read a schedule and its command: "runs /opt/dump every night at 3:30" is `30 3 * * *`. Pure.

A cron expression that is written as such is read in `core/arguments/spans/convert_matches.py`. The
words are those of a request to a tool that writes a cron entry. The result is only proposed.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WEEKDAY = r"(?P<weekday>sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:days?)?"
_PERIODS: Final = {
    "minute": "* * * * *",
    "hour": "0 * * * *",
    "day": "0 0 * * *",
    "night": "0 0 * * *",
    "morning": "0 0 * * *",
    "week": "0 0 * * 0",
    "month": "0 0 1 * *",
    "year": "0 0 1 1 *",
    "weekday": "0 0 * * 1-5",
}
_ADVERBS: Final = {
    "hourly": "hour",
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
}
_MOST: Final = {"minute": 59, "hour": 23}
_CLOCK = r"\d{1,2}(?::\d{2})?\s*(?:[ap]\.?m\b)?|noon|midnight"
_EVERY = late_pattern(
    rf"""(?ix)\b(?:at\s+(?P<before>{_CLOCK})\s+)?(?:
    (?:every|each)\s+(?:(?P<number>\d{{1,2}})\s+(?P<unit>minute|hour)s
        |(?P<period>minute|hour|day|night|morning|weekday|week|month|year)\b|{_WEEKDAY}\b)
    |(?P<adverb>hourly|daily|nightly|weekly|monthly|yearly))
    (?:\s+at\s+(?P<behind>{_CLOCK}))?
    """
)
_COMMAND = late_pattern(
    r"""(?ix)\b(?:(?:un)?schedules?|runs?|running|executes?|executing|starts?|starting|launch(?:es)?
        |invokes?|triggers?|command|jobs?|script|entry|line|calls?|calling)\s+
    (?:(?:for|of)\s+)?(?:the\s+)?(?:(?:command|script)\s+)?(?!/etc/cron|/var/spool/cron)
    (?:"(?P<double>[^"]{1,400})"|'(?P<single>[^']{1,400})'
    |(?P<bare>[\w./~-]*[/.][^,;]*?)(?=\s+(?:every|each|hourly|daily|nightly|weekly|monthly|yearly
        |at|on|as|in|to|then|and|from|of|for)\b|[,;]|\s*$))
    """
)


@dataclass(frozen=True, slots=True)
class SchedulePhrase:
    """The words of a request, and the value that they say."""

    text: str
    value: str


def find_schedule(text: str) -> SchedulePhrase | None:
    """Return the five fields of cron that "every day at 6:15" says; None without such words."""
    found = list(_EVERY.finditer(text))
    if len(found) != 1:
        return None
    (match,) = found
    words, period = match.group().strip(), (match["period"] or "").lower()
    clock = match["behind"] or match["before"]
    if match["behind"] and match["before"]:
        return None
    if match["number"]:
        fields = _repeat(int(match["number"]), match["unit"].lower())
        return SchedulePhrase(words, fields) if fields and not clock else None
    if match["weekday"]:
        fields = f"0 0 * * {_DAYS.index(match['weekday'][:3].lower())}"
    else:
        fields = _PERIODS[period or _ADVERBS[match["adverb"].lower()]]
    if not clock:
        return SchedulePhrase(words, fields) if period != "morning" else None
    at = _read_clock(clock.strip().lower())
    minute, hour, *others = fields.split()
    if at is None or hour == "*" or minute == "*" or (period == "morning" and at[0] >= 12):
        return None
    return SchedulePhrase(words, " ".join((str(at[1]), str(at[0]), *others)))


def find_command(text: str) -> SchedulePhrase | None:
    """Return the one command that "runs COMMAND" names; a bare one needs a path or a dot."""
    found = list(_COMMAND.finditer(text))
    if len(found) != 1:
        return None
    command = (found[0]["double"] or found[0]["single"] or found[0]["bare"]).strip()
    return SchedulePhrase(command, command) if command else None


def _repeat(number: int, unit: str) -> str | None:
    """Return the fields of "every 15 minutes"; None for a number that cron cannot repeat evenly."""
    whole = _MOST[unit] + 1
    if number < 1 or whole % number:
        return None
    if number == whole:
        return _PERIODS["hour" if unit == "minute" else "day"]
    step = "*" if number == 1 else f"*/{number}"
    return f"{step} * * * *" if unit == "minute" else f"0 {step} * * *"


def _read_clock(text: str) -> tuple[int, int] | None:
    """Return hour and minute of `3:30`, `6 pm`, `noon`; None for a time that does not exist."""
    if text in ("noon", "midnight"):
        return (12 if text == "noon" else 0), 0
    parts = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?\s*(?:([ap])\.?m)?", text.strip())
    if parts is None:
        return None
    hour, minute, half = int(parts[1]), int(parts[2] or 0), parts[3]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None
