"""Conditions with an operator: `count at least 5`, "500 or more sockets", "'x' in the name". Pure.

The column stands before the operator, or behind the value. `comparisons.py` knows the operators,
`row_values.py` reads the value, and `conditions.py` tries both orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.core.arguments.rows.clause_tokens import Token
from pulsus.core.arguments.rows.column_match import (
    ColumnMatch,
    column_at,
    find_by_measure,
    find_column,
)
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.rows.comparisons import (
    ORDERING,
    TEXTUAL,
    Comparison,
    find_comparisons,
    operator_behind,
)
from pulsus.core.arguments.rows.condition import (
    Condition,
    alternatives,
    inverted,
    is_sure,
    make_equal,
    window_before,
    window_behind,
)
from pulsus.core.arguments.rows.row_values import listed_value, number_for, read_value

_HAVING = frozenset(("with", "has", "have", "having", "mentioning"))
_PATHS = frozenset(("path", "file", "folder", "mount", "directori"))


def read_compared(
    tokens: Sequence[Token], columns: Sequence[Column], known: frozenset[str], named: bool
) -> Iterator[Condition]:
    """Yield the condition of each operator. With `named`, only those whose column is named."""
    comparisons = list(find_comparisons(tokens))
    for comparison in comparisons:
        if comparison.op in ORDERING:
            yield from _ordered(tokens, columns, comparison, known, named)
        elif comparison.op in ("empty", "not_empty"):
            yield from _emptiness(tokens, columns, comparison, known)
        elif comparison.op in TEXTUAL:
            yield from _textual(tokens, columns, comparison, known)
        else:
            yield from _equal(tokens, columns, comparison, known)
    for place, token in enumerate(tokens):
        if token.kind == "number":
            yield from _with_more(tokens, columns, place, known, named)
        elif token.kind == "quoted" or (place and tokens[place - 1].low in _HAVING):
            yield from _inside(tokens, columns, place, known)


def _ordered(
    tokens: Sequence[Token],
    columns: Sequence[Column],
    comparison: Comparison,
    known: frozenset[str],
    named: bool,
) -> Iterator[Condition]:
    place = comparison.behind
    while place < len(tokens) and tokens[place].low in ("the", "about", "a", "of"):
        place += 1
    if place >= len(tokens) or tokens[place].kind != "number":
        return
    # "at least 5 or more" names one operator twice, and the number keeps the first.
    behind = place + 1
    yield from _with_number(
        tokens, columns, comparison.op, (comparison.first, place, behind), known, named
    )


def _with_more(
    tokens: Sequence[Token],
    columns: Sequence[Column],
    place: int,
    known: frozenset[str],
    named: bool,
) -> Iterator[Condition]:
    """Yield the condition of "500 or more sockets" and "a count of 5 or higher"."""
    found = operator_behind(tokens, place + 1)
    if found:
        yield from _with_number(tokens, columns, found[0], (place, place, found[1]), known, named)


def _with_number(
    tokens: Sequence[Token],
    columns: Sequence[Column],
    op: str,
    places: tuple[int, int, int],
    known: frozenset[str],
    named: bool,
) -> Iterator[Condition]:
    first, at, behind = places
    number = tokens[at]

    def fits(column: Column) -> bool:
        return column.kind != "flag" and number_for(column, number) is not None

    before = find_column(window_before(tokens, first), columns, fits, number.measure)
    after = find_column(window_behind(tokens, behind), columns, fits, number.measure, behind=True)
    best = _better(before, after)
    if best is None and number.measure and not named:
        alone = find_by_measure(columns, number.measure)
        if alone is not None and fits(alone):
            best = ColumnMatch(alone, True, True, (), number.start, number.end)
    if best is None:
        return
    value = number_for(best.column, number)
    start, end = min(best.start, tokens[first].start), max(best.end, tokens[behind - 1].end)
    yield Condition(best.column, op, value, start, end, is_sure(best, known))


def _better(before: ColumnMatch | None, after: ColumnMatch | None) -> ColumnMatch | None:
    if before is None or after is None:
        return before or after
    return after if after.whole and not before.whole else before


def _emptiness(
    tokens: Sequence[Token],
    columns: Sequence[Column],
    comparison: Comparison,
    known: frozenset[str],
) -> Iterator[Condition]:
    if comparison.behind - comparison.first < 2:
        return
    # A listed value `empty` is a value: "password is empty".
    last = tokens[comparison.behind - 1]
    match = find_column(window_before(tokens, comparison.first), columns, lambda _: True)
    if match is None or not match.whole:
        return
    listed = listed_value(match.column, tokens, comparison.behind - 1)
    if listed:
        op = "==" if comparison.op == "empty" else "!="
        yield Condition(match.column, op, listed[0], match.start, last.end, True)
    elif match.column.kind != "flag":
        sure = is_sure(match, known)
        yield Condition(match.column, comparison.op, None, match.start, last.end, sure)


def _textual(
    tokens: Sequence[Token],
    columns: Sequence[Column],
    comparison: Comparison,
    known: frozenset[str],
) -> Iterator[Condition]:
    """Yield the condition of "command contains rsync" and "paths starting with /srv"."""
    behind = comparison.behind
    match = find_column(window_before(tokens, comparison.first), columns, _has_text)
    if match is None and comparison.op == "starts_with" and behind < len(tokens):
        match = _column_of_paths(tokens[behind], columns)
    read = read_value(match.column, tokens, behind, known) if match else None
    if match is None or read is None:
        return
    last = tokens[read.behind - 1]
    # One of several texts is no condition of this operator.
    several = read.behind < len(tokens) and tokens[read.behind].low == "or"
    sure = read.sure and is_sure(match, known) and not several
    text = read.value if isinstance(read.value, str) else last.value
    yield Condition(match.column, comparison.op, text, match.start, last.end, sure)


def _equal(
    tokens: Sequence[Token],
    columns: Sequence[Column],
    comparison: Comparison,
    known: frozenset[str],
) -> Iterator[Condition]:
    """Yield the condition of "user is root", "status is not ok" and "state is dead or zombie"."""
    behind = comparison.behind
    window = window_before(tokens, comparison.first)
    match = find_column(window, columns, lambda column: column.kind != "list")
    if match is None or not match.whole or operator_behind(tokens, behind + 1):
        return
    read = read_value(match.column, tokens, behind, known)
    if read is None or _says_other_column(tokens, behind, match, columns):
        return
    # "paths are long": several things have one value only if the contract lists it.
    if comparison.words in ("are", "were") and read.value not in match.column.values:
        return
    # A bare "not" may belong to any words: only the column itself may stand before it.
    if comparison.words == "not" and match.end != window[-1].end:
        return
    values, last = alternatives(match.column, tokens, read, columns, known)
    sure = read.sure and is_sure(match, known)
    end = tokens[last - 1].end
    found = make_equal(match.column, values, match.start, end, sure=sure)
    yield found if comparison.op == "==" else inverted(found)


def _has_text(column: Column) -> bool:
    return column.kind in ("text", "list", "unknown")


def _column_of_paths(value: Token, columns: Sequence[Column]) -> ColumnMatch | None:
    """Return the one column of paths for a value that is a path: "the ones beginning with /srv"."""
    if not value.value.startswith(("/", "~/")):
        return None
    named = [c for c in columns if not _PATHS.isdisjoint(c.stems) and c.kind in ("text", "unknown")]
    return (
        ColumnMatch(named[0], True, True, (), value.start, value.end) if len(named) == 1 else None
    )


def _says_other_column(
    tokens: Sequence[Token], place: int, match: ColumnMatch, columns: Sequence[Column]
) -> bool:
    """Return True if the value belongs to another column: "series that are not ok"."""
    others = [c for c in columns if c is not match.column]
    if listed_value(match.column, tokens, place):
        return False
    flag = column_at(tokens, place, [c for c in others if c.kind == "flag"])
    return flag is not None or any(listed_value(c, tokens, place) for c in others)


def _inside(
    tokens: Sequence[Token], columns: Sequence[Column], place: int, known: frozenset[str]
) -> Iterator[Condition]:
    """Yield the condition of "'x' in the name" and "whose text has 'x' in it"."""
    behind = [token.low for token in tokens[place + 1 : place + 3]]
    if behind[:1] != ["in"]:
        return
    if behind[1:] in (["it"], ["them"]):
        match = find_column(window_before(tokens, place), columns, _has_text)
        last = place + 2
    else:
        match = find_column(window_behind(tokens, place + 2), columns, _has_text, behind=True)
        last = place
    if match and match.whole:
        start, end = min(match.start, tokens[place].start), max(match.end, tokens[last].end)
        value = tokens[place].value
        yield Condition(match.column, "contains", value, start, end, is_sure(match, known))
