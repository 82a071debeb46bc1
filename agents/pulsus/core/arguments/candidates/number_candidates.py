"""Numbers of a request for an integer or number input, in the input's own unit. Pure.

Units are converted here, and numbers out of the range of a port, a status or a year are dropped.
The numbers of a request are found by `core/arguments/spans/find_spans.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulsus.core.arguments.candidates.candidate import KINDS_OF_ROLE, Candidate, make_candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans, Span
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.late_pattern import late_pattern

MOST_INTEGER: Final = 1e15
"""Above it a float does not hold every integer, so the value could be another one."""

_RANGES = {"status": (100, 599), "year": (1000, 2999), "port": (0, 65535), "prefix": (0, 128)}
"""The least and the greatest number of a role."""

_KINDS = (
    "number", "numeral", "counted", "port", "prefix", "money", "percent", "size", "duration",
    "ordinal", "assign",
)  # fmt: skip
_HOUR = 3600.0
_LEAST_SHARE = 0.02
_NAMES_A_NUMBER = late_pattern(
    r"(?i)\b(pid|ppid|uid|gid|id|ticket|issue|pr|build|vlan|inode|job|release) ?#?\Z"
)
_CENTS = late_pattern(r"(?i)\bcents\b|\bsmallest unit\b")


def find_numbers(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """Yield the numbers that suit the input's role, unit and type."""
    yield from _named_levels(one, found)
    allowed = KINDS_OF_ROLE.get(one.role, _KINDS)
    for span in found.values:
        if span.kind not in allowed or isinstance(span.value, str):
            continue
        if span.unit == "s" and one.role in ("count", "number"):
            continue  # `how many 500s` is no number of rows
        named = _NAMES_A_NUMBER.search(found.request, max(0, span.start - 12), span.start)
        if named and stem_in_full(named[1].lower()) not in one.words:
            continue  # `pid 4411` counts nothing
        value = _converted(one, span, span.value)
        if value is not None and one.type == "integer":
            value = as_integer(value)
        if value is not None:
            kind = "share" if span.kind == "percent" and one.unit[0] != "percent" else ""
            yield make_candidate(one, span, value, kind)


def _named_levels(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """The number whose word the description says: `warnings count too` for a level 4."""
    for word in found.words:
        for name, number in one.levels:
            if stem_in_full(word.text.lower()) == name:
                yield make_candidate(one, word, number, "level")


def as_integer(value: float) -> int | None:
    """Return the value as an integer; None if it has a fraction or is too large to be exact."""
    return int(value) if abs(value) < MOST_INTEGER and value == int(value) else None


def _converted(one: Input, span: Span, number: float) -> float | None:
    """Return the number in the input's own unit; None if role or unit do not suit it."""
    least, most = _RANGES.get(one.role, (number, number))
    if not least <= number <= most:
        return None
    kind, factor = one.unit
    match span.kind:
        case "money" if _CENTS.search(one.description):
            return None
        case "counted":
            # `2 hours` for `hours`: the measure has the same number with its unit, and is taken.
            measured = span.unit not in ("s", "")
            return None if kind in ("duration", "size") and measured else number
        case "size" | "duration":
            if kind != span.kind or (factor >= _HOUR and number < factor * _LEAST_SHARE):
                return None  # `within 4 seconds` is no number of days
            return round(number / factor, 9)
        case "percent" if one.fraction:
            return number / 100
        case _:
            return number
