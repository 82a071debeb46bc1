"""Turn the text that a rule matched into spans: addresses, dates, schedules, amounts. Pure.

`measures.py` reads amounts, `dates.py` days and times. The standard library reads addresses and
networks. A text that only looks like a value gives none. Invalid addresses, dates and schedules are
dropped here.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pulsus.core.arguments.spans.dates import iso_date, read_clock
from pulsus.core.arguments.spans.measures import (
    read_age_option,
    read_counted,
    read_measure,
    read_money,
    read_number,
    to_number,
)
from pulsus.core.arguments.spans.span import Span
from pulsus.core.arguments.spans.value_patterns import INSIDE_QUOTES, NUMBER
from pulsus.late_pattern import late_pattern

_TRAILING = ".,;:!?)]}»”’'\""
_FIELD = r"(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?"
_FIELDS = rf"{_FIELD}(?:,{_FIELD})*"
_CRON = late_pattern(rf"{_FIELDS}(?:[ \t]{_FIELDS}){{3}}[ \t](?:{_FIELDS}|[A-Za-z,-]+)\Z")
_MOST_OF_FIELD = (59, 23, 31, 12, 7)

Reader = Callable[[str, str, int], Iterator[Span]]
"""Gives the spans of (kind, text, start)."""


def read_span(kind: str, text: str, start: int) -> list[Span]:
    """Return the readings of a text that the rule `kind` matched at `start`.

    A number that does not fit into a float (400 digits) is no value.
    """
    found = _READERS.get(kind, _plain)(kind, text, start)
    return [s for s in found if isinstance(s.value, str) or math.isfinite(s.value)]


def _plain(kind: str, text: str, start: int) -> Iterator[Span]:
    kept = text.rstrip(_TRAILING) if kind in ("url", "path", "file") else text
    if kept and not (kind == "url" and "{" in kept):  # a template is no address
        yield Span(kind, start, start + len(kept), kept, kept)


def _quoted(_: str, text: str, start: int) -> Iterator[Span]:
    closed = text[-1] in "\"'`”" and len(text) > 1
    inner = text[1:-1] if closed else text[1:].rstrip(".?! ")
    if not inner.strip():
        return
    found = INSIDE_QUOTES.fullmatch(inner)
    if found and found.lastgroup:
        for span in read_span(found.lastgroup, inner, start + 1):
            yield Span(span.kind, span.start, span.end, span.text, span.value, span.unit, True)
    elif re.fullmatch(NUMBER, inner):
        for span in read_number("number", inner, start + 1):
            yield Span("number", span.start, span.end, span.text, span.value, quoted=True)
    yield Span("quoted", start + 1, start + 1 + len(inner), inner, inner, quoted=True)


def _address(_: str, text: str, start: int) -> Iterator[Span]:
    host, port = text, ""
    if text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        value = str(ipaddress.ip_address(host))
    except ValueError:
        return
    yield Span("address", start, start + len(host), host, value)
    yield from _port(port, start + len(host) + 1)


def _network(_: str, text: str, start: int) -> Iterator[Span]:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return
    yield Span("network", start, start + len(text), text, text)


def _host(_: str, text: str, start: int) -> Iterator[Span]:
    host, _, port = text.partition(":")
    yield Span("host", start, start + len(host), host, host)
    yield from _port(port, start + len(host) + 1)


def _port(digits: str, start: int) -> Iterator[Span]:
    if digits and 0 < int(digits) < 65536:
        yield Span("port", start, start + len(digits), digits, float(digits))


def _prefix(_: str, text: str, start: int) -> Iterator[Span]:
    digits = text[1:].rstrip("s")
    if int(digits) <= 128:
        yield Span("prefix", start + 1, start + 1 + len(digits), digits, float(digits))


def _assign(_: str, text: str, start: int) -> Iterator[Span]:
    """`name = value`: the place is that of the value, and the name is kept as its unit."""
    name, _, behind = text.partition("=")
    value = behind.strip()
    at = start + len(text) - len(value)
    read = to_number(value) if re.fullmatch(NUMBER, value) else value
    yield Span("assign", at, at + len(value), value, read, name.strip().lower())


def _date(kind: str, text: str, start: int) -> Iterator[Span]:
    value = text if kind == "datetime" and ":" in text else iso_date(text) or text
    yield Span("date", start, start + len(text), text, value, kind)


def _clock(_: str, text: str, start: int) -> Iterator[Span]:
    time = read_clock(text)
    if time:
        yield Span("clock", start, start + len(text), text, time)


def _cron(kind: str, text: str, start: int) -> Iterator[Span]:
    """A schedule. A text that only looks like one is read again as numbers."""
    numbers = [map(int, re.findall(r"\d+", field)) for field in text.split()]
    limits = zip(numbers, _MOST_OF_FIELD, strict=True)
    if _CRON.match(text) and all(n <= most for field, most in limits for n in field):
        yield Span(kind, start, start + len(text), text, text)
        return
    for number in re.finditer(NUMBER, text):
        yield from read_number("number", number.group(), start + number.start())


_READERS: Final[Mapping[str, Reader]] = {
    "quoted": _quoted,
    "cron": _cron,
    "network": _network,
    "address": _address,
    "datetime": _date,
    "prefix": _prefix,
    "host": _host,
    "date": _date,
    "clock": _clock,
    "money": read_money,
    "measure": read_measure,
    "with_unit": read_counted,
    "age_option": read_age_option,
    "number": read_number,
    "assign": _assign,
}
