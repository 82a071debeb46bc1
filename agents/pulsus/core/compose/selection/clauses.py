"""The sub-intents of a request: one clause for each thing it asks for (spec §6). Pure.

Where a request may be cut is grammar (segmentation.py); whether it is cut is retrieval. A cut
stays only
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

from pulsus.core.compose.selection.segmentation import (
    WEAK_COST,
    find_pieces,
    match_given_rows,
    match_row_operation,
    strip_orders,
)
from pulsus.core.contract import type_hints
from pulsus.core.text.tokens import clean, content_words, stems, words
from pulsus.core.text.verb_tables import READING
from pulsus.core.types import Ranked, SubIntent, ToolSpec

Retrieve = Callable[[str], Sequence[Ranked]]
"""The candidates of a text, best first."""

_HALF = 0.5
"""Share of a part's idf mass from which a tool is about it."""

_NEAR = 3
"""Power of the share of the first tool's score: nine tenths count .73, half .13."""

_UNNAMED = 0.75
"""Most that another tool serves where the first is called just what is asked, of the first's p."""

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


def split_request(
    request: str, retrieve: Retrieve, *, floor: float, following: Retrieve | None = None
) -> tuple[SubIntent, ...]:
    """The clauses in order, each with its candidates; one clause where no cut is worth it.

    `retrieve` looks at the whole catalogue, `following` only at tools that work on what another
    gives (`works_on`): asked for a clause that says what to do with that. `floor` is τ less the
    slack of §6: in a cut request every clause's best tool reaches it, and no two clauses have the
    same best tool. Empty for a request without words.
    """
    text = clean(request)
    parts = find_pieces(text)
    if not parts:
        return ()
    whole = SubIntent(text, tuple(retrieve(text)))
    if len(parts) == 1:
        return (whole,)
    follow = cache(lambda said, does: tuple(following(f"{said} {does}")) if following else ())
    overall = {r.tool.id: r.p for r in whole.candidates}

    @cache
    def clause(first: int, last: int) -> SubIntent:
        said = strip_orders(text[parts[first].start : parts[last].end])
        does = match_row_operation(said) if first else match_given_rows(said)
        found = follow(said, does) if does else ()
        return SubIntent(said, found or _backed(tuple(retrieve(said)), overall))

    finest = [clause(n, n) for n in range(len(parts))]
    costs = [
        _DONE if part.does and follow(piece.text, part.does) else part.cost
        for part, piece in zip(parts, finest, strict=True)
    ]
    joined = all(part.cost == WEAK_COST and not part.does for part in parts[1:])
    first = next((r for r in whole.candidates if r.p >= floor), None)
    if joined and first and _named_after(first.tool, finest):
        return (whole,)
    return _best(clause, finest, costs, floor) or (whole,)


def _named_after(tool: ToolSpec, finest: Sequence[SubIntent]) -> bool:
    """Whether a tool is called by a word of each piece: "cpu_and_memory" for "cpu and memory".

    Not where a later piece asks anew: "explain it and list them", or for what the tool itself
    does, "... and plot it" of "Plot a matrix".
    """
    name = set(stems(tool.name))
    anew = READING.union(words(tool.summary)[:1])
    for at, piece in enumerate(finest):
        if at and not anew.isdisjoint(words(piece.text)[:1]):
            return False
        said = name.intersection(stems(piece.text))
        if not said:
            return False
        name -= said
    return True


def _best(
    clause: Callable[[int, int], SubIntent],
    finest: Sequence[SubIntent],
    costs: Sequence[float],
    floor: float,
) -> tuple[SubIntent, ...]:
    """The clauses that serve the request best among those that stand; none where one tool does."""
    best: tuple[SubIntent, ...] = ()
    most = 1e-9
    for cuts in _cuts(len(finest)):
        ends = zip((0, *cuts), (*cuts, len(finest)), strict=True)
        clauses = tuple(clause(a, b - 1) for a, b in ends)
        worth = _worth(finest, clauses, cuts, costs) if _stands(clauses, floor) else 0.0
        if worth > most:
            best, most = clauses, worth + 1e-9
    return best


def find_unanswered_parts(request: str, tool_id: str, retrieve: Retrieve) -> tuple[str, ...]:
    """Parts of a request that the one selected tool has too few words for.

    Parts are what "then", a semicolon or a sentence's end separates: each is a task of its own.
    """
    text = clean(request)
    parts = [text[p.start : p.end].strip(" ,;.!?") for p in find_pieces(text, weak=False)]
    if len(parts) < 2:
        return ()
    return tuple(part for part in parts if not _answers(tool_id, retrieve(part)))


def separate_served_parts(
    request: str, retrieve: Retrieve, tau: float
) -> tuple[tuple[tuple[str, Ranked], ...], tuple[str, ...]]:
    """Of a request that nothing serves whole: the parts some tool serves by itself, with the tool,
    and the parts none does. Both empty where that parts nothing.
    """
    text = clean(request)
    parts = [text[p.start : p.end].strip(" ,;.!?") for p in find_pieces(text, weak=False)]
    found = [(part, next(iter(retrieve(part)), None)) for part in parts if part]
    good = tuple((part, best) for part, best in found if best and best.p >= tau)
    if not good or len(good) == len(found):
        return (), ()
    fitting = {part for part, _ in good}
    return good, tuple(part for part, _ in found if part not in fitting)


def needs_step_data(tool: ToolSpec) -> bool:
    """Whether it needs what only another tool gives: a required list, table or document."""
    needed = (
        type_hints.parse(arg.type_hint) for arg in tool.args if arg.required and arg.type_hint
    )
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
) -> float:
    """How much better a tool for each clause serves the request than one tool for all, in p.

    A piece counts by its share of the request's words, and a cut costs by that of its smaller side.
    """
    lengths = [max(1, len(content_words(piece.text))) for piece in finest]
    shares = [length / sum(lengths) for length in lengths]
    each = 0.0
    one: dict[str, float] = {}
    for at, (piece, share) in enumerate(zip(finest, shares, strict=True)):
        step = clauses[bisect_right(cuts, at)].candidates[0].tool.id
        for tool_id, served in _served(piece).items():
            each += share * served if tool_id == step else 0.0
            one[tool_id] = one.get(tool_id, 0.0) + share * served
    for first, last in zip(cuts, (*cuts[1:], len(finest)), strict=True):
        share = sum(shares[first:last])
        each -= costs[first] * (min(share, 1 - share) if costs[first] > 0 else 1.0)
    return each - max(one.values(), default=0.0)


def _served(piece: SubIntent) -> dict[str, float]:
    """How well each tool serves a piece: the first by its p, another by how near its score is.

    The p of another says that it is not the first; it may do nearly all of what is asked, but
    not where the first is called just what is asked.
    """
    if not piece.candidates:
        return {}
    first = piece.candidates[0]
    near = {
        r.tool.id: (r.score / first.score) ** _NEAR if first.score else 0.0
        for r in piece.candidates
    }
    served = {r.tool.id: max(r.p, first.p * min(1.0, near[r.tool.id])) for r in piece.candidates}
    if not _called(first):
        return served
    most = _UNNAMED * first.p
    return {i: p if i == first.tool.id else min(p, most) for i, p in served.items()}


def _called(found: Ranked) -> bool:
    """Whether as many words as a name of several has are found in it: "summarise the matrix"."""
    name = set(stems(found.tool.name))
    return 1 < len(name) <= len(found.matched.get("name", ()))
