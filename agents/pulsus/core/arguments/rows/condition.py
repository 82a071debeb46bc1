"""A condition on rows, and the words beside a value that may name its column. Pure.

Conditions are read in `conditions.py`. The condition (`when`) of a plan's step is another thing:
`execution/engine/plan_run.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from pulsus.core.arguments.rows.clause_tokens import Token
from pulsus.core.arguments.rows.column_match import ColumnMatch, column_at
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.rows.comparisons import INVERSE, operator_behind
from pulsus.core.arguments.rows.row_values import ReadValue, listed_value, read_value
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_BEFORE = 5
_BEHIND = 4
"""Tokens beside an operator or value among which its column is looked for."""

BOUNDS: Final = word_set("""
    where whose with having that which who when if and or but only just keep rows those ones these
    w/ than as into for from by to under
    """)
"""Words that no name of a column goes beyond."""

_DROP = word_set("""
    drop drops dropping exclude excludes excluding hide hiding skip skipping without except minus
    ignore ignoring omit omitting remove removing discard discarding no not
    """)
_OUT = (
    *(("leave", "out"), ("filter", "out"), ("throw", "out"), ("leaving", "out"), ("but", "not")),
    *((word, "but") for word in ("everything", "all", "anything")),
)
_TURNS = word_set("but keep only i.e instead")
_NEGATIONS = word_set("isn't aren't isnt arent never don't doesn't nor cannot can't")

_BOUNDS_BEHIND = BOUNDS | word_set("in on at since over during please pls here with is are")


@dataclass(frozen=True, slots=True)
class Condition:
    """`column op value` in the words `text[start:end]`. If not `sure`, it is only proposed."""

    column: Column
    op: str
    value: JsonValue
    start: int
    end: int
    sure: bool


def inverted(condition: Condition) -> Condition:
    """Return the condition for the rows that this one leaves out, unsure if no operator says it."""
    op = INVERSE.get(condition.op)
    if op is None:
        return replace(condition, sure=False)
    return replace(condition, op=op)


def alternatives(
    column: Column,
    tokens: Sequence[Token],
    read: ReadValue,
    columns: Sequence[Column],
    known: frozenset[str],
) -> tuple[list[JsonValue], int]:
    """Return the values of "root or admin", and the place of the token behind the last one."""
    values, place = [read.value], read.behind
    joins: set[str] = set()
    while place + 1 < len(tokens):
        joined = tokens[place].low
        listed = listed_value(column, tokens, place + 1)
        if joined not in ("or", "/") and not (joined in (",", "and") and listed):
            break
        if not listed and column_at(tokens, place + 1, columns):  # a second condition
            break
        more = read_value(column, tokens, place + 1, known)
        if more is None or operator_behind(tokens, place):
            break
        values.append(more.value)
        joins.add(joined)
        place = more.behind
    # "warnings, errors only" is no list, because no "or" or "and" ends it.
    return (values, place) if joins != {","} else ([read.value], read.behind)


def make_equal(
    column: Column, values: Sequence[JsonValue], start: int, end: int, *, sure: bool
) -> Condition:
    """Return the condition that a column has one of the values; of a list, that it contains one."""
    if column.kind == "list":
        one = len(values) == 1
        return Condition(column, "contains", values[0], start, end, sure and one)
    if len(values) == 1:
        return Condition(column, "==", values[0], start, end, sure)
    return Condition(column, "in", list(values), start, end, sure)


def is_left_out(tokens: Sequence[Token], place: int) -> bool:
    """Return True if the words before say that such rows go: "drop those ...", "no", "aren't"."""
    said: list[str] = []
    for token in tokens[:place]:
        turns = token.low in _TURNS and said[-1:] not in (["everything"], ["all"], ["anything"])
        if token.kind == "mark" or turns:
            said.clear()
        else:
            said.append(token.low)
    if not _DROP.isdisjoint(said) or any(pair in _OUT for pair in pairwise(said)):
        return True
    return not _NEGATIONS.isdisjoint(said[-3:])


def window_before(tokens: Sequence[Token], place: int) -> list[Token]:
    """Return the tokens before this place that may name a column."""
    window: list[Token] = []
    for token in reversed(tokens[max(0, place - _BEFORE) : place]):
        if token.kind in ("mark", "sign", "number") or token.low in BOUNDS:
            break
        window.insert(0, token)
    return window


def window_behind(tokens: Sequence[Token], place: int) -> list[Token]:
    """Return the tokens from this place on that may name a column."""
    window: list[Token] = []
    for token in tokens[place : place + _BEHIND]:
        if token.kind in ("mark", "sign", "number") or token.low in _BOUNDS_BEHIND:
            break
        window.append(token)
    return window


def is_sure(match: ColumnMatch, known: frozenset[str]) -> bool:
    """Return True if no unknown word beside the column may change which one is meant."""
    return known.issuperset(match.others)
