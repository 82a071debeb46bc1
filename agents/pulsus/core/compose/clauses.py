"""The sub-intents of a request: one clause for each thing it asks for (spec §6). Pure.

Where a request may be cut is grammar; whether it is cut is retrieval. A cut stays only where its
sides point to different tools and no single tool covers about as much: "cpu and memory" stays whole
where one tool shows both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from pulsus.core.compose import hints
from pulsus.core.rankers.text import clean, content_words
from pulsus.core.types import Ranked, SubIntent, ToolSpec
from pulsus.record import dataclass

Retrieve = Callable[[str], Sequence[Ranked]]
"""The candidates of a text, best first, over the whole catalogue."""

MAX_PIECES = 8
"""Cuts considered: 2 to the power of 7 partitions over 36 texts to rank at most."""

_STRONG_COST = 0.04
_WEAK_COST = 0.10
"""Share of the request's idf mass one more step must win: after "then", and after "and"."""

_STRONG = re.compile(
    r"""
    [.!?;]+(?=\s|$)
    | [,;]?\s*\b(?:and\s+|but\s+)?(?:then|afterwards?|after\s+that|after\s+which|finally|lastly
        |next|followed\s+by|subsequently|as\s+well\s+as|plus|additionally|also)\b\s*,?
    | \s(?:->|=>|→|\|)\s
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WEAK = re.compile(
    r"""
    ,\s*(?:and|or)\b
    | ,(?=\s)
    | \s(?:and|&)\s
    | \s(?=(?:as|into)\s+(?:an?\s|markdown|html|json|yaml|csv))
    | \s(?=in\s+(?:a\s+)?(?:markdown|html)\b)
    | \s(?=in\s+\w+\s+format\b)
    | \s(?=sorted\s+by\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RANGE = re.compile(r"\b(?:between|both)\s+\S+(?:\s+\S+)?\s+and\b", re.IGNORECASE)
"""The "and" of "between 10:00 and 10:05" joins two ends of one thing."""

_FOLLOW_ON = re.compile(
    r"""
    ^(?:(?:just|but)\s+)?(?:only|keep|filter|sort(?:ed)?|order(?:ed)?|top|first|last|biggest|largest
        |highest|lowest|slowest|worst|limit|save|saved|store|stored|write|written|put|dump|export
        |as|into|where|render|format)\b
    | \b(?:it|them|that|those|these|the\s+(?:result|results|output|rows))\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What begins, or refers to, work on what an earlier clause gives."""

_WORKS_ON = 2.0
"""Log-odds a tool that needs another's output gains in a clause that goes on from another."""

_CARRIES_ON = 0.15
"""Share of the request's idf mass such a clause is worth beyond its words, which are few."""

_HALF = 0.5
"""Share of a part's idf mass from which a tool is about it."""

_LEAD = re.compile(r"^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|and|to\s+start)\b[\s,:]*", re.I)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^'\s][^']*'(?!\w)|`[^`]*`|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of the request between two cuts; `cost` is that of the cut before it."""

    start: int
    end: int
    cost: float


def split(request: str, retrieve: Retrieve, *, floor: float) -> tuple[SubIntent, ...]:
    """The clauses in order, each with its candidates; one clause where no cut is worth it.

    `floor` is τ less the slack of §6: in a cut request every clause's best tool reaches it, and no
    two clauses have the same best tool. Empty for a request without words.
    """
    text = clean(request)
    pieces = _pieces(text)
    if not pieces:
        return ()

    @cache
    def sub(first: int, last: int) -> SubIntent:
        said = _LEAD.sub("", text[pieces[first].start : pieces[last].end].strip(" ,;.!?"))
        found = tuple(retrieve(said))
        return SubIntent(said, _going_on(said, found) if first else found)

    whole = SubIntent(text, tuple(retrieve(text)))
    best: tuple[SubIntent, ...] = (whole,)
    best_worth = _covered(whole)
    mass = _mass(whole)
    for cuts in _cuts(len(pieces)):
        clauses = tuple(
            sub(a, b - 1) for a, b in zip((0, *cuts), (*cuts, len(pieces)), strict=True)
        )
        worth = sum(map(_covered, clauses)) - mass * sum(pieces[c].cost for c in cuts)
        worth += mass * _CARRIES_ON * sum(_works_on_another(c) for c in clauses[1:])
        if worth > best_worth + 1e-9 and _stands(clauses, floor):
            best, best_worth = clauses, worth
    return best


def unplaced(request: str, tool_id: str, retrieve: Retrieve) -> tuple[str, ...]:
    """Parts of a request that the one selected tool has too few words for.

    Parts are what "then", a semicolon or a sentence's end separates: each is a task of its own.
    """
    text = clean(request)
    parts = [text[p.start : p.end].strip(" ,;.!?") for p in _pieces(text, weak=False)]
    if len(parts) < 2:
        return ()
    return tuple(part for part in parts if not _answers(tool_id, retrieve(part)))


def _answers(tool_id: str, found: Sequence[Ranked]) -> bool:
    own = next((r for r in found if r.tool.id == tool_id), None)
    return own is not None and own.signals["coverage"] >= _HALF


def _going_on(said: str, found: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """The candidates of a later clause: one that goes on from another wants a tool that does."""
    if not _FOLLOW_ON.search(said):
        return tuple(found)
    raised = [replace(r, p=_raised(r.p)) if _works_on(r.tool) else r for r in found]
    ordered = sorted(raised, key=lambda r: (-r.p, r.rank))
    return tuple(replace(r, rank=n) for n, r in enumerate(ordered, start=1))


def _works_on_another(clause: SubIntent) -> bool:
    return bool(
        clause.candidates
        and _FOLLOW_ON.search(clause.text)
        and _works_on(clause.candidates[0].tool)
    )


def _works_on(tool: ToolSpec) -> bool:
    """Whether it needs what only another tool gives: a required list, table or document."""
    needed = (hints.parse(arg.type_hint) for arg in tool.args if arg.required and arg.type_hint)
    return any(not hint.scalar for hint in needed)


def _raised(p: float) -> float:
    odds = math.log(max(p, 1e-6) / max(1 - p, 1e-6)) + _WORKS_ON
    return 1 / (1 + math.exp(-odds))


def _cuts(pieces: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut, fewest cuts first."""
    places = range(1, pieces)
    for count in range(1, pieces):
        yield from combinations(places, count)


def _stands(clauses: Sequence[SubIntent], floor: float) -> bool:
    """Whether each clause has a tool of its own that is probable enough."""
    tops = [clause.candidates[0] for clause in clauses if clause.candidates]
    return (
        len(tops) == len(clauses)
        and all(top.p >= floor for top in tops)
        and all(map(_says_enough, clauses))
        and len({top.tool.id for top in tops}) == len(tops)
    )


def _says_enough(clause: SubIntent) -> bool:
    """A clause of one word must say its tool's name or place: it may be half of "a and b"."""
    places = clause.candidates[0].matched.keys()
    return len(content_words(clause.text)) > 1 or bool(places & {"name", "path", "manifest"})


def _covered(clause: SubIntent) -> float:
    """The idf mass of the clause its best tool has words for."""
    return math.expm1(clause.candidates[0].signals["mass"]) if clause.candidates else 0.0


def _mass(clause: SubIntent) -> float:
    """The idf mass of the clause."""
    if not clause.candidates:
        return 0.0
    share = clause.candidates[0].signals["coverage"]
    return _covered(clause) / share if share else 0.0


def _pieces(text: str, *, weak: bool = True) -> list[_Piece]:
    """The text between possible cuts. A piece without a content word joins the one before it."""
    marks = _marks(text, weak=weak)
    if len(marks) >= MAX_PIECES:
        marks = _marks(text, weak=False)[: MAX_PIECES - 1]
    pieces: list[_Piece] = []
    start, cost = 0, 0.0
    for mark_start, mark_end, mark_cost in [*marks, (len(text), len(text), 0.0)]:
        if content_words(_LEAD.sub("", text[start:mark_start])):
            pieces.append(_Piece(start, mark_start, cost))
            cost = mark_cost
        elif pieces:
            cost = min(cost, mark_cost)
        start = mark_end
    return pieces


def _marks(text: str, *, weak: bool) -> list[tuple[int, int, float]]:
    """Start, end and cost of each possible cut outside quotes and brackets, in order."""
    held = [m.span() for pattern in (_QUOTED, _RANGE) for m in pattern.finditer(text)]
    found = [(m.start(), m.end(), _STRONG_COST) for m in _STRONG.finditer(text)]
    if weak:
        taken = [(a, b) for a, b, _ in found]
        found += [
            (m.start(), m.end(), _WEAK_COST)
            for m in _WEAK.finditer(text)
            if not any(a <= m.start() < max(b, a + 1) for a, b in taken)
        ]
    return sorted(f for f in found if not any(a < f[0] < b for a, b in held))
