"""The separator of a table that a request names: `separated by ;`, `| separated`, `pipes`. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulsus.core.arguments.candidates.candidate import Candidate, make_candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans, Span
from pulsus.late_pattern import late_pattern

NAMES_OF_DELIMITERS: Final = {
    "comma": ",", "semicolon": ";", "semi-colon": ";", "pipe": "|", "tab": "\t", "colon": ":",
    "space": " ",
}  # fmt: skip
_WORD = r"separat(?:ed|or|es?)|delimit(?:ed|er|s)?|split|sep"
_NAME = "|".join(NAMES_OF_DELIMITERS)
_SIGN = late_pattern(
    rf"(?i)(?:\b(?:{_WORD})(?: (?:is|are|by|with|on|the|a|an|it|character|char)){{0,3}}:? "
    rf"?[\"'`]?(?P<behind>[;|,:~^#]|\b(?:{_NAME})s?\b)"
    rf"|(?P<before>(?<!\w)[;|,:~^#]|\b(?:{_NAME})s?\b)[\"'`]?[ -](?:{_WORD}))"
)


def find_delimiters(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """Yield the characters that the request says columns are separated by."""
    for match in _SIGN.finditer(found.request):
        group = "behind" if match["behind"] else "before"
        start, end = match.span(group)
        text = match[group]
        value = NAMES_OF_DELIMITERS.get(text.lower().removesuffix("s"), text)
        yield make_candidate(one, Span("delimiter", start, end, text, value), value)
