"""Fill the inputs of a tool that works on the rows of an earlier step (ADR 38). Pure.

A filter (column, operator, value) is read in `conditions.py`, a sort and "top 5" in `row_order.py`,
columns and title of a table in `table_words.py`. That a clause is such an operation is decided in
`core/compose/selection/row_operations.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.rows.clause_tokens import read_tokens
from pulsus.core.arguments.rows.column_match import find_column
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.rows.comparisons import written_operator
from pulsus.core.arguments.rows.condition import Condition, inverted
from pulsus.core.arguments.rows.conditions import find_conditions
from pulsus.core.arguments.rows.row_inputs import RowInputs
from pulsus.core.arguments.rows.row_order import find_order
from pulsus.core.arguments.rows.table_words import find_columns, find_title
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_SURE_P = 0.98
"""The share of right values that are filled, measured on blind requests (docs/benchmarks.md)."""
_DOUBTFUL_P = 0.5


@dataclass(frozen=True, slots=True)
class RowRequest:
    """The words that one step reads.

    `clause` is its part of the request, or "" if that is not known. `columns` are those of the rows
    that it gets, and `about` the stems of what they are.
    """

    request: str
    clause: str
    columns: tuple[Column, ...]
    about: frozenset[str]


def fill_rows(asked: RowRequest, inputs: RowInputs) -> list[FilledValue]:
    """Return values for the inputs, from the clause or else from the request.

    Outside the clause, only words that name a column are read. A value is filled only if nothing
    speaks against it, and proposed otherwise.
    """
    values = [*_title(asked, inputs)]
    if asked.columns:
        if inputs.op and inputs.field:
            values += _condition(asked, inputs)
        elif inputs.by:
            values += _order(asked, inputs)
        if inputs.columns:
            values += _columns(asked, inputs)
    return values


def _condition(asked: RowRequest, inputs: RowInputs) -> Iterator[FilledValue]:
    text = asked.clause
    found = find_conditions(text, asked.columns, asked.about) if text else []
    start = asked.request.find(text) if text else -1
    if not found and start > 0:
        found = _named_before(asked, start)
    if found and start > 0 and _LEFT_OUT.search(asked.request[:start]):
        # "minus those" ends the part before.
        found = [inverted(one) for one in found]
    if not found:
        text = asked.request
        found = find_conditions(text, asked.columns, asked.about, named=True)
        # Words of another part may be about something else.
        found = [one if _touches(one, asked, start) else replace(one, sure=False) for one in found]
    if not found and not asked.clause:
        found = find_conditions(text, asked.columns, asked.about)
    yield from _condition_values(text, found, inputs)


def _named_before(asked: RowRequest, start: int) -> list[Condition]:
    """Return the condition on the column that the words before the clause name, if they name one.

    In "how full are the disks, only those above 50 percent" several columns are percentages, and
    only `used_percent` says how full something is.
    """
    said = read_tokens(asked.request[:start])
    for measure in dict.fromkeys(token.measure for token in read_tokens(asked.clause)):
        measured = [column for column in asked.columns if measure and column.unit[0] == measure]
        match = find_column(said, measured, lambda _: True, measure)
        if match and match.whole:
            return find_conditions(asked.clause, (match.column,), asked.about)
    return []


def _touches(one: Condition, asked: RowRequest, start: int) -> bool:
    """Return True if the condition, read in the whole request, has words of the step's part."""
    if not asked.clause:
        return True
    return start >= 0 and one.start < start + len(asked.clause) and start < one.end


_LEFT_OUT = late_pattern(r"""(?ix)
    (?:\b(?:minus|except(?:\s+for)?|exclud\w+|drop\w*|skip\w*|without|ignor\w+|omit\w*|remov\w+
       |hid(?:e|ing)|leav\w+\s+out|filter\w*\s+out|throw\w*\s+(?:out|away)
       |(?:but\s+)?not(?=\s+(?:those|the\s+ones)))\b)
    (?:\s+(?:all|any|the|of|those|these|ones|rows|lines|entries|anything|everything|that\s+are))*\s*\Z
    """)
"""Words at the end of one part that leave out what the next part describes."""


def _condition_values(
    text: str, found: Sequence[Condition], inputs: RowInputs
) -> Iterator[FilledValue]:
    first = found[0] if found else None
    if first and first.op == "ends_with" and not written_operator(first.op, inputs.operators):
        first = replace(first, op="matches", value=f"{re.escape(str(first.value))}$")
    op = written_operator(first.op, inputs.operators) if first else None
    if first is None or op is None:
        return
    # One step has one condition: with two of them, a person decides.
    sure = first.sure and len(found) == 1
    words = text[first.start : first.end]
    yield _filled(inputs.field, first.column.name, words, sure)
    yield _filled(inputs.op, op, words, sure)
    yield _filled(inputs.value, first.value, words, sure)


def _order(asked: RowRequest, inputs: RowInputs) -> Iterator[FilledValue]:
    text = asked.clause or asked.request
    order = find_order(text, asked.columns, own=bool(asked.clause))
    column, words = order.column, _words(text, order.column_at)
    wide = order
    if column is None and asked.clause:
        wide = find_order(asked.request, asked.columns, own=False)
        column, words = wide.column, _words(asked.request, wide.column_at)
    if column:
        yield _filled(inputs.by, column.name, words, True)
    if inputs.count and order.count is not None:
        yield _filled(inputs.count, order.count, _words(text, order.count_at), True)
    elif inputs.count and wide.count is not None:
        yield _filled(inputs.count, wide.count, _words(asked.request, wide.count_at), True)
    if inputs.direction and order.descending is not None:
        value = order.descending == inputs.descending
        yield _filled(inputs.direction, value, _words(text, order.descending_at), True)


def _columns(asked: RowRequest, inputs: RowInputs) -> Iterator[FilledValue]:
    for text, own in ((asked.clause, True), (asked.request, False)):
        names, start, end = find_columns(text, asked.columns, own=own) if text else ([], 0, 0)
        if names:
            yield _filled(inputs.columns, list(names), text[start:end], True)
            return


def _title(asked: RowRequest, inputs: RowInputs) -> Iterator[FilledValue]:
    # "whose title is X" is a condition if the rows have titles.
    if not inputs.title or any(column.name == inputs.title for column in asked.columns):
        return
    for text in (asked.clause, asked.request):
        found = find_title(text) if text else None
        if found:
            # Without its clause, it is open where a title without quotes ends.
            words = text[found.start : found.end]
            yield _filled(inputs.title, found.text, words, found.sure)
            return


def _filled(name: str, value: JsonValue, words: str, sure: bool) -> FilledValue:
    p = _SURE_P if sure else _DOUBTFUL_P
    return FilledValue(name, value, words, p, "fill" if sure else "propose")


def _words(text: str, place: tuple[int, int]) -> str:
    return text[place[0] : place[1]]
