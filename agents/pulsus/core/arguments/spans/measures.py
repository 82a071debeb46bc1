"""Read amounts with their unit: durations, sizes, percentages, money, numbers with letters. Pure.

A duration is in seconds, a size in bytes. The units are in `number_words.py`, their factors in
`core/text/unit_factors.py`. An input gets it in its own unit by
`core/arguments/candidates/number_candidates.py`. Durations and sizes of shell commands are read in
`commands/cost/quantities.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulsus.core.arguments.spans.number_words import NUMBER_WORDS, ORDINAL_ENDINGS, SCALES, UNITS
from pulsus.core.arguments.spans.span import Span
from pulsus.core.arguments.spans.value_patterns import MEASURE, NUMBER
from pulsus.late_pattern import late_pattern

_MEASURE_KINDS = {"seconds": "duration", "bytes": "size", "percent": "percent"}
_WITH_SCALE = late_pattern(rf"({NUMBER})[ ]?([A-Za-z]*)")


def read_measure(_: str, text: str, start: int) -> Iterator[Span]:
    """`5 GB` as bytes, and before it the bare `5`: `20 days` suits an input `days` as 20."""
    parts = MEASURE.match(text)
    # Letters that only count as the same without case (`ſ` and `s`) have no entry.
    unit = parts[2].lower() if parts else ""
    if not parts or unit not in UNITS:
        return
    amount = parts[1].lower()
    number = 1.0 if amount in ("a", "an") else NUMBER_WORDS.get(amount)
    if number is None:
        if not re.fullmatch(NUMBER, amount):
            return
        number = to_number(amount)
    base, factor = UNITS[unit]
    if amount not in ("a", "an"):
        yield Span("counted", start, start + len(amount), parts[1], number, unit)
    yield Span(_MEASURE_KINDS[base], start, start + len(text), text, number * factor, unit)


def read_age_option(_: str, text: str, start: int) -> Iterator[Span]:
    """`find -mtime -2`: two days. The sign says which side of that age is meant."""
    option, number = text.split()
    unit = "days" if option.endswith("time") else "minutes"
    amount = abs(to_number(number))
    at = start + len(text) - len(number)
    yield Span("duration", at, at + len(number), number, amount * UNITS[unit][1], unit)


def read_number(_: str, text: str, start: int) -> Iterator[Span]:
    """`1,200`, `5k` and `4th`: a number or an ordinal."""
    found = _WITH_SCALE.match(text)
    if not found:
        return
    tail = found[2].lower()
    kind = "ordinal" if tail in ORDINAL_ENDINGS else "number"
    number = to_number(found[1]) * SCALES.get(tail, 1.0)
    yield Span(kind, start, start + len(text), text, number, tail if tail in ("s", "x") else "")


def read_counted(_: str, text: str, start: int) -> Iterator[Span]:
    """`440Hz`, `10kg` and `4th`: a number with letters, and a word."""
    found = re.match(r"(\d+(?:\.\d+)?)(.*)", text)
    if not found:
        return
    tail = found[2].strip().lower()
    kind = "ordinal" if tail in ORDINAL_ENDINGS else "counted"
    scaled = tail in SCALES and found[2].strip() != "K"  # `298K` is a temperature
    number = float(found[1]) * (SCALES[tail] if scaled else 1.0)
    unit = "" if scaled else tail
    yield Span("number" if not unit else kind, start, start + len(text), text, number, unit)
    if kind != "ordinal":
        yield Span("identifier", start, start + len(text), text, text)


def read_money(_: str, text: str, start: int) -> Iterator[Span]:
    """`$5`, `3m euros`: an amount of money."""
    found = _WITH_SCALE.search(text)
    if found:
        scale = {"m": 1e6, **SCALES}.get(found[2].lower(), 1.0)
        yield Span("money", start, start + len(text), text, to_number(found[1]) * scale)


def to_number(digits: str) -> float:
    """Return digits with commas as a number."""
    return float(digits.replace(",", ""))
