"""A value that an input may take, and the kinds of span that the role of an input allows. Pure.

`find_candidates.py` finds the values of a request, and `fill_limits.py` has the thresholds. Tools
as candidates of a route are ranked in `core/rankers/lexical_ranker.py`, and new modules in `_tmp/`
are noted in `core/storage/candidate_store.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import Span
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

KINDS_OF_ROLE: Final[dict[str, tuple[str, ...]]] = {
    "folder": ("path",),
    "path": ("path", "file"),
    "source": ("path", "file"),
    "host": (
        "host",
        "address",
        "identifier",
        "url",
        "quoted",
        "name",
        "numbered",
        "phrase",
        "part",
    ),
    "interface": ("identifier", "quoted", "name", "phrase", "part"),
    "address": ("address", "host"),
    "network": ("network", "address"),
    "url": ("url", "host"),
    "cron": ("cron",),
    "pattern": ("glob", "quoted", "sysctl", "file", "identifier"),
    "port": ("port", "number"),
    "status": ("number", "counted"),
    "year": ("number", "counted"),
    "count": ("number", "numeral", "counted", "assign"),
    "prefix": ("prefix", "number"),
    "size": ("size", "counted", "number", "money"),
    "percent": ("percent", "counted", "number"),
    "duration": ("duration", "counted", "number", "numeral", "assign"),
    "moment": ("date", "datetime", "clock", "quoted"),
}
"""The kinds that a role may take, its own kind first. Other roles take each kind of their type."""

NO_FIT: Final = 9


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value for the input number `place`. `spans` are the places in the request that it takes.

    `kind` is that of its span, or says how it was made (`choice`, `flag`, `names` for a list of
    names). `alike` says how well the words of the request match a choice, from 0 to 1.
    """

    place: int
    kind: str
    value: JsonValue
    spans: tuple[Span, ...]
    start: int
    end: int
    quoted: bool = False
    unit: str = ""
    alike: float = 1.0


def make_candidate(one: Input, span: Span, value: JsonValue, kind: str = "") -> Candidate:
    """Return a candidate that takes one span; its kind is that of the span unless given."""
    return Candidate(
        one.place, kind or span.kind, value, (span,), span.start, span.end, span.quoted, span.unit
    )


def make_from_words(
    one: Input, value: JsonValue, kind: str, words: Sequence[Span], alike: float
) -> Candidate:
    """Return a candidate that takes several words; `words` is not empty."""
    start, end = min(w.start for w in words), max(w.end for w in words)
    return Candidate(one.place, kind, value, tuple(words), start, end, alike=alike)


def fit_of_kind(one: Input, kind: str) -> int:
    """Return how well a kind suits the role of an input, from 0 for its own kind to NO_FIT."""
    kinds = KINDS_OF_ROLE.get(one.role)
    if not kinds or kind not in kinds:
        return NO_FIT
    if one.role in ("moment", "count") and kind in kinds[:3]:
        return 0
    return kinds.index(kind)
