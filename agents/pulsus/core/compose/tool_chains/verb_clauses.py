"""Cut a request into clauses, each from one verb to the next. Values are masked. Pure.

Only `pulsus compose-eval` uses it. Routes split a request in
`core/compose/selection/request_split.py`.

`cut_points.py` cuts for tools whose inputs are typed and asks retrieval about each cut. Here a cut
needs no catalogue: the words alone decide, so past requests are cut like the new one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pulsus.core.text.tokens import stems
from pulsus.late_pattern import late_pattern

VALUE = "_"
"""Stands for a value of the request: quoted words, a number, a date, an address."""

_VALUES = late_pattern(
    r"\"[^\"]*\"|'[^'\s][^']*'(?!\w)|“[^”]*”|\[[^\]]*\]|\bhttps?://\S+|www\.\S+"
    r"|\$?\d[\d,.:/%-]*\w*"
)
_CUT = late_pattern(
    r"""(?ix)
    [,;.!?]+\s+(?:and\s+)?(?:then\s+|finally,?\s+|after\s+that,?\s+|also,?\s+|next,?\s+)?
    | \s+(?:and\s+then|then|and\s+also|and\s+finally|and|to|for\s+which|as\s+well\s+as|also)\s+
    """
)
_LEAD = late_pattern(
    r"^(?:\W|\b(?:and|then|also|please|finally|after that|afterwards|next|i|we|want|need|would|like"
    r"|to|you|can|could|help|me|lastly|so)\b)+",
    re.IGNORECASE,
)
_CLAUSE_VERBS = """
add analyse analyze arrange book buy calculate cancel check compare compute convert count create
define delete describe determine discover display download draw encrypt execute fetch filter
find generate get give how identify know let list load locate look make obtain open order
organize pay plan play plot post print provide pull purchase read recommend record remove rent
reserve retrieve run save schedule search see send set share show sort stream summarise
summarize tell translate update upload validate watch what when where which who write
"""
_VERBS = frozenset(_CLAUSE_VERBS.split())
"""Verbs and question words that begin a clause of their own."""


@dataclass(frozen=True, slots=True)
class ClauseSpans:
    """A masked request with its clauses and their parts, as (start, end) in `text`.

    A part ends at every comma and "and", a clause only before a verb.
    """

    text: str
    clauses: tuple[tuple[int, int], ...]
    parts: tuple[tuple[int, int], ...]

    def clause_text(self, number: int) -> str:
        """Return the words of one clause."""
        start, end = self.clauses[number]
        return self.text[start:end]


def mask_values(text: str) -> str:
    """Return the text with `VALUE` for each value, because values match tools by accident."""
    return re.sub(r"\s+", " ", _VALUES.sub(f" {VALUE} ", text.replace("’", "'")))


def split_clauses(request: str) -> ClauseSpans:
    """Return the clauses of a request, in order. Spans without content words are left out."""
    text = mask_values(request)
    starts = [0, *(mark.end() for mark in _CUT.finditer(text))]
    parts = list(zip(starts, [*starts[1:], len(text)], strict=True))
    clauses: list[tuple[int, int]] = []
    for start, end in parts:
        if clauses and not (
            _asks_something(text, clauses[-1]) and _begins_with_verb(text, (start, end))
        ):
            clauses[-1] = (clauses[-1][0], end)
        else:
            clauses.append((start, end))
    return ClauseSpans(
        text,
        tuple(span for span in clauses if stems(text[slice(*span)])),
        tuple(span for span in parts if stems(text[slice(*span)])),
    )


def _asks_something(text: str, span: tuple[int, int]) -> bool:
    """Return False for a lead such as "I want to", which belongs to the words behind it."""
    return bool(stems(_LEAD.sub("", text[slice(*span)])))


def _begins_with_verb(text: str, span: tuple[int, int]) -> bool:
    words = re.findall(r"[a-z]+", _LEAD.sub("", text[slice(*span)]).lower())
    return bool(words) and words[0] in _VERBS
