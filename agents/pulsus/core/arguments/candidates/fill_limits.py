"""From which probability a value is filled or proposed, by its kind and its input. Pure.

These are the thresholds of confidence for inputs. Kinds that cannot be mistaken (a path, a host, an
address) have a lower limit. `core/arguments/filler.py` applies the limits, and `unclear_value.py`
says which proposals may not be left out without asking. The threshold τ of tools is in
`core/compose/selection/choose_policy.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.core.arguments.candidates.candidate import NO_FIT, Candidate, fit_of_kind
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.value_patterns import SYSTEMD_UNIT
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.arguments.words.time_adverbs import TIME_ADVERBS
from pulsus.core.arguments.words.word_set import word_set
from pulsus.late_pattern import late_pattern

FIRM_LIMIT: Final = 0.84
CHOICE_LIMIT: Final = 0.84
NUMBER_LIMIT: Final = 0.9
FLAG_LIMIT: Final = 0.85
TEXT_LIMIT: Final = 0.91
PROPOSE: Final = 0.35
NEVER: Final = 2.0
PAIRED: Final = 0.85
"""Limits of p, chosen on development rows out of fold (docs/benchmarks.md)."""

FIRM = word_set("""
    path file host address network port url cron glob prefix sysctl size duration percent clock
    datetime
    """)
_NUMBERS = word_set("""
    number counted numeral duration size percent share assign port prefix ordinal money level
    """)
_WORDS_OF_FILES = frozenset(
    map(
        stem_in_full,
        [
            "file",
            "path",
            "folder",
            "document",
            "image",
            "picture",
            "script",
            "archive",
            "log",
            "export",
        ],
    )
)
_WORDS_OF_FIELDS = frozenset(
    map(stem_in_full, ["field", "column", "by", "op", "operator", "order", "sort"])
)
_WORDS_OF_UNITS = frozenset(map(stem_in_full, ["unit", "service", "name"]))
CHOICES = late_pattern("choice|listed|example")
_CLOSED_LIST = late_pattern(r"(?i)(?:one of|either|only \w+ in this \w+):?\s")
_MEMBER = late_pattern(r"[^\s,;:.`]+")
_WORDS_OF_LIMITS = frozenset(map(stem_in_full, ["limit", "top", "n"]))
_PLAIN_WORDS = ("name", "named", "phrase", "part")
_WORDS_OF_TIME = frozenset(
    map(
        stem_in_full,
        ["date", "time", "day", "when", "moment", "period", "since", "schedule", "frequency"],
    )
)
_PLAIN_NUMBERS = ("number", "numeral", "counted")
_MOST_ASKED = 200
_LONGEST_ASKING = 40
_ASKS_FOR_ROWS = late_pattern(
    r"(?i)\b(?:(?:show|list|give|print|display)(?:\s+(?:me|us))?(?:\s+(?:only|just))?"
    r"(?:\s+the)?(?:\s+(?:first|top))?|first|top)\s+\Z"
)


def raise_sure(
    p: float, features: Mapping[str, float], one: Input, candidate: Candidate, request: str
) -> float:
    """Return p, and at least the limit for two forms of which the weights saw too few requests.

    The first is one of two required files: `from A to B`, `A and B`, `A B`. In six lots all 26
    files given so were right. The second is a number of rows: `show me 4`, `first 4`, `top 4`.
    """
    if features.get("pair", 0.0) > 0 and one.required and candidate.kind in ("path", "file"):
        return max(p, PAIRED)
    return max(p, NUMBER_LIMIT) if _is_asked_count(one, candidate, request) else p


def _is_asked_count(one: Input, candidate: Candidate, request: str) -> bool:
    """Return True for the number of rows that the request asks to be shown, for a limit of rows.

    404 may be a status and 2026 a year, so a number above `_MOST_ASKED` is left to the weights.
    """
    if one.role != "count" or one.words.isdisjoint(_WORDS_OF_LIMITS):
        return False
    value = candidate.value
    if candidate.kind not in _PLAIN_NUMBERS or candidate.unit or not isinstance(value, int):
        return False
    before = request[max(0, candidate.start - _LONGEST_ASKING) : candidate.start]
    return 0 < value <= _MOST_ASKED and _ASKS_FOR_ROWS.search(before) is not None


def is_out_of_place(one: Input, candidate: Candidate) -> bool:
    """Return True for a value that is not even worth a proposal.

    An adverb of time is out of place in an input that is not about time, and a path in one that
    takes a field or an operator. A usual file is no copy of `/proc`. A description may list the
    only words that an input takes (`One of ==, <`): any other word is out of place.
    """
    if candidate.kind in ("path", "file") and not one.words.isdisjoint(_WORDS_OF_FIELDS):
        return True
    if candidate.kind in ("path", "file") and one.default in ("/proc", "/sys"):
        return str(one.default)[1:] not in str(candidate.value).lower().rsplit("/", 1)[-1]
    if _ends_with_time_adverb(candidate) and _WORDS_OF_TIME.isdisjoint(one.words | one.described):
        return True
    closed = _CLOSED_LIST.match(one.description) if one.type == "string" else None
    if closed is None:
        return False
    allowed = _MEMBER.findall(one.description[closed.end() :].lower())
    return str(candidate.value).lower() not in allowed


def is_unlikely_copy(one: Input, candidate: Candidate, p: float) -> bool:
    """Return True for an unsure path where the input wants a copy of a file such as `/proc/mounts`.

    "How much space does /srv/logs use" names no mount table. A proposal would say that the path is
    understood, so no person would be asked about an answer without it.
    """
    if candidate.kind not in ("path", "file") or p >= limit_of(one, candidate):
        return False
    folder, _, name = str(one.default).rpartition("/")
    return folder == "/proc" and name not in str(candidate.value).lower().rsplit("/", 1)[-1]


def _ends_with_time_adverb(candidate: Candidate) -> bool:
    said = str(candidate.value).lower().split()
    return candidate.kind in _PLAIN_WORDS and bool(said) and said[-1] in TIME_ADVERBS


def limit_of(one: Input, candidate: Candidate) -> float:
    """Return the probability from which a value of this kind is filled without asking.

    A kind that cannot be mistaken counts as such only for an input that wants it: a path is a
    likely `folder`. An input whose contract does not speak of files never takes one: a `text` may
    be what the file holds.
    """
    kind = candidate.kind
    if kind in FIRM and fit_of_kind(one, kind) != NO_FIT:
        return FIRM_LIMIT
    if kind in ("path", "file") and (one.words | one.described).isdisjoint(_WORDS_OF_FILES):
        return NEVER
    if kind == "identifier" and SYSTEMD_UNIT.fullmatch(candidate.spans[0].text):
        return TEXT_LIMIT if one.words.isdisjoint(_WORDS_OF_UNITS) else FIRM_LIMIT
    if kind in ("flag", "negated"):
        return FLAG_LIMIT
    if kind in _NUMBERS:
        return NUMBER_LIMIT
    return CHOICE_LIMIT if CHOICES.search(kind) else TEXT_LIMIT
