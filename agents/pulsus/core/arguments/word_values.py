"""Read plain words that stand for a value: "today" for a date, "the last line" for one row. Pure.

Relative dates ("yesterday", "this week") are read here; written dates in
`core/arguments/spans/dates.py`. The weights of the filler know nothing of them, because a day is no
written date, a noun in the singular is no number, and only its place in "the same sku appears
twice" makes a word a column. Only an input whose name and description ask for such a value gets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import STOP_WORDS
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

WORD_P: Final = 0.95

_DAY = late_pattern(
    r"(?i)\b(?:(since|from|after)\s+)?(today|yesterday)\b(?:'s|’s)?", words=("today", "yesterday")
)
_CALENDAR = late_pattern(r"(?i)\bthis\s+(week|month|year)\b(?!['’])", words=("this",))
_ONE_ROW = late_pattern(
    r"(?i)\b(?:the|its?|whose)\s+(?:very\s+)?(?:last|latest|newest|final|(?:most\s+)?recent)"
    r"\s+(?:(?:log|journal|error|warning|critical|fatal|info|debug)\s+)?"
    r"(?:line|entry|message|error|warning|record)\b(?!\s+(?:of\s+each|per|number)\b)",
    words=("last", "latest", "newest", "final", "recent"),
)
_OFTEN = r"(?:twice|more\s+than\s+once|again|repeatedly|several\s+times|(?:two|three)\s+times)"
_OCCURS = r"(?:is|are|appears?|occurs?|shows?\s+up|comes?(?:\s+up)?|exists?|listed|used|there)"
_REPEATED: Final = tuple(
    late_pattern(rf"(?i){rule}")
    for rule in (
        rf"\bsame\s+(?P<column>[a-z_]\w{{0,60}})(?:\s+values?)?\s+(?:\w+\s+)?{_OCCURS}\b"
        rf"(?:\s+{_OFTEN})?",
        r"\b(?:with|have|has|share)\s+(?:the|an?)\s+(?:same|identical|repeated)\s+"
        r"(?P<column>[a-z_]\w{0,60})\b",
        r"\b(?:duplicated?|repeated|repeating|double)\s+(?P<column>[a-z_]\w{0,60})\s+"
        r"(?:values?|numbers?|fields?|cells?)\b",
        r"\b(?:duplicates?|repeats|(?:duplicated?|repeated)\s+(?:rows|lines|entries|records))\s+"
        r"(?:by|per|on)\s+(?:the\s+)?(?:column\s+)?(?P<column>[a-z_]\w{0,60})\b",
        rf"\b(?:any|an?|each|every|which|some)\s+(?P<column>[a-z_]\w{{0,60}})\s+"
        rf"(?:that\s+|which\s+)?(?:{_OCCURS}\s+){{1,2}}(?:\w+\s+)?{_OFTEN}\b",
        rf"\b(?:is|are|does|do)\s+(?:any|an?|each|every|the)\s+(?P<column>[a-z_]\w{{0,60}})\s+"
        rf"(?:{_OCCURS}\s+)?{_OFTEN}\b",
    )
)
"""Wordings for a column whose values are repeated: "the same sku appears twice"."""
_NO_COLUMNS: Final = word_set("""
    row rows line lines entry entries record records value values file files item items thing things
    one ones it text word column columns data content contents list number numbers time
    """)
_TABLE_FILE: Final = late_pattern(r"(?i)\.(?:csv|tsv)(?:\.gz)?(?!\w)")
_SAYS_EQUAL: Final = late_pattern(r"(?i)\bcolumns?\b.{0,60}\b(?:equal|same|compared|identical)\b")
_SAYS_ROWS = late_pattern(r"(?i)\bhow many (?:\w+ ){0,2}(?:lines|entries|messages|rows|records)\b")


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
    elif now is not None and not days:
        yield from _calendar_values(request, names, now)
    one_row = _ONE_ROW.search(request)
    counts = [one for one in inputs if one.role == "count" and _SAYS_ROWS.search(one.description)]
    if one_row and len(counts) == 1:
        yield WordValue(counts[0].name, 1, one_row.start(), one_row.end())
    yield from _repeated_column(request, inputs)


def _calendar_values(request: str, names: set[str], now: datetime) -> Iterator[WordValue]:
    """Yield the first day of "this week", "this month" or "this year"; a week begins on Monday."""
    found = _CALENDAR.search(request)
    if found is None or "since" not in names:
        return
    today = now.date()
    first = {
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
        "year": today.replace(month=1, day=1),
    }[found[1].lower()]
    yield WordValue("since", first.isoformat(), *found.span())


def _repeated_column(request: str, inputs: Sequence[Input]) -> Iterator[WordValue]:
    """Yield the column of a table whose repeated values a request looks for."""
    wanting = [
        one
        for one in inputs
        if one.type == "array" and one.item == "string" and _SAYS_EQUAL.search(one.description)
    ]
    if len(wanting) != 1 or not _TABLE_FILE.search(request):
        return
    for rule in _REPEATED:
        found = rule.search(request)
        if found and found["column"].lower() not in _NO_COLUMNS | STOP_WORDS:
            yield WordValue(wanting[0].name, [found["column"]], found.start(), found.end())
            return


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
