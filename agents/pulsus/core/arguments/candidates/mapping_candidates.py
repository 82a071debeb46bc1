"""Names with their values for an input that is a mapping: `vm.swappiness is 10`. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans, Span
from pulsus.core.types import JsonValue
from pulsus.late_pattern import late_pattern

_BETWEEN = late_pattern(
    r"\s*(?:=|==|is|are|at|to|on|be|as|still|really|set|should|must|ought|has|have|exactly|equal"
    r"|equals|[ \t]){1,6}\s*\Z",
    re.IGNORECASE,
)
_MOST_BETWEEN = 30
_NAMES = ("sysctl", "identifier")
_VALUES = ("number", "identifier", "quoted", "counted")


def find_mappings(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """Yield one mapping of all names that a value follows; texts, as the contract asks for."""
    value: dict[str, JsonValue] = {}
    places: list[Span] = []
    spans = sorted(found.values, key=lambda span: span.start)
    for name, behind in itertools.pairwise(spans):
        if name.kind not in _NAMES or behind.kind not in _VALUES:
            continue
        between = found.request[name.end : behind.start]
        if len(between) <= _MOST_BETWEEN and between.strip() and _BETWEEN.match(between):
            value[name.text] = behind.text
            places += (name, behind)
    for span in found.values:
        if span.kind == "assign" and span.unit:
            value[span.unit] = span.text
            places.append(span)
    if value:
        start, end = min(s.start for s in places), max(s.end for s in places)
        yield Candidate(one.place, "mapping", value, tuple(places), start, end)
