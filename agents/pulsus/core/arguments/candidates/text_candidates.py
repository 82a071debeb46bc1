"""Texts of a request for a string input, in the form that its description asks for. Pure.

Dates and times get the form here that the input's description asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta

from pulsus.core.arguments.candidates.candidate import KINDS_OF_ROLE, Candidate, make_candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans, Span
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.late_pattern import late_pattern

_KINDS = (
    "quoted", "name", "numbered", "region", "phrase", "part", "identifier", "url", "email", "path",
    "file", "host", "address", "network", "glob", "cron", "sysctl", "date", "datetime", "clock",
    "version", "assign", "number", "counted", "money", "percent",
)  # fmt: skip
_NAMES_OF_KINDS = frozenset(("id", "ids", "uuid", "api", "url", "ip"))
"""Words for a kind of value. They are no values."""

_WORDS_ALONE = frozenset(("name", "numbered", "phrase", "part", "identifier"))
_USERS = frozenset(map(stem_in_full, ["user", "username", "login", "uid"]))
_DEVICE = late_pattern(r"/dev/(?!shm/)")
_AMOUNTS = frozenset(("counted", "number", "money", "percent"))
_ASKS_MOMENT = late_pattern(r"(?i)dd[ t]hh:mm|\dT\d\d:\d\d|date and time|iso-?8601")
_ASKS_CLOCK = late_pattern(r"hh:mm|24|iso|\d\d:\d\d")
_ASKS_DATE = late_pattern(r"\bdate|yyyy|moment|t\d\d:\d\d|iso")
_ISO_DATE = late_pattern(r"(\d{4})-(\d{2})-(\d{2})")
_DATE_FORMS = {
    "mm/dd/yyyy": "{month}/{day}/{year}",
    "dd/mm/yyyy": "{day}/{month}/{year}",
    "mm-dd-yyyy": "{month}-{day}-{year}",
    "dd-mm-yyyy": "{day}-{month}-{year}",
}


def find_texts(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """Yield the texts that suit the input's role."""
    allowed = KINDS_OF_ROLE.get(one.role, _KINDS)
    for span in (*found.values, *found.phrases):
        if span.text.lower() in _NAMES_OF_KINDS:
            continue
        is_device = span.kind == "path" and _DEVICE.match(span.text)
        if is_device and "devic" not in one.described | one.words:
            continue  # a device is no file to read
        if one.role == "host" and "_" in span.text and span.kind in _WORDS_ALONE:
            continue  # a column, not a machine
        if span.kind in ("path", "file") and not one.words.isdisjoint(_USERS):
            continue  # a path is no user
        if one.region and span.kind in _WORDS_ALONE:
            continue  # the description asks for `City, State`
        if span.kind in allowed:
            yield read_text(one, span, found.now)
            if span.kind in ("phrase", "name"):
                yield from behind_its_name(one, span)


def read_text(one: Input, span: Span, now: datetime | None = None) -> Candidate:
    """Return the span as a text for the input, with dates, times and amounts in its form."""
    match span.kind:
        case "date" | "datetime":
            return _date(one, span)
        case "assign":
            return make_candidate(one, span, span.text)
        case kind if kind in _AMOUNTS:
            return make_candidate(one, span, re.sub(r"[$€£,%]", "", span.text).strip())
        case "clock":
            asked = _ASKS_CLOCK.search(one.description.lower())
            return make_candidate(one, span, _moment(one, span, now) if asked else span.text)
        case _ if one.formatted and ":" not in span.text:
            return make_candidate(one, span, span.text, "unformatted")
        case "address":
            return make_candidate(one, span, span.value)
        case _:
            return make_candidate(one, span, span.text)


def _date(one: Input, span: Span) -> Candidate:
    wants_time = _ASKS_MOMENT.search(one.description) is not None and ":" not in span.text
    written = str(span.value)
    wants_year = "yyyy" in one.description.lower() and not written[:4].isdecimal()
    kind = "part of date" if wants_time or wants_year else ""
    return make_candidate(one, span, _in_asked_form(one, span, written), kind)


def _in_asked_form(one: Input, span: Span, written: str) -> str:
    parts = _ISO_DATE.match(written)
    if not parts:
        return span.text
    low = one.description.lower()
    form = next((form for asked, form in _DATE_FORMS.items() if asked in low), "")
    year, month, day = parts.groups()
    return form.format(year=year, month=month, day=day) or written


def _moment(one: Input, span: Span, now: datetime | None) -> str:
    """Return a time of day; as the last such moment before now if a date belongs to it."""
    clock = str(span.value)
    low = one.description.lower().replace("yyyy-mm-dd hh:mm:ss", "")
    if now is None or not _ASKS_DATE.search(low):
        seconds = "hh:mm:ss" in low and not re.search(r"hh:mm(?!:ss)", low)
        return f"{clock}:00" if seconds and clock.count(":") == 1 else clock
    at = datetime.combine(now.date(), time.fromisoformat(clock[:5]), now.tzinfo)
    if at > now:
        at -= timedelta(days=1)
    return at.strftime("%Y-%m-%dT%H:%M")


def behind_its_name(one: Input, span: Span) -> Iterator[Candidate]:
    """`user deploy` for an input `user`: the words behind its name."""
    words = re.finditer(r"\S+", span.text)
    start = next((w.start() for w in words if stem_in_full(w.group().lower()) not in one.words), 0)
    if span.text[:start].strip():  # a span may begin with a blank
        text = span.text[start:]
        yield make_candidate(one, Span("named", span.start + start, span.end, text, text), text)
