"""Closed choices and listed examples that a request names, also by stem or misspelt (typo). Pure.

A value that is not one of the choices is refused when inputs are parsed, in
`execution/parse_inputs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from pulsus.core.arguments.candidates.candidate import Candidate, make_candidate, make_from_words
from pulsus.core.arguments.candidates.flag_candidates import LEAST_LETTERS, LEAST_RATIO, NEGATIONS
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans, Span
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.text.tokens import STOP_WORDS
from pulsus.core.types import JsonValue

_OPEN_CHOICES = frozenset(("", "all", "any", "none", "other", "default", "auto", "dontcare"))
"""Choices that leave it open. A request that has the word does not choose them by it."""

_FILE = stem_in_full("file")
_WRITTEN_AS_ONE = frozenset(("identifier", "quoted", "assign", "file", "path"))


def find_choices(
    one: Input, choices: Sequence[JsonValue], kind: str, found: RequestSpans
) -> Iterator[Candidate]:
    """Yield the choices that the request names, each at every place where it does."""
    if not choices:
        return
    low = [word.text.lower() for word in found.words]
    stems = [stem_in_full(word) for word in low]
    exact = frozenset(str(choice).lower() for choice in choices).intersection(low)
    for choice in choices:
        if isinstance(choice, bool) or choice is None or str(choice).lower() in _OPEN_CHOICES:
            continue
        if isinstance(choice, int | float) or re.fullmatch(r"\d+(?:\.\d+)?", str(choice)):
            yield from _same_number(one, choice, kind, found.values)
        else:
            # "active" is not "activating" where both may be chosen.
            others = exact - {str(choice).lower()} if str(choice).isalpha() else frozenset()
            free = ["" if word in others else s for word, s in zip(low, stems, strict=True)]
            yield from _named(one, choice, kind, found, low, free)


def _same_number(
    one: Input, choice: JsonValue, kind: str, values: Sequence[Span]
) -> Iterator[Candidate]:
    for span in values:
        if not isinstance(span.value, str) and span.value == float(str(choice)):
            yield make_candidate(one, span, choice, kind)


def _named(
    one: Input,
    choice: JsonValue,
    kind: str,
    found: RequestSpans,
    low: Sequence[str],
    stems: Sequence[str],
) -> Iterator[Candidate]:
    text = str(choice)
    parts = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    written = [part.lower() for part in parts]
    if all(part in STOP_WORDS for part in written):
        return
    wanted = [stem_in_full(part) for part in written]
    places = [
        place
        for place in range(len(stems) - len(wanted) + 1)
        if stems[place : place + len(wanted)] == wanted
        and not found.words[place + len(wanted) - 1].sign_follows
    ]
    if "*" in text:  # `*.log` is meant by "log files", and not by "files in logs"
        places = [place for place in places if stems[place + len(wanted) :][:1] == [_FILE]]
    for place in places:
        end = place + len(wanted)
        mine = "my" in low[max(0, place - 1) : place]
        how = f"negated {kind}" if mine or _is_negated(low, place) else kind
        alike = 1.0 if low[place:end] == written else 0.9
        yield make_from_words(one, choice, how, found.words[place:end], alike)
    if not places and kind == "choice":
        yield from _nearly_named(one, choice, wanted, found.words, low, stems)
    for span in found.values:
        if span.kind in _WRITTEN_AS_ONE and span.text.lower() == text.lower():
            yield Candidate(
                one.place, kind, choice, (span,), span.start, span.end, quoted=span.quoted
            )


def _nearly_named(
    one: Input,
    choice: JsonValue,
    wanted: Sequence[str],
    words: Sequence[Span],
    low: Sequence[str],
    stems: Sequence[str],
) -> Iterator[Candidate]:
    """A misspelt choice of one word, or at least half of the words of a longer one."""
    if len(wanted) == 1:
        if len(wanted[0]) < LEAST_LETTERS:
            return
        for place, word in enumerate(stems):
            ratio = fuzz.ratio(wanted[0], word, score_cutoff=LEAST_RATIO)
            if ratio:
                how = "negated choice" if _is_negated(low, place) else "choice"
                yield make_from_words(one, choice, how, [words[place]], ratio / 125)
        return
    places = sorted(stems.index(word) for word in wanted if word in stems)
    if places and 2 * len(places) >= len(wanted):
        alike = 0.6 * len(places) / len(wanted)
        yield make_from_words(one, choice, "choice", [words[p] for p in places], alike)


def _is_negated(low: Sequence[str], place: int) -> bool:
    return not NEGATIONS.isdisjoint(low[max(0, place - 4) : place])
