"""Enumerations of a request for an array input: `133 and 34`, or a single value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pulsus.core.arguments.candidates.candidate import Candidate, make_candidate
from pulsus.core.arguments.candidates.choice_candidates import find_choices
from pulsus.core.arguments.candidates.number_candidates import as_integer
from pulsus.core.arguments.candidates.text_candidates import behind_its_name, read_text
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans, Span
from pulsus.core.types import JsonValue
from pulsus.late_pattern import late_pattern

_NUMBER_KINDS = ("number", "numeral", "counted", "assign", "money")
_KINDS_TOGETHER = (
    ("quoted",),
    ("name", "region"),
    ("identifier",),
    ("path", "file"),
    ("host", "address"),
    ("phrase",),
)
"""The members of one list of texts are of kinds in one group."""

_JOIN = late_pattern(
    r"\s*(?:,|and|or|&|vs\.?|versus|,\s*and|,\s*or|plus|[\"'])?"
    r"\s*[\"']?\s*(?:and|or|the|an?)?\s*[\"']?\s*\Z",
    re.IGNORECASE,
)
_MOST_BETWEEN = 24
"""The most characters between two members of a list."""


def find_lists(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """Yield the lists that suit the type of the input's items."""
    if one.choices:
        yield from _lists(one, list(find_choices(one, one.choices, "choice", found)), found.request)
    elif one.item in ("integer", "number"):
        yield from _lists(one, list(_numbers(one, found)), found.request)
    elif one.item == "string":
        for kinds in _KINDS_TOGETHER:
            spans = [s for s in (*found.values, *found.phrases) if s.kind in kinds]
            yield from _lists(one, [read_text(one, s) for s in spans], found.request)
            yield from _named_single(one, spans)
        examples = list(find_choices(one, one.examples, "example", found))
        yield from _lists(one, examples, found.request)


def stands_beside(one: Candidate, other: Candidate, request: str) -> bool:
    """Return True if `other` follows `one` behind a comma or "and"."""
    between = request[one.end : other.start]
    return other.start >= one.end and bool(between.strip()) and _joins(between)


def _numbers(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    for span in found.values:
        if span.kind not in _NUMBER_KINDS or isinstance(span.value, str):
            continue
        whole = as_integer(span.value)
        if whole is not None:
            yield make_candidate(one, span, whole)
        elif one.item == "number":
            yield make_candidate(one, span, span.value)


def _lists(one: Input, members: Sequence[Candidate], request: str) -> Iterator[Candidate]:
    runs: list[list[Candidate]] = []
    for member in sorted(members, key=lambda c: (c.start, -c.end)):
        if runs and member.start < runs[-1][-1].end:
            continue
        if runs and _joins(request[runs[-1][-1].end : member.start].strip("[](){}")):
            runs[-1].append(member)
        else:
            runs.append([member])
    for run in runs:
        kind = f"{run[0].kind}s" if len(run) > 1 else f"single_{run[0].kind}"
        values: list[JsonValue] = [member.value for member in run]
        places = tuple(span for member in run for span in member.spans)
        yield Candidate(one.place, kind, values, places, run[0].start, run[-1].end, run[0].quoted)


def _named_single(one: Input, spans: Sequence[Span]) -> Iterator[Candidate]:
    """`column email` and `column is email` for an input `columns`: one member, behind its name."""
    for span in spans:
        for named in behind_its_name(one, span):
            name = span.text[: named.start - span.start].split()[-1]
            if " " in str(named.value) or name.lower().endswith("s"):  # "the columns move"
                continue
            yield replace(named, kind="single_named", value=[named.value])


def _joins(between: str) -> bool:
    # Single blanks first: the pattern tries every way to share out a long run of blanks.
    text = " ".join(between.split())
    return len(text) <= _MOST_BETWEEN and _JOIN.match(text) is not None
