"""Split a request into clauses: decide if it is cut at each place where it can be (§6). Pure.

Grammar says where a request can be cut (`cut_points.py`), retrieval decides whether it is cut. A
cut stays only if each side has a probable tool of its own, and no single tool serves all sides
about as well. So "cpu and memory" stays whole if one tool shows both.

The other modules about parts of a request: `cut_points.py` finds the places, `clause_search.py`
searches for one clause, `clause_ownership.py` decides if a clause belongs to the tool before,
`time_order.py` orders the clauses (and so the steps of the plan), `step_candidates.py` gives each
its tool, and `core/compose/tool_chains/verb_clauses.py` cuts for `pulsus compose-eval` only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations

from pulsus.core.compose.selection.clause_ownership import assign_parts, find_operation
from pulsus.core.compose.selection.clause_search import ClauseSearch, Retrieve
from pulsus.core.compose.selection.cut_points import WEAK_COST, find_pieces
from pulsus.core.compose.selection.row_operations import (
    match_given_rows,
    move_leading_table,
    strip_orders,
)
from pulsus.core.compose.selection.time_order import order_in_time
from pulsus.core.text.tokens import clean, content_words, stems, words
from pulsus.core.text.verb_tables import READING
from pulsus.core.types import Ranked, SubIntent, ToolSpec
from pulsus.late_pattern import late_pattern

_SCORE_POWER = 3
"""Exponent for a score relative to the first tool's: nine tenths count .73, half counts .13."""

_UNNAMED_SHARE = 0.75
"""Upper limit for another tool, as a share of the first's p, if the text names the first tool."""

_ROW_OPERATION_COST = -9.0
"""Cost of a cut before an operation on given rows. It is negative enough to force the cut."""

_LINE_FILTER = late_pattern(
    r"(?:only|just|keep(?:\s+only)?)\s+(?:the\s+)?(?:lines?|messages?|entries|what|stuff)\s+"
    r"(?:with|(?:that\s+)?(?:contain|match|mention)s?|containing|matching|mentioning)\b",
    re.IGNORECASE,
)
_PATTERN_ARGUMENTS = frozenset({"pattern", "regex", "grep", "match", "contains", "search", "query"})


def split_request(
    request: str, retrieve: Retrieve, *, floor: float, following: Retrieve | None = None
) -> tuple[SubIntent, ...]:
    """Return the clauses in order, each with its candidates; one clause if no cut is useful.

    `retrieve` searches the whole catalogue. `following` searches only tools that work on the output
    of another tool (`needs_step_data`); it is used for a clause that says what to do with such
    output. `floor` is τ less the slack of spec §6: in a split request the best tool of every clause
    reaches it, and no two clauses have the same best tool. Empty for a request without words.
    """
    text = order_in_time(move_leading_table(clean(request)))
    pieces = find_pieces(text)
    if not pieces:
        return ()
    search = ClauseSearch(retrieve, following, floor)
    whole = SubIntent(text, search.candidates(text))
    parts = assign_parts(text, pieces, search.find_tool)
    if len(parts) == 1:
        return (whole,)
    overall = {r.tool.id: r.p for r in whole.candidates}
    # Cached, because partitions share most of their clauses, and each costs a search.

    @cache
    def clause(first: int, last: int) -> SubIntent:
        wording = strip_orders(text[parts[first].start : parts[last].end])
        operation = find_operation(parts[first], wording) if first else match_given_rows(wording)
        found = search.follow(wording, operation) if operation else ()
        if found:
            return SubIntent(wording, found)
        behind = parts[last + 1] if last + 1 < len(parts) else None
        longer = text[parts[first].start : behind.end] if behind and behind.operation else None
        return SubIntent(
            wording, search.find_task(wording, longer and strip_orders(longer), overall)
        )

    finest = [clause(n, n) for n in range(len(parts))]
    costs = [
        _ROW_OPERATION_COST
        if part.operation and search.follow(piece.text, part.operation)
        else part.cost
        for part, piece in zip(parts, finest, strict=True)
    ]
    joined = all(part.cost == WEAK_COST and not part.operation for part in parts[1:])
    first = next((r for r in whole.candidates if r.p >= floor), None)
    # "cpu and memory" for cpu_and_memory: two tools would be more probable, but one is meant.
    if joined and first and _is_named_after(first.tool, finest):
        return (whole,)
    return _choose_cuts(clause, finest, costs, floor) or (whole,)


