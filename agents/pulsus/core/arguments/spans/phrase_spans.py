"""Find the names and phrases of a request that an input of plain text may take. Pure.

A name is a run of capitalised words. A phrase is a run of words between small words and signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.core.arguments.spans.phrase_words import (
    ALSO_NAMES,
    BETWEEN_PHRASES,
    FIRST_IN_SENTENCE,
    INSIDE_NAMES,
    TITLES,
)
from pulsus.core.arguments.spans.span import Span
from pulsus.late_pattern import late_pattern

MAX_WORDS: Final = 6
_MAX_WORDS_OF_NAME = MAX_WORDS + 2
_POSSESSIVES = ("'s", "’s", "'", "’")
_HOUSE_NUMBER = late_pattern(r"(?<![\w.,:/-])\d{1,5} \Z")
_NUMBER_BEHIND = late_pattern(r" \d{1,4}(?![\w.,:/]\d|\w)")
_GREETING = late_pattern(r"(?i)\b(?:hi|hey|hello),?\Z")


def find_phrases(request: str, words: Sequence[Span], firm: Sequence[Span]) -> list[Span]:
    """Return the names, phrases and parts of phrases, without the words inside the `firm` spans."""
    free = [w for w in words if not any(s.start <= w.start and w.end <= s.end for s in firm)]
    found: dict[tuple[int, int], Span] = {}
    for span in (*_names(request, free), *_phrases(request, free)):
        found.setdefault((span.start, span.end), span)
    return list(found.values())


def _span(kind: str, request: str, start: int, end: int) -> Span:
    text = request[start:end]
    ending = next((e for e in _POSSESSIVES if text.endswith(e)), "")
    text = text.removesuffix(ending)
    return Span(kind, start, start + len(text), text, text)


def _names(request: str, words: Sequence[Span]) -> Iterator[Span]:
    place = 0
    while place < len(words):
        if not _is_capital(words[place]) or _opens_sentence(request, words, place):
            place += 1
            continue
        last = _last_of_name(request, words, place)
        start, end = words[place].start, words[last].end
        yield _span("name", request, start, end)
        yield from _with_number(request, start, end)
        yield from _with_region(request, words, start, last)
        yield from _halves(request, words[place : last + 1])
        place = last + 1


def _last_of_name(request: str, words: Sequence[Span], first: int) -> int:
    last = first
    for place in range(first + 1, min(len(words), first + _MAX_WORDS_OF_NAME)):
        before = words[place - 1]
        gap = request[before.end : words[place].start]
        titled = gap == ". " and before.text in TITLES
        if (gap.strip(" ") not in ("", "-") and not titled) or before.text[-2:] in ("'s", "’s"):
            break
        if _is_capital(words[place]):
            last = place
        elif words[place].text.lower() not in INSIDE_NAMES:
            break
    return last


def _with_number(request: str, start: int, end: int) -> Iterator[Span]:
    """`221 Baker Street` and `Terminal 3`: a name with a number before or behind it."""
    house = _HOUSE_NUMBER.search(request[max(0, start - 7) : start])
    if house:
        yield _span("numbered", request, start - len(house.group()), end)
    behind = _NUMBER_BEHIND.match(request[end : end + 6])
    if behind:
        yield _span("numbered", request, start, end + behind.end())


def _with_region(request: str, words: Sequence[Span], start: int, last: int) -> Iterator[Span]:
    """`San Francisco, CA` and `Paris, France`: a name, a comma, one more name."""
    end = last + 1
    if end >= len(words) or not _is_capital(words[end]):
        return
    if request[words[last].end : words[end].start].strip() != ",":
        return
    while (
        end + 1 < len(words)
        and _is_capital(words[end + 1])
        and request[words[end].end : words[end + 1].start] == " "
    ):
        end += 1
    yield _span("region", request, start, words[end].end)


def _halves(request: str, words: Sequence[Span]) -> Iterator[Span]:
    """The parts of a name at its small words: `Rome and Milan`, `Museum of Art`."""
    small = [word.text.lower() in INSIDE_NAMES for word in words]
    for cut in range(len(words) - 1):
        if small[cut] == small[cut + 1]:
            continue
        if not small[cut]:
            yield _span("name", request, words[0].start, words[cut].end)
        if not small[cut + 1]:
            yield _span("name", request, words[cut + 1].start, words[-1].end)


def _phrases(request: str, words: Sequence[Span]) -> Iterator[Span]:
    """The runs of words, their beginnings and ends, and `X of Y`."""
    runs = _runs(request, words)
    for run in runs:
        for size in range(min(len(run), MAX_WORDS), 0, -1):
            kind = "phrase" if size == len(run) else "part"
            starts = sorted({0, len(run) - size}) if size > 1 else range(len(run))
            for start in starts:
                yield _span(kind, request, run[start].start, run[start + size - 1].end)
    for place in range(1, len(words) - 1):
        if words[place].text.lower() == "of":
            yield from _of_phrase(request, runs, words[place - 1], words[place])


def _runs(request: str, words: Sequence[Span]) -> list[list[Span]]:
    runs: list[list[Span]] = [[]]
    for place, word in enumerate(words):
        joined = place and request[words[place - 1].end : word.start].strip(" ") in ("", "-")
        if not joined:
            runs.append([])
        low = word.text.lower()
        opening = not runs[-1] and low in FIRST_IN_SENTENCE
        if low in BETWEEN_PHRASES or (opening and _opens_sentence(request, words, place)):
            runs.append([])
        else:
            runs[-1].append(word)
    return [run for run in runs if run]


def _of_phrase(request: str, runs: Sequence[list[Span]], before: Span, of: Span) -> Iterator[Span]:
    left = next((run for run in runs if run[-1] is before), None)
    right = next((run for run in runs if run[0].start > of.end), None)
    if left and right and right[0].start - of.end <= 5:
        yield _span("phrase", request, left[0].start, right[-1].end)


def _is_capital(word: Span) -> bool:
    low = word.text.lower()
    if low in FIRST_IN_SENTENCE and low not in ALSO_NAMES:
        return False
    return word.text[:1].isupper() and word.text not in ("I", "I'm", "I've", "I'd", "I'll")


def _opens_sentence(request: str, words: Sequence[Span], place: int) -> bool:
    # The last characters suffice: a copy of all text before each word would cost its square.
    before = request[max(0, words[place].start - 40) : words[place].start].rstrip()
    if before and before[-1] not in ".!?:\n" and not _GREETING.search(before[-8:]):
        return False
    low = words[place].text.lower()
    if low in FIRST_IN_SENTENCE or low in BETWEEN_PHRASES or place + 1 == len(words):
        return True
    return not _is_capital(words[place + 1])
