"""Read a condition on rows from words: column, operator and value (ADR 38). Pure.

Each operator of a clause is tried with the words before it (`compared_conditions.py`), then with
those behind its value. If no operator gives a condition, the value may stand beside its column
(`state zombie`, `plain_conditions.py`). The rows are filtered by the tool itself; `row_filler.py`
fills its inputs. The condition (`when`) of a plan's step is looked at in
`execution/engine/plan_run.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pulsus.core.arguments.rows.clause_tokens import Token, read_tokens
from pulsus.core.arguments.rows.column_match import BENIGN
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.rows.compared_conditions import read_compared
from pulsus.core.arguments.rows.comparisons import ORDERING, find_comparisons
from pulsus.core.arguments.rows.condition import Condition, inverted, is_left_out
from pulsus.core.arguments.rows.plain_conditions import (
    read_beside,
    read_flags,
    read_listed,
    read_verbs,
)


def find_conditions(
    text: str, columns: Sequence[Column], about: Collection[str] = (), *, named: bool = False
) -> list[Condition]:
    """Return the different conditions of a clause, in order.

    `about` are stems that say what the rows are. With `named` a condition counts only if its words
    name the column: for text that may be about something else.
    """
    tokens = read_tokens(text)
    known = frozenset(about) | BENIGN
    found = [_kept(one, tokens) for one in read_compared(tokens, columns, known, named)]
    for more in (read_verbs(tokens, columns, known), read_beside(tokens, columns, known)):
        found += [_kept(one, tokens) for one in more if not _overlaps(one, found)]
    # A second condition in the clause makes the first one doubtful. Elsewhere, such a word may be
    # about something else.
    for last in (read_listed(tokens, columns), read_flags(tokens, columns)):
        if not found or not named:
            found += [one for one in last if not _overlaps(one, found)]
    found = [one for one in found if not _is_grouping(one, tokens)]
    found.sort(key=lambda one: one.start)
    if not named and _has_other_limit(tokens, found):
        found = [replace(one, sure=False) for one in found]
    kept: dict[tuple[str, str, str], Condition] = {}
    for one in found:
        kept.setdefault((one.column.name, one.op, repr(one.value)), one)
    return list(kept.values())


def _kept(condition: Condition, tokens: Sequence[Token]) -> Condition:
    """Return the condition for the rows that stay: "drop those with a count below 10"."""
    first = sum(token.start < condition.start for token in tokens)
    return inverted(condition) if is_left_out(tokens, first) else condition


def _is_grouping(condition: Condition, tokens: Sequence[Token]) -> bool:
    """Return True if "per" or "for each" stands before the words: they count groups of rows.

    "per invalid user" asks for one row for each user, and leaves no row out.
    """
    before = [token.low for token in tokens if token.start < condition.start][-2:]
    return before[-1:] == ["per"] or before == ["for", "each"]


def _overlaps(one: Condition, found: Sequence[Condition]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in found)


def _has_other_limit(tokens: Sequence[Token], found: Sequence[Condition]) -> bool:
    """Return True if the clause compares with a number that is in no condition.

    "weak keys below 2048" asks for more than `weak == true`.
    """
    for comparison in find_comparisons(tokens):
        number = next((t for t in tokens[comparison.behind :][:2] if t.kind == "number"), None)
        limits = comparison.op in ORDERING and number is not None
        if number and limits and not any(o.start <= number.start < o.end for o in found):
            return True
    return any(token.low == "between" for token in tokens)
