"""Keep an upper bound of a request from an input that is a lower bound, and the reverse. Pure.

"Files smaller than 1 MB" is no `min_bytes`: with it the answer has exactly the other files. A share
that is free is no share that is used. "Ports above 1024" is no `port`, which is one port. A bound
that no input follows is reported in `routing/inputs/unfollowed_bounds.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.inputs import Input
from pulsus.core.text.comparison_words import LARGER, SMALLER
from pulsus.core.text.exclusions import Exclusion, is_excluded
from pulsus.late_pattern import late_pattern

Side = Literal["lower", "upper", ""]

_AMOUNTS: Final = frozenset(
    ("number", "numeral", "counted", "size", "duration", "percent", "money", "share")
)
_DATES: Final = frozenset(("date", "datetime", "clock", "part of date"))
_ABOUT: Final = r"\s*(?:(?:about|around|roughly|than|of|the|a|an)\s+)?\Z"
_UPPER: Final = late_pattern(
    rf"(?i)(?:\b(?:{SMALLER}\s+than|under|below|beneath|at\s+most|up\s+to|max(?:imum)?(?:\s+of)?"
    rf"|(?:no|not|never)\s+(?:{LARGER}\s+than|over|above|exceed(?:s|ing)?))|[<≤]=?){_ABOUT}"
)
_LOWER: Final = late_pattern(
    rf"(?i)(?:\b(?:{LARGER}\s+than|over|above|beyond|exceed(?:s|ing)?|at\s+least"
    rf"|min(?:imum)?(?:\s+of)?|(?:no|not|never)\s+(?:{SMALLER}\s+than|under|below))|[>≥]=?){_ABOUT}"
)
_SECOND: Final = late_pattern(r"(?i)\bbetween\s+[^,;]{1,40}\s+and\s+\Z")
_FIRST: Final = late_pattern(r"(?i)\bbetween\s+\Z")
_RECENT: Final = late_pattern(r"(?i)\b(?:within|(?:in|during|over)?\s*the\s+(?:last|past))\s+\Z")
_BEFORE_DATE: Final = late_pattern(r"(?i)\b(?:before|until|till|by|earlier\s+than|prior\s+to)\s+\Z")
_AFTER_DATE: Final = late_pattern(r"(?i)\b(?:since|after|from|later\s+than|starting)\s+\Z")
_UNIT: Final = r"[ -]?(?:[A-Za-z%]{1,12})?"
_OR_LESS: Final = late_pattern(
    rf"(?i){_UNIT}\s+(?:(?:or|and)\s+(?:{SMALLER}|below|under)|at\s+most)\b"
)
_OR_MORE: Final = late_pattern(
    rf"(?i){_UNIT}\s+(?:(?:or|and)\s+(?:{LARGER}|above|over|up)|at\s+least|ago)\b"
)
_LONGEST_BEFORE: Final = 60

_EXACT_ROLES: Final = frozenset(("port", "status", "id", "year"))
"""An input of these roles is one number that has to be equal, unless its name says a bound."""
_BOUND_NAME: Final = late_pattern(
    r"(?:^|_)(?:min|max|minimum|maximum|lowest|highest|first|last|from|to|start|end|limit|threshold)"
    r"(?:_|$)"
)
_MEANS_BY: Final = late_pattern(r"(?i)\b(?:over|under)\s+(?:the\s+)?\Z")
"""Before one number these words may say how or where: "connect over 443"."""
_OF_PORTS: Final = late_pattern(
    r"(?i)\b(?:ports|numbers|years|codes)\s+(?:(?:that\s+)?are\s+)?(?:over|under)\s+\Z"
)
_NOUN: Final = late_pattern(r"(?i)\b(?:ports?|status|codes?|ids?|years?)\s+\Z")
_ARROW: Final = late_pattern(r"[-=]>\s*\Z")
_OR_BEYOND: Final = late_pattern(
    rf"(?i)\s+(?:or|and)\s+(?:{SMALLER}|{LARGER}|below|above|upwards?)\b"
)

_LOWER_NAME: Final = late_pattern(
    r"(?:^|_)(?:min|minimum|least|older|above|over|larger|since|after)(?:_|$)"
)
_UPPER_NAME: Final = late_pattern(r"(?:^|_)(?:until|before|newer|younger|below|under)(?:_|$)")
_SAYS_LOWER: Final = late_pattern(
    rf"(?i)\b(?:{LARGER}\s+than\s+(?!\d)|above|(?<!not )exceed\w*"
    r"|(?:size|date|time|day)\s+or\s+(?:more|later)"
    r"|at\s+least\s+(?!\d)|(?:from|at)\s+which\b|or\s+(?:more|later|larger|older)\b)"
)
_SAYS_UPPER: Final = late_pattern(
    rf"(?i)\bonly\b[^.]{{0,60}}\b(?:before|{SMALLER}\s+than|at\s+most|in\s+the\s+last|within)\b"
    r"|\bhow\s+(?:far|many\s+\w{1,12})\s+back\b|\bup\s+to\s+this\b"
)
_LISTS_LESS: Final = late_pattern(
    rf"(?i)\A(?!.{{0,80}}\b(?:leav\w+\s+out|skip\w*|ignor\w*|exclud\w*|not)\b)"
    rf"[^.]{{0,80}}\b(?:{SMALLER}\s+than|below|under)\s+(?:this|it)\b"
)
"""An input of a tool that looks for what is too small: "A backup below this size is listed"."""
_FREE_BEHIND: Final = late_pattern(
    r"(?i)(?:\s*(?:%|per\s?cent)|[ -]?pct)?\s*(?:of\s+\w{1,20}\s+)?"
    r"(?:(?:is|are|still|disk|space)\s+){0,2}(?:free|available|left|unused|remaining|headroom)\b"
)
_FREE_BEFORE: Final = late_pattern(
    r"(?i)\b(?:free|available|unused|remaining)\b(?:\s+(?:disk|space|memory|room))?"
    r"(?:\s+(?:is|of|than|less|more|under|over|below|above|at|least|most)){0,4}\s+\Z"
)
_SAYS_FREE: Final = late_pattern(r"(?i)\b(?:free|available|left|unused|remain\w*)\b")


def suits_side(one: Input, value: Candidate, request: str, exclusions: Sequence[Exclusion]) -> bool:
    """Return False for an amount or a date whose bound is the opposite of what the input asks.

    "Except those over 10 MB" is an upper bound.
    """
    if value.kind not in _AMOUNTS | _DATES or not value.spans:
        return True
    if one.unit[0] == "percent" and _is_free_share(one, value, request):
        return False
    said = _side_of_words(value, request)
    if said and is_excluded(exclusions, value.start, value.end):
        said = "lower" if said == "upper" else "upper"
    return not said or _side_of_input(one) in ("", said)


def is_bound_for_exact(one: Input, value: Candidate, request: str) -> bool:
    """Return True for the bound of a range, if the input is one number: "ports above 1024".

    The value takes part in the assignment, so that no other input gets it.
    """
    if one.role not in _EXACT_ROLES or _BOUND_NAME.search(one.name) or _side_of_input(one):
        return False
    before = _NOUN.sub("", request[max(0, value.start - _LONGEST_BEFORE) : value.start])
    if _MEANS_BY.search(before):
        return _OF_PORTS.search(before) is not None
    if _ARROW.search(before):
        return False
    forms = (_UPPER, _LOWER, _FIRST, _SECOND)
    return _OR_BEYOND.match(request, value.end) is not None or any(
        form.search(before) for form in forms
    )


def _side_of_words(value: Candidate, request: str) -> Side:
    before = request[max(0, value.start - _LONGEST_BEFORE) : value.start]
    if value.kind in _DATES:
        if _BEFORE_DATE.search(before):
            return "upper"
        return "lower" if _AFTER_DATE.search(before) else ""
    if _OR_LESS.match(request, value.end) or _UPPER.search(before) or _SECOND.search(before):
        return "upper"
    if value.kind in ("duration", "counted") and _RECENT.search(before):
        return "upper"
    if _OR_MORE.match(request, value.end) or _LOWER.search(before) or _FIRST.search(before):
        return "lower"
    return ""


def _side_of_input(one: Input) -> Side:
    """Return the side of a bound that an input is: by its name, or by what is said of it.

    `max_age_hours` has none: it may be a limit of what is shown, or the limit that is exceeded.
    """
    if one.name.startswith("since_") and one.unit[0] == "duration":
        return "upper"  # hours back from now
    if _LISTS_LESS.search(one.description):
        return "upper"
    if _LOWER_NAME.search(one.name):
        return "lower"
    if _UPPER_NAME.search(one.name):
        return "upper"
    lower = _SAYS_LOWER.search(one.description) is not None
    upper = _SAYS_UPPER.search(one.description) is not None
    if lower == upper:
        return ""
    return "lower" if lower else "upper"


def _is_free_share(one: Input, value: Candidate, request: str) -> bool:
    """Return True for "10 percent free", if nothing that is said of the input speaks of free."""
    if _SAYS_FREE.search(f"{one.name.replace('_', ' ')} {one.description}"):
        return False
    before = request[max(0, value.start - _LONGEST_BEFORE) : value.start]
    behind = _FREE_BEHIND.match(request, value.end) is not None
    return behind or _FREE_BEFORE.search(before) is not None
