"""Find the typed values and the words of a request: paths, hosts, numbers, sizes, dates. Pure.

The patterns are in `value_patterns.py`, and `convert_matches.py` turns text into values. The most
characters and values of a request are limited here. Words behind `password` or `token` are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from pulsus.core.arguments.spans.convert_matches import read_span
from pulsus.core.arguments.spans.number_words import (
    NUMBER_WORDS,
    ORDINALS,
    UNITS,
    WORDS_OF_COUNTS,
)
from pulsus.core.arguments.spans.phrase_spans import find_phrases
from pulsus.core.arguments.spans.span import UNMISTAKABLE, RequestSpans, Span
from pulsus.core.arguments.spans.value_patterns import value_pattern
from pulsus.core.arguments.words.superlatives import LEAST, MOST
from pulsus.core.telemetry.sanitize import find_control
from pulsus.late_pattern import late_pattern

MAX_CHARS: Final = 4000
"""A longer request is a document, not a request: no value is read from it."""
MAX_VALUES: Final = 120
MAX_PHRASES: Final = 400

_TODAY = late_pattern(
    r"(?i)\btoday(?:'s)?(?: date)?(?: is)?[ ,]*"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?)?[ ]*(?:the )?\Z"
)
_PERIOD = late_pattern(
    r"(?i)\b(?:within|in|during|over|for|since|of)\s+the\s+(?:last|past)\s+"
    r"(minute|hour|day|week|month|year)\b(?!['’]|\s+of\b)"
    r"|\b(?<!the )(?<!of )(?:last|past)\s+(hour|day|week|month|year)\b(?!['’]|\s+of\b)"
)
"""A period without a number: "in the last hour"."""
_SURROGATES = late_pattern("[\ud800-\udfff]")
"""Half characters, which an undecodable byte on a command line becomes. No stemmer reads them."""
_SECRET = late_pattern(
    r"(?i)(\b(?:pass(?:word|wd|phrase)|secret|token|api[ _-]?key)\b"
    r"(?:(?:\s+(?:is|was)|\s*[=:])\s*|\s+(?=[\"'`]|\S*\d)))(\"[^\"]*\"|'[^']*'|`[^`]*`|\S+)"
)
"""The value behind "password is": it is no value of any input, and nothing shows it."""
_SUPERLATIVES = MOST | LEAST
_WORD_BEFORE = late_pattern(r"\b([A-Za-z]+) \Z")
_WORD_BEHIND = late_pattern(r"[ -]([A-Za-z]{3,16})\b")
_NOT_A_COUNT = late_pattern(r" (?:other|more|another|of the|by one|\w+ per)\b")


def find_spans(request: str, now: datetime | None = None) -> RequestSpans:
    """Return the readings of a request.

    None if it is longer than MAX_CHARS, or holds control characters: a value could be another one
    than it seems. At most MAX_VALUES values and MAX_PHRASES phrases are read, the first ones.
    """
    if len(request) > MAX_CHARS or find_control(request):
        return RequestSpans(request, (), (), (), now)
    request = _SURROGATES.sub(" ", request)
    request = _SECRET.sub(lambda found: found[1] + " " * len(found[2]), request)
    values: list[Span] = []
    words: list[Span] = []
    for match in value_pattern(request).finditer(request):
        kind = match.lastgroup or ""
        if kind == "word":
            words.append(_word(match))
            values.extend(_number_word(match))
            continue
        if _says_no_value(kind, match):
            continue
        values.extend(read_span(kind, match.group(), match.start()))
        if kind == "identifier":
            words.append(_word(match))
        elif kind == "measure":
            words.extend(_words_of_measure(match))
    values.extend(_periods(request))
    values = sorted(values, key=lambda span: span.start)[:MAX_VALUES]
    firm = [span for span in values if span.kind in UNMISTAKABLE or span.quoted]
    phrases = find_phrases(request, words, firm)[:MAX_PHRASES]
    return RequestSpans(request, values, words, phrases, now)


def _periods(request: str) -> Iterator[Span]:
    """Yield "hour" of "the last hour" as a duration of one hour."""
    for found in _PERIOD.finditer(request):
        group = found.lastindex or 1
        unit, (start, end) = found[group].lower(), found.span(group)
        yield Span("duration", start, end, found[group], UNITS[unit][1], unit)


def _says_no_value(kind: str, match: re.Match[str]) -> bool:
    """Return True for the date of the request itself ("today is ..."), and for `2 pi`."""
    request = match.string
    if kind in ("date", "datetime"):
        return _TODAY.search(request[max(0, match.start() - 40) : match.start()]) is not None
    behind = request[match.end() : match.end() + 4].lower().strip(" ")
    return kind == "number" and behind in ("pi", "π")


def _number_word(match: re.Match[str]) -> Iterator[Span]:
    word = match.group().lower().rstrip(".")
    if _NOT_A_COUNT.match(match.string, match.end()):
        return
    if word in NUMBER_WORDS:
        value = NUMBER_WORDS[word]
        # Beside a superlative a word counts as surely as digits do: "five biggest" is "5 biggest".
        kind = "number" if word in WORDS_OF_COUNTS and _is_ranked(match) else "numeral"
        yield Span(kind, match.start(), match.end(), match.group(), value)
    elif word in ORDINALS:
        place = ORDINALS.index(word) + 1.0
        yield Span("ordinal", match.start(), match.end(), match.group(), place)


def _is_ranked(match: re.Match[str]) -> bool:
    """Return True if the word before or behind the number is a superlative."""
    before = _WORD_BEFORE.search(match.string[max(0, match.start() - 20) : match.start()])
    behind = _WORD_BEHIND.match(match.string, match.end())
    return any(found and found[1].lower() in _SUPERLATIVES for found in (before, behind))


def _word(match: re.Match[str]) -> Span:
    text = match.group().rstrip(".")
    sign = match.string[match.end() : match.end() + 1] in ("#", "+")
    return Span("word", match.start(), match.start() + len(text), text, text, sign_follows=sign)


def _words_of_measure(match: re.Match[str]) -> Iterator[Span]:
    for word in re.finditer(r"[^\W\d_]+", match.group()):
        start = match.start() + word.start()
        yield Span("word", start, start + len(word.group()), word.group(), word.group())
