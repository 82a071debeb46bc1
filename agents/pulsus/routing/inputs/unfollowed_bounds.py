"""Find bounds and periods of a request ("under 10 MB", "last week") that nothing follows. Pure.

`routing/inputs/unfollowed_restrictions.py` calls this check; `routing/inputs/missing_inputs.py`
asks or refuses.

A bound that no input takes does not restrict the answer, which then is one to another request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pulsus.core.compose.selection.row_filters import BOUND
from pulsus.core.text.comparison_words import LARGER, SMALLER
from pulsus.core.text.tokens import words
from pulsus.core.types import ToolSpec
from pulsus.late_pattern import DIGITS, late_pattern

_NUMBER: Final = late_pattern(r"\d+(?:[.,]\d+)*")
_BEHIND: Final = late_pattern(
    r"(?i)(?:\s?%|[ -]?(?:[kmgtp]i?b|bytes?|percent|per\s?cent|(?:second|minute|hour|day|week|month"
    r"|year)s?)\b)?(?:\s+(?:free|available|used|full|left|old|ago)\b)?"
)
"""The unit of a bound, and the word that says what it measures."""
_UP_TO: Final = late_pattern(r"(?i)\bup\s+to\s+\d[\d.,]*", words=DIGITS)
_SHARE: Final = late_pattern(
    r"(?i)\b\d[\d.,]*\s?(?:%|percent|per\s?cent)\s+(?:(?:or|and)\s+less\s+)?(?:free|available)\b",
    words=("free", "available"),
)
_OR_LESS: Final = late_pattern(
    r"(?i)\b\d[\d.,]*[ -]?(?:%|[a-z]{1,10})?\s+(?:free\s+)?"
    rf"(?:or\s+(?:{SMALLER}|{LARGER})|(?:or|and)\s+(?:above|below|upwards?))\b",
    words=DIGITS,
)
_UNIT: Final = (
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|mornings?"
    r"|afternoons?|evenings?|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
)
_CLOCK: Final = r"\d{1,2}(?::\d{2}(?::\d{2})?)?\s?(?:[ap]\.?m\b)?"
_DATE: Final = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?"
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT: Final = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|ten|twelve|few)"
_SPAN: Final = late_pattern(
    r"(?i)\b(?:(?:in|within|during|over|for|of|from)\s+)?(?:the\s+)?(?P<said>(?:last|past|previous|this)"
    rf"\s+(?:{_COUNT}\s+)?(?P<core>{_UNIT}))\b(?!['’]|\s+(?:of|on|hour)\b)",
    words=("last", "past", "previous", "this"),
)
_SINCE: Final = late_pattern(
    rf"(?i)\b(?:since|before|after|until|till)\s+(?P<said>(?P<core>{_DATE}|{_CLOCK}(?=\s|[,;.?!]|$)"
    rf"|noon|midnight|{_WEEKDAY}\b))",
    words=(*DIGITS, "noon", "midnight", "day"),
)
_DAY: Final = late_pattern(
    r"(?i)\b(?:since\s+|from\s+)?(?P<said>(?P<core>yesterday))\b(?!['’])", words=("yesterday",)
)
_BETWEEN: Final = late_pattern(
    rf"(?i)\bbetween\s+(?=\d)[^,;]{{1,30}}?\s+and\s+(?P<said>(?P<core>{_DATE}"
    r"|\d{1,2}(?::\d{2}){0,2}\s?[ap]\.?m\b|\d{1,2}(?::\d{2}){1,2}|\d[\d.,]*))",
    words=("between",),
)
_FILE: Final = late_pattern(r"/|\w\.\w")
"""A sign of a file: "the log of yesterday" may be the file itself."""
_NO: Final = late_pattern(r"(?i)\b(?:no|not)\s+\Z")


def find_unfollowed_bounds(
    text: str, rest: str, tools: Sequence[ToolSpec], numbers: Collection[float]
) -> Iterator[tuple[int, str]]:
    """Yield place and words of each bound and period of `text` that is not used.

    `rest` is the text with blanks in place of the words that are used already, and `numbers` are
    the values of inputs.
    """
    for form in (BOUND, _UP_TO, _SHARE, _OR_LESS):
        for bound in form.finditer(rest):
            number = _NUMBER.search(bound[0])
            if number and float(number[0].replace(",", "")) not in numbers:
                behind = _BEHIND.match(text, bound.end())
                end = behind.end() if behind else bound.end()
                negation = _NO.search(text[max(0, bound.start() - 8) : bound.start()])
                start = bound.start() - (len(negation[0]) if negation else 0)
                yield start, text[start:end].strip(" .,")
    about = [phrase for tool in tools for phrase in _phrases(tool)]
    for form in (_SPAN, _SINCE, _BETWEEN, *(() if _FILE.search(text) else (_DAY,))):
        for period in form.finditer(text):
            start, end = period.span("core")
            said = period["said"].lower()
            is_open = rest[start:end] == period["core"]
            if is_open and (_NUMBER.search(said) or not any(said in one for one in about)):
                behind = _BEHIND.match(text, period.end())
                yield period.start(), text[period.start() : behind.end() if behind else end].strip()


def _phrases(tool: ToolSpec) -> Iterator[str]:
    yield " ".join(words(tool.summary))
    yield from (text.lower() for text in (tool.manifest.intents if tool.manifest else ()))
