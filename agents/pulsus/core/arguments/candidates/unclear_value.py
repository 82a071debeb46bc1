"""Decide which unsure values a run may not leave out without asking. Pure.

`routing/inputs/missing_inputs.py` asks the person, or fails in a non-interactive run. A plain word
may be there for the sense of the request alone: "errors" names the tool. An identifier, a quoted
text or a path is there for its value, and an answer without it is the answer to another request.
The limits were chosen on 1,033 requests for tools that read (docs/benchmarks.md).
"""

from __future__ import annotations

from typing import Final

from pulsus.core.arguments.candidates.candidate import NO_FIT, Candidate, fit_of_kind
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.arguments.words.word_set import word_set
from pulsus.late_pattern import late_pattern

LEAST_P: Final = 0.75
LEAST_P_OF_DATA_NAMES: Final = 0.35
LEAST_P_OF_COLUMNS: Final = 0.05
"""Limits of p, below which most of such values belong to no input at all.

A word with underscores (`order_id`) is the name of data in each request that was looked at, and for
an input that wants columns nothing else.
"""

_PLACES = word_set("path file host address network url glob cron")
"""Kinds that suit only an input that wants them."""

_SPOKEN_FOR = word_set("quoted identifier sysctl assign email version mapping")
_OF_A_LIST = late_pattern(r"(?:single_)?(\w+?)s?\Z")
_DATA_NAME = late_pattern(r"[A-Za-z]\w*_\w+")
_COLUMNS = frozenset(map(stem_in_full, ["column", "columns", "field", "fields"]))
_ABBREVIATION = late_pattern(r"[A-Z]+")
_NUMBERED = late_pattern(r"[A-Za-z]+(?:-[A-Za-z]+)*-\d+")


def is_unclear(one: Input, candidate: Candidate, p: float) -> bool:
    """Return True if the words stand for a value that is likely meant for this optional input."""
    text = candidate.spans[0].text
    if one.required or p < _least_p(one, text, candidate):
        return False
    # "MB" is a word of the trade. The request is about the machine "app-02" and the ticket
    # "INC-8812".
    if any(form.fullmatch(text) for form in (_ABBREVIATION, _NUMBERED)):
        return False
    kind = _kind_of_members(one, candidate)
    if kind in _PLACES:
        return fit_of_kind(one, kind) != NO_FIT
    return kind in _SPOKEN_FOR


def _least_p(one: Input, text: str, candidate: Candidate) -> float:
    names_data = _DATA_NAME.fullmatch(text) is not None
    if not one.words.isdisjoint(_COLUMNS) and (names_data or candidate.quoted):
        return LEAST_P_OF_COLUMNS
    return LEAST_P_OF_DATA_NAMES if names_data else LEAST_P


def _kind_of_members(one: Input, candidate: Candidate) -> str:
    """Return the kind of span that a candidate is made of: that of its members for a list."""
    whole = _OF_A_LIST.match(candidate.kind) if one.type == "array" else None
    return whole.group(1) if whole else candidate.kind