def _is_named_after(tool: ToolSpec, finest: Sequence[SubIntent]) -> bool:
    """Return True if each piece contains a word of the tool's name.

    Example: "cpu_and_memory" for "cpu and memory". False if a later piece begins a new task, as in
    "explain it and list them", or repeats the tool's own verb, as in "... and plot it" for "Plot a
    matrix".
    """
    name = set(stems(tool.name))
    new_task = READING.union(words(tool.summary)[:1])
    for number, piece in enumerate(finest):
        if number and not new_task.isdisjoint(words(piece.text)[:1]):
            return False
        wording = name.intersection(stems(piece.text))
        if not wording:
            return False
        name -= wording
    return True


def _choose_cuts(
    clause: Callable[[int, int], SubIntent],
    finest: Sequence[SubIntent],
    costs: Sequence[float],
    floor: float,
) -> tuple[SubIntent, ...]:
    """Return the acceptable clauses that serve the request best, or none if one tool is better."""
    best: tuple[SubIntent, ...] = ()
    # Worth is a sum of floats: a smaller difference is rounding, and then fewer cuts win.
    most = 1e-9
    for cuts in _list_cuts(len(finest)):
        ends = zip((0, *cuts), (*cuts, len(finest)), strict=True)
        clauses = tuple(clause(a, b - 1) for a, b in ends)
        if _is_acceptable(clauses, floor):
            worth = _compute_gain(finest, clauses, cuts, costs)
            if worth > most:
                best, most = clauses, worth + 1e-9
    return best


def _list_cuts(parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to cut, fewest cuts first."""
    places = range(1, parts)
    for count in range(1, parts):
        yield from combinations(places, count)


def _is_acceptable(clauses: Sequence[SubIntent], floor: float) -> bool:
    """Return True if each clause has a tool of its own that is probable enough."""
    tops = [clause.candidates[0] for clause in clauses if clause.candidates]
    return (
        len(tops) == len(clauses)
        and all(top.p >= floor for top in tops)
        and all(map(_has_enough_words, clauses))
        and len({top.tool.id for top in tops}) == len(tops)
        and not any(_is_argument(clause.text, tops[0].tool) for clause in clauses[1:])
    )


def _is_argument(wording: str, first: ToolSpec) -> bool:
    """Return True if the first tool filters "only lines with X" by an argument of its own."""
    return bool(_LINE_FILTER.match(wording)) and any(
        arg.name in _PATTERN_ARGUMENTS for arg in first.args
    )


def _has_enough_words(clause: SubIntent) -> bool:
    """Return True if the clause has two content words, or matches its tool by name or place.

    A clause of one word may be half of "a and b".
    """
    places = clause.candidates[0].matched.keys()
    return len(content_words(clause.text)) > 1 or bool(places & {"name", "path", "manifest"})


def _compute_gain(
    finest: Sequence[SubIntent],
    clauses: Sequence[SubIntent],
    cuts: Sequence[int],
    costs: Sequence[float],
) -> float:
    """Return by how much p one tool for each clause is better than one tool for all.

    A piece counts by its share of the request's words. A cut costs in proportion to its smaller
    side.
    """
    lengths = [max(1, len(content_words(piece.text))) for piece in finest]
    shares = [length / sum(lengths) for length in lengths]
    each = 0.0
    one: dict[str, float] = {}
    for number, (piece, share) in enumerate(zip(finest, shares, strict=True)):
        step = clauses[bisect_right(cuts, number)].candidates[0].tool.id
        for tool_id, served in _rate_tools(piece).items():
            each += share * served if tool_id == step else 0.0
            one[tool_id] = one.get(tool_id, 0.0) + share * served
    for first, last in zip(cuts, (*cuts[1:], len(finest)), strict=True):
        share = sum(shares[first:last])
        each -= costs[first] * (min(share, 1 - share) if costs[first] > 0 else 1.0)
    return each - max(one.values(), default=0.0)


def _rate_tools(piece: SubIntent) -> dict[str, float]:
    """Return how well each tool serves a piece, from 0 to 1.

    The first tool counts by its p. Another tool counts by how near its score is, because a low p
    says only that it is not the first: it may do nearly all of the task. It counts less if the
    piece calls the first tool by its name.
    """
    if not piece.candidates:
        return {}
    first = piece.candidates[0]
    near = {
        r.tool.id: (r.score / first.score) ** _SCORE_POWER if first.score else 0.0
        for r in piece.candidates
    }
    served = {r.tool.id: max(r.p, first.p * min(1.0, near[r.tool.id])) for r in piece.candidates}
    if not _is_called_by_name(first):
        return served
    most = _UNNAMED_SHARE * first.p
    return {i: p if i == first.tool.id else min(p, most) for i, p in served.items()}


def _is_called_by_name(found: Ranked) -> bool:
    """Return True if the request has all words of a tool name with several words."""
    name = set(stems(found.tool.name))
    return 1 < len(name) <= len(found.matched.get("name", ()))
