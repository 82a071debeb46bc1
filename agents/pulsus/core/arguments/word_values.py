"""Read plain words that stand for a value: "today" for a date, "the last line" for one row. Pure.

The weights of the filler know nothing of them, because a day is no written date and a noun in the
singular is no number. Only an input whose name and description ask for such a value gets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from pulsus.core.arguments.inputs import Input
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

WORD_P: Final = 0.95

_DAY = re.compile(r"(?i)\b(?:(since|from|after)\s+)?(today|yesterday)\b(?:'s|’s)?")
_ONE_ROW = re.compile(
    r"(?i)\b(?:the|its?|whose)\s+(?:very\s+)?(?:last|latest|newest|final|(?:most\s+)?recent)"
    r"\s+(?:(?:log|journal|error|warning|critical|fatal|info|debug)\s+)?"
    r"(?:line|entry|message|error|warning|record)\b(?!\s+(?:of\s+each|per|number)\b)"
)
_SAYS_ROWS = re.compile(r"(?i)\bhow many (?:\w+ ){0,2}(?:lines|entries|messages|rows|records)\b")


@dataclass(frozen=True, slots=True)
class WordValue:
    """The value of the input `name`, from the words `start` to `end` of the request."""

    name: str
    value: JsonValue
    start: int
    end: int


def find_word_values(
    request: str, inputs: Sequence[Input], now: datetime | None
) -> Iterator[WordValue]:
    """Yield the values that plain words give to inputs. Days need `now`, in local time."""
    names = {one.name for one in inputs if one.role == "moment" and one.fillable}
    days = list(_DAY.finditer(request))
    if now is not None and len(days) == 1:
        yield from _day_values(days[0], names, now)
    one_row = _ONE_ROW.search(request)
    counts = [one for one in inputs if one.role == "count" and _SAYS_ROWS.search(one.description)]
    if one_row and len(counts) == 1:
        yield WordValue(counts[0].name, 1, one_row.start(), one_row.end())


def _day_values(day: re.Match[str], names: set[str], now: datetime) -> Iterator[WordValue]:
    """Yield the bounds of a day: "yesterday" ends where today begins, "since yesterday" not."""
    today = now.date()
    first = today if day[2].lower() == "today" else today - timedelta(days=1)
    start, end = day.span(2)
    if "since" not in names:
        return
    yield WordValue("since", first.isoformat(), start, end)
    if first != today and not day[1] and "until" in names:
        yield WordValue("until", today.isoformat(), start, end)
