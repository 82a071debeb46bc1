"""Find the parts of a request, as clauses, that no chosen tool covers (spec §6). Pure.

A part that nothing covers is said, and it never changes the decision.

Reported by `routing/search/report_uncovered_parts.py`. Words that restrict an answer, such as
"only", are found by `routing/inputs/unfollowed_restrictions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pulsus.core.compose.selection.clause_ownership import is_remark
from pulsus.core.compose.selection.cut_points import RequestPiece, find_pieces
from pulsus.core.compose.selection.row_operations import (
    FORMAT,
    match_row_operation,
    strip_orders,
)
from pulsus.core.compose.selection.row_vocabulary import takes_format
from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.tokens import clean, content_words, first_words
from pulsus.core.text.verb_tables import READING, VERBS
from pulsus.core.types import Ranked, SubIntent

_MIN_COVERAGE = 0.5
"""Share of the idf mass of a part from which a tool covers it."""

_FIRST_WORDS = 3
"""By so many content words a clause is found again in the request."""
_MIN_WORDS = 2
"""A clause of fewer content words is a remark ("basically") or a value ("20 tries")."""


_LIKELIER = 0.3
"""p of another tool from which such a clause is meant for it, though it does not reach τ."""
_UNLIKELY = 0.15
"""p of the chosen tools below which a clause with a file of its own is meant for another tool."""


class RetrieveWith(Protocol):
    """Return the candidates of a text, best first, with the tools of `include` among them."""

    def __call__(self, text: str, *, include: Sequence[str] = ()) -> Sequence[Ranked]: ...


def find_uncovered_parts(
    request: str, chosen: Sequence[str], retrieve: RetrieveWith, tau: float
) -> tuple[str, ...]:
    """Return the parts of a request that none of the chosen tools covers, in order.

    Parts after "then", a semicolon or a sentence are tasks of their own: a selected tool must share
    enough words with each, and no other tool may fit (p ≥ `tau`) if it does not. Clauses after
    "and" or a comma often only describe the task. They are returned if they share no word at all,
    and neither say what to do with the rows before them, or if they name a file for another tool.
    A format that no chosen tool takes ("as json") is returned too.
    """
    text = clean(request)
    tasks = find_pieces(text, weak=False)
    missed: list[tuple[int, str]] = []
    if len(chosen) == 1 and len(tasks) > 1:
        named = [(task.start, _wording(text, task)) for task in tasks]
        named = [each for each in named if not _is_file_to_change(each[1], chosen, retrieve)]
        missed = [
            (start, part)
            for start, part in named
            if _coverage(part, chosen, retrieve) < _MIN_COVERAGE
            or _is_for_another(part, chosen, retrieve, tau, most=tau)
            or (start and _reads_after_change(part, chosen, retrieve))
        ]
    clauses = find_pieces(text)
    for clause in clauses if len(clauses) > 1 else ():
        part = strip_orders(_wording(text, clause))
        task = max((t.start for t in tasks if t.start <= clause.start), default=0)
        if match_row_operation(part) == FORMAT and not _takes_format(part, chosen, retrieve):
            missed.append((clause.start, part))
            continue
        if any(start == task for start, _ in missed) or match_row_operation(part):
            continue
        if _counts(part) and (
            not _coverage(part, chosen, retrieve)
            or (
                _names_file(part)
                and _is_for_another(part, chosen, retrieve, _LIKELIER, most=_UNLIKELY)
            )
        ):
            missed.append((clause.start, part))
    return tuple(part for _, part in sorted(missed))


def find_lost_orders(
    request: str, steps: Sequence[SubIntent], retrieve: RetrieveWith
) -> tuple[str, ...]:
    """Return the parts that order a change, that begin no step, and that their step does not do.

    `steps` are the clauses of a plan with their tools. "overwrite the old one" is no such part: it
    is an input of the step before.
    """
    text = clean(request)
    begun = [content_words(step.text)[:_FIRST_WORDS] for step in steps]
    tools = {
        step.candidates[0].tool.id: step.candidates[0].tool for step in steps if step.candidates
    }
    lost = []
    for piece in find_pieces(text):
        part = strip_orders(_wording(text, piece))
        said = content_words(part)
        first = first_words(part)
        if not said or any(begin == said[: len(begin)] for begin in begun):
            continue
        if VERBS.isdisjoint(first[:1]) or match_row_operation(part):
            continue
        best = next(iter(retrieve(part)), None)
        # A tool that only reads does not do what a part orders to change.
        served = best is not None and best.tool.id in tools and best.caution is None
        if not served and not any(is_remark(tool, part) for tool in tools.values()):
            lost.append(part)
    return tuple(lost)


def separate_served_parts(
    request: str, retrieve: RetrieveWith, tau: float
) -> tuple[tuple[tuple[str, Ranked], ...], tuple[str, ...]]:
    """Return the parts that a tool serves, each with its tool, and the parts that no tool serves.

    Used if no tool serves the whole request. Both are empty if all parts are served, or none.
    """
    text = clean(request)
    pieces = find_pieces(text, weak=False)
    pieces = pieces if len(pieces) > 1 else find_pieces(text)
    parts = [_wording(text, piece) for piece in pieces]
    found = [(part, next(iter(retrieve(part)), None)) for part in parts if part]
    good = tuple((part, best) for part, best in found if best and best.p >= tau)
    if not good or len(good) == len(found):
        return (), ()
    fitting = {part for part, _ in good}
    return good, tuple(part for part, _ in found if part not in fitting)


def _wording(text: str, piece: RequestPiece) -> str:
    return text[piece.start : piece.end].strip(" ,;.!?")


def _counts(part: str) -> bool:
    return sum(word.isalpha() for word in content_words(part)) >= _MIN_WORDS


def _names_file(part: str) -> bool:
    return any("/" in value.text or "." in value.text for value in cut_out_values(part)[1])


def _is_for_another(
    part: str, chosen: Sequence[str], retrieve: RetrieveWith, tau: float, *, most: float
) -> bool:
    """Return True if a tool that is not chosen fits a part, and all chosen have p below `most`."""
    found = retrieve(part, include=chosen)
    if not found or found[0].tool.id in chosen or found[0].p < tau:
        return False
    return all(each.p < most for each in found if each.tool.id in chosen)


def _reads_after_change(part: str, chosen: Sequence[str], retrieve: RetrieveWith) -> bool:
    """Return True if a later part asks to see something, and the only tool changes something.

    "Then show what the archive contains" shares its words with the tool that makes an archive.
    """
    if READING.isdisjoint(first_words(part)) or match_row_operation(part):
        return False
    return _only_change(part, chosen, retrieve)


def _is_file_to_change(part: str, chosen: Sequence[str], retrieve: RetrieveWith) -> bool:
    """Return True for a file alone, such as "into app.conf", if the only tool changes something.

    Then it is a value of that tool. A tool that reads saves nothing, so the part stays uncovered.
    """
    rest, values = cut_out_values(part)
    return bool(values) and not content_words(rest) and _only_change(part, chosen, retrieve)


def _only_change(part: str, chosen: Sequence[str], retrieve: RetrieveWith) -> bool:
    kinds = {each.tool.kind for each in retrieve(part, include=chosen) if each.tool.id in chosen}
    return kinds == {"write"}


def _takes_format(part: str, chosen: Sequence[str], retrieve: RetrieveWith) -> bool:
    """Return True if a chosen tool takes the format that the part asks for."""
    found = retrieve(part, include=chosen)
    return any(takes_format(each.tool, part) for each in found if each.tool.id in chosen)


def _coverage(part: str, chosen: Sequence[str], retrieve: RetrieveWith) -> float:
    """Return the share of the part's idf mass that the best of the chosen tools has."""
    found = retrieve(part, include=chosen)
    return max((r.signals["coverage"] for r in found if r.tool.id in chosen), default=0.0)
