"""Put the parts of a request in the order in which they are to happen (spec §6). Pure.

So this decides the order of the steps of a composed plan: "before restarting nginx, back up
/etc/nginx" is "back up /etc/nginx, then restart nginx". `execution/engine/schedule.py` decides when
a step of a running plan starts. Only orders count: "before 10:00" is a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.core.text.verb_tables import READING, VERBS
from pulsus.late_pattern import late_pattern

_MORE_VERBS = frozenset(("back", "put", "make", "take", "run", "rotate", "lock", "touch", "do"))
_YOU = r"(?:(?:you|we|i)(?:'ve|\s+have|\s+are|'re)?\s+|it\s+is\s+|having\s+)?(?:do\s+)?"
_QUOTED = late_pattern(r"\"[^\"]*\"|'[^'\s][^']*'(?!\w)|`[^`]*`")

_CAUTION = late_pattern(
    r"(?i)(?:^|(?<=[,;.]\s))(?:please\s+|pls\s+)?"
    r"(?:before\s+(?:you\s+|we\s+|i\s+)?(?:touch|do|change|start|try|break)\w*\s+"
    r"(?:anything|something|any\s+of\s+(?:this|that|it))(?:\s+else)?"
    r"|before\s+(?:anything|everything)(?:\s+else)?|first\s+of\s+all|first\s+things?\s+first"
    r"|(?:just\s+)?to\s+be\s+(?:on\s+the\s+)?safe(?:\s+side)?|(?:just\s+)?in\s+case"
    r"|as\s+a\s+(?:first\s+step|precaution))\b\s*[,:]?\s*",
    words=("before", "first", "safe", "case", "precaution"),
)
"""Words of caution, or of an order that the parts have anyway."""
_SEGMENT = late_pattern(
    r"(?i)\s*[,;.]?\s+(?:and\s+)?(?:then|afterwards|after\s+that|finally)\s+|[;.]\s+"
)
_BEFORE_FIRST = late_pattern(
    rf"(?i)^(?:please\s+)?before\s+{_YOU}(?P<later>[a-z]+\b[^,]*),\s*(?P<first>\S.*)$",
    words=("before",),
)
_AFTER_FIRST = late_pattern(
    rf"(?i)^(?:please\s+)?(?:after|once|as\s+soon\s+as|when)\s+{_YOU}(?P<first>[a-z]+\b[^,]*),\s*(?P<later>\S.*)$",
    words=("after", "once", "soon", "when"),
)
_BUT_FIRST = late_pattern(
    r"(?i)^(?P<later>\S.*?)\s*[,;.-]?\s+(?:but\s+)?"
    r"(?:(?:first|before(?:\s+(?:that|this|doing\s+(?:that|so)|you\s+do(?:\s+(?:that|so|it))?))"
    r"|beforehand|prior\s+to\s+(?:that|this))\s*,?\s+(?P<first>[a-z]\S*\s.*)"
    r"|but\s+(?P<early>[a-z]\S*\s.*?)\s+(?:first|before\s+(?:that|this)|beforehand))\s*[.!]*$",
    words=("first", "before", "prior"),
)
_AFTER = late_pattern(
    rf"(?i)^(?P<later>\S.*?)\s*,?\s+(?:after|once)\s+{_YOU}(?P<first>[a-z]+\b.*)$",
    words=("after", "once"),
)
_BEFORE = late_pattern(
    rf"(?i)^(?P<first>\S.*?)\s*,?\s+before\s+{_YOU}(?P<later>[a-z]+\b.*)$", words=("before",)
)


def order_in_time(text: str) -> str:
    """Return the request with its orders in the order of time, or as it is."""
    if _QUOTED.search(text) is not None:
        return _CAUTION.sub("", text, count=1) or text
    text = _CAUTION.sub("", text, count=1) or text
    marks = list(_SEGMENT.finditer(text))
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    between = [*(mark.group() for mark in marks), ""]
    return "".join(
        _in_order(text[a:b]) + mark for a, b, mark in zip(starts, ends, between, strict=True)
    )


def _in_order(segment: str) -> str:
    for rule in (_BEFORE_FIRST, _AFTER_FIRST, _BUT_FIRST, _AFTER, _BEFORE):
        found = rule.match(segment)
        if found is None:
            continue
        parts = found.groupdict()
        first = _as_order(parts.get("first") or parts.get("early") or "")
        later = _as_order(parts["later"])
        if first and later:
            return f"{first}, then {later}"
    return segment


def _as_order(part: str) -> str:
    """Return the part if it begins with a verb, the verb in its plain form; "" for other parts."""
    word, blank, rest = part.strip(" ,;.").partition(" ")
    plain = next((verb for verb in _plain_forms(word.lower()) if _is_verb(verb)), "")
    return f"{plain}{blank}{rest}" if plain and rest else ""


def _is_verb(word: str) -> bool:
    return word in VERBS or word in READING or word in _MORE_VERBS


def _plain_forms(word: str) -> Iterator[str]:
    """Yield what "restarting", "rotated" and "setting" may be forms of, the word itself first."""
    yield word
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word.removesuffix(ending)
            yield stem
            yield f"{stem}e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]
