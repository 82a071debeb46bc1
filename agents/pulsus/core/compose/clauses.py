"""The sub-intents of a request: one clause for each thing it asks for (spec §6). Pure.

Where a request may be cut is grammar (pieces.py); whether it is cut is retrieval. A cut stays only
where each side has a probable tool of its own and no single tool serves them all about as well:
"cpu and memory" stays whole where one tool shows both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from pulsus.core.compose import hints
from pulsus.core.compose.pieces import pieces, said_in, shape
from pulsus.core.rankers.text import clean, content_words
from pulsus.core.types import Ranked, SubIntent, ToolSpec

Retrieve = Callable[[str], Sequence[Ranked]]
"""The candidates of a text, best first."""

_HALF = 0.5
"""Share of a part's idf mass from which a tool is about it."""

_ALL = 0.95
"""The same, from which a tool has all of its words: what it serves is its p for the whole."""

_DONE = -9.0
"""Cost of a cut before what is done to rows at hand: a step whatever one tool may serve."""

_TEXT = re.compile(
    r"(?:only|just|keep(?:\s+only)?)\s+(?:the\s+)?(?:lines?|messages?|entries)\s+"
    r"(?:with|that\s+(?:contain|match|mention)|containing|matching|mentioning)\b",
    re.IGNORECASE,
)
_PATTERNS = frozenset({"pattern", "regex", "grep", "match", "contains", "search", "query"})

_BARELY = 0.25
"""p in its own clause below which a tool is no step, whatever the whole request says of it."""


def split(
    request: str, retrieve: Retrieve, *, floor: float, following: Retrieve | None = None
) -> tuple[SubIntent, ...]:
    """The clauses in order, each with its candidates; one clause where no cut is worth it.

    `retrieve` looks at the whole catalogue, `following` only at tools that work on what another
    gives (`works_on`): asked for a clause that says what to do with that. `floor` is τ less the
    slack of §6: in a cut request every clause's best tool reaches it, and no two clauses have the
    same best tool. Empty for a request without words.
    """
    text = clean(request)
    parts = pieces(text)
    if not parts:
        return ()
    whole = SubIntent(text, tuple(retrieve(text)))
    if len(parts) == 1:
        return (whole,)
    follow = cache(lambda said, does: tuple(following(f"{said} {does}")) if following else ())
    overall = {r.tool.id: r.p for r in whole.candidates}

    @cache
    def clause(first: int, last: int) -> SubIntent:
        said = said_in(text[parts[first].start : parts[last].end])
        does = shape(said) if first else None
        found = follow(said, does) if does else ()
        return SubIntent(said, found or _backed(tuple(retrieve(said)), overall))

    finest = [clause(n, n) for n in range(len(parts))]
    costs = [
        _DONE if part.does and follow(piece.text, part.does) else part.cost
        for part, piece in zip(parts, finest, strict=True)
    ]
    alone = {r.tool.id: r.p for r in whole.candidates[:1] if r.signals["coverage"] >= _ALL}
    return _best(clause, finest, costs, floor, alone) or (whole,)


def _best(
    clause: Callable[[int, int], SubIntent],
    finest: Sequence[SubIntent],
    costs: Sequence[float],
    floor: float,
    alone: Mapping[str, float],
) -> tuple[SubIntent, ...]:
    """The clauses that serve the request best among those that stand; none where one tool does."""
    best: tuple[SubIntent, ...] = ()
    most = 1e-9
    for cuts in _cuts(len(finest)):
        ends = zip((0, *cuts), (*cuts, len(finest)), strict=True)
        clauses = tuple(clause(a, b - 1) for a, b in ends)
        worth = _worth(finest, clauses, cuts, costs, alone) if _stands(clauses, floor) else 0.0
        if worth > most:
            best, most = clauses, worth + 1e-9
    return best


def unplaced(request: str, tool_id: str, retrieve: Retrieve) -> tuple[str, ...]:
    """Parts of a request that the one selected tool has too few words for.

    Parts are what "then", a semicolon or a sentence's end separates: each is a task of its own.
    """
    text = clean(request)
    parts = [text[p.start : p.end].strip(" ,;.!?") for p in pieces(text, weak=False)]
    if len(parts) < 2:
        return ()
    return tuple(part for part in parts if not _answers(tool_id, retrieve(part)))


def works_on(tool: ToolSpec) -> bool:
    """Whether it needs what only another tool gives: a required list, table or document."""
    needed = (hints.parse(arg.type_hint) for arg in tool.args if arg.required and arg.type_hint)
    return any(not hint.scalar for hint in needed)


def _answers(tool_id: str, found: Sequence[Ranked]) -> bool:
    own = next((r for r in found if r.tool.id == tool_id), None)
    return own is not None and own.signals["coverage"] >= _HALF


def _backed(found: tuple[Ranked, ...], overall: Mapping[str, float]) -> tuple[Ranked, ...]:
    """The candidates, the first at least as probable as the whole request makes it."""
    if not found or found[0].p < _BARELY:
        return found
    first = found[0]
    return (replace(first, p=max(first.p, overall.get(first.tool.id, 0.0))), *found[1:])


def _cuts(parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut, fewest cuts first."""
    places = range(1, parts)
    for count in range(1, parts):
        yield from combinations(places, count)


def _stands(clauses: Sequence[SubIntent], floor: float) -> bool:
    """Whether each clause has a tool of its own that is probable enough."""
    tops = [clause.candidates[0] for clause in clauses if clause.candidates]
    return (
        len(tops) == len(clauses)
        and all(top.p >= floor for top in tops)
        and all(map(_says_enough, clauses))
        and len({top.tool.id for top in tops}) == len(tops)
        and not any(_is_argument(clause.text, tops[0].tool) for clause in clauses[1:])
    )


def _is_argument(said: str, first: ToolSpec) -> bool:
    """Whether the first tool keeps "only lines with X" by an argument of its own."""
    return bool(_TEXT.match(said)) and any(arg.name in _PATTERNS for arg in first.args)


def _says_enough(clause: SubIntent) -> bool:
    """A clause of one word must say its tool's name or place: it may be half of "a and b"."""
    places = clause.candidates[0].matched.keys()
    return len(content_words(clause.text)) > 1 or bool(places & {"name", "path", "manifest"})


def _worth(
    finest: Sequence[SubIntent],
    clauses: Sequence[SubIntent],
    cuts: Sequence[int],
    costs: Sequence[float],
    alone: Mapping[str, float],
) -> float:
    """How much better a tool for each clause serves the request than one tool for all, in p.

    A tool serves a piece by its p there, less what the cut before its clause costs; a piece counts
    by its share of the request's words. `alone` is the p of a tool that has all its words: beside
    a better tool for each piece p would count it for less.
    """
    total = sum(map(_length, finest))
    each = 0.0
    one: dict[str, float] = {}
    for at, piece in enumerate(finest):
        share = _length(piece) / total
        serves = {r.tool.id: share * r.p for r in piece.candidates}
        number = bisect_right(cuts, at)
        step = clauses[number].candidates[0].tool.id
        each += serves.get(step, 0.0) - share * (costs[cuts[number - 1]] if number else 0.0)
        for tool_id, served in serves.items():
            one[tool_id] = one.get(tool_id, 0.0) + served
    return each - max((max(p, alone.get(t, 0.0)) for t, p in one.items()), default=0.0)


def _length(clause: SubIntent) -> int:
    return max(1, len(content_words(clause.text)))
