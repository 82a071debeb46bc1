"""Read an order of rows from words: the column, how many rows, and the direction (ADR 38). Pure.

"Top 5", "largest first" and "oldest" are read here. `row_filler.py` fills the inputs of a sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rapidfuzz.distance import OSA

from pulsus.core.arguments.rows.clause_tokens import Token, read_tokens
from pulsus.core.arguments.rows.column_match import column_at, find_by_measure, find_column
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.words.superlatives import LEAST, MOST
from pulsus.core.arguments.words.word_set import word_set
from pulsus.fast_dataclass import dataclass

_OF_UNIT: Final = {
    "size": word_set("heaviest biggest largest fattest lightest smallest"),
    "duration": word_set("oldest youngest newest longest shortest slowest fastest"),
    "percent": word_set("fullest emptiest"),
}
"""Superlatives that name a measure: "the 15 heaviest" are ordered by a size."""

_AGE = word_set("oldest youngest newest")
_UNCLEAR = word_set("min max minimum maximum top worst")
"""Words that say nothing about the direction, unless "first" follows."""

_SPEED = word_set("fastest slowest longest shortest")
_SUPERLATIVES = MOST | LEAST
_LONG_MOST = frozenset(word for word in MOST if len(word) >= 6)
_SORT = word_set("sort sorted sorting order ordered ordering rank ranked ranking")
_BY = word_set("by on after per")
_ASCENDING = word_set("ascending asc increasing upwards alphabetically alphabetical")
_DESCENDING = word_set("descending desc decreasing downwards")
_ENDS = word_set("""
    top first last limit only just show give keep then and but as in into ascending descending asc
    desc from of with for please pls which where that to take
    """)
_WINDOW = 4


@dataclass(frozen=True, slots=True)
class RowOrder:
    """An order. Each part may be None if no words say it, and has its place in the text."""

    column: Column | None
    column_at: tuple[int, int]
    count: int | None
    count_at: tuple[int, int]
    descending: bool | None
    descending_at: tuple[int, int]


def find_order(text: str, columns: Sequence[Column], *, own: bool) -> RowOrder:
    """Return what the words say about the order of rows.

    `own` says that the text asks for nothing but this order. A column or a number that stands
    alone counts only then.
    """
    tokens = read_tokens(text)
    numbers = [c for c in columns if c.kind in ("number", "unknown")]
    found = list(_sorted_by(tokens, columns)) or list(_by_superlative(tokens, numbers))
    if not found and own:
        found = list(_alone(tokens, numbers)) or list(_by_unit(tokens, numbers))
    named = {column.name: (column, at) for column, at in found}
    column, column_at_ = next(iter(named.values())) if len(named) == 1 else (None, (0, 0))
    count, count_at = _count(tokens, column_at_ if column else None, own=own)
    descending, descending_at = _direction(tokens, column)
    return RowOrder(column, column_at_, count, count_at, descending, descending_at)


def _sorted_by(
    tokens: Sequence[Token], columns: Sequence[Column]
) -> Iterator[tuple[Column, tuple[int, int]]]:
    """Yield the columns of "sort them by X" and "the 15 largest by X"."""
    for place, token in enumerate(tokens):
        if token.low not in _BY or place == 0:
            continue
        before = {one.low for one in tokens[max(0, place - _WINDOW - 1) : place]}
        if before.isdisjoint(_SORT | MOST | LEAST | {"first"}):
            continue
        window = _until_end(tokens, place + 1)
        match = find_column(window, columns, lambda _: True, behind=True)
        if match and (match.whole or match.only) and not match.others:
            yield match.column, (match.start, match.end)


def _by_superlative(
    tokens: Sequence[Token], columns: Sequence[Column]
) -> Iterator[tuple[Column, tuple[int, int]]]:
    """Yield the columns of "most errors", "fewest days left" and "highest values"."""
    for place, token in enumerate(tokens):
        if _is_superlative(token):
            behind = place + 1
            while behind < len(tokens) and tokens[behind].low in ("the", "of", "their"):
                behind += 1
            window = _until_end(tokens, behind)
            if window and window[0].low == "by":
                continue
            match = find_column(window, columns, lambda _: True, behind=True)
            # The unit may stand behind: "the most memory in bytes".
            wider = find_column(
                [t for t in tokens[behind : behind + _WINDOW] if t.kind == "word"],
                columns,
                lambda _: True,
                behind=True,
            )
            match = wider if wider and wider.whole and not (match and match.whole) else match
            if match and (match.whole or match.only) and not match.others:
                if not _names_another(tokens[:place], match.column, columns):
                    yield match.column, (token.start, max(token.end, match.end))
                continue
            bracketed = _in_brackets(tokens, place, columns)
            if bracketed:
                yield bracketed


def _names_another(before: Sequence[Token], column: Column, columns: Sequence[Column]) -> bool:
    """Return True for "dropped most packets": the verb names another column than the words."""
    said = set(before[-1].stems) - set(column.stems) if before else set()
    return any(not said.isdisjoint(other.stems) for other in columns)


def _in_brackets(
    tokens: Sequence[Token], place: int, columns: Sequence[Column]
) -> tuple[Column, tuple[int, int]] | None:
    """Return the column of "ten biggest members (bytes)"."""
    for at in range(place + 1, min(place + 4, len(tokens) - 2)):
        named = column_at(tokens, at + 1, columns) if tokens[at].low == "(" else None
        if named and at + 1 + named[0] < len(tokens) and tokens[at + 1 + named[0]].low == ")":
            return named[1], (tokens[place].start, tokens[at + named[0]].end)
    return None


def _alone(
    tokens: Sequence[Token], columns: Sequence[Column]
) -> Iterator[tuple[Column, tuple[int, int]]]:
    """Yield every column of numbers that the clause names in full."""
    place = 0
    while place < len(tokens):
        named = column_at(tokens, place, columns)
        place += named[0] if named else 1
        if named:
            first, last = tokens[place - named[0]], tokens[place - 1]
            yield named[1], (first.start, last.end)


def _by_unit(
    tokens: Sequence[Token], columns: Sequence[Column]
) -> Iterator[tuple[Column, tuple[int, int]]]:
    """Yield the one column with the measure of a superlative: sizes for "heaviest"."""
    for token in tokens:
        for unit, names in _OF_UNIT.items():
            fitting = find_by_measure(columns, unit) if token.low in names else None
            # "the newest" of expiring things is not the one with the most days left.
            if fitting and (token.low not in _AGE or "age" in fitting.stems):
                yield fitting, (token.start, token.end)


def _count(
    tokens: Sequence[Token], by: tuple[int, int] | None, *, own: bool
) -> tuple[int | None, tuple[int, int]]:
    """Return how many rows to keep: the one number that says so.

    The number of "the 10 with the most errors" counts before that of "500 top users", and a number
    alone only in a text about nothing else.
    """
    tied, strong, plain = [], [], []
    for place, token in enumerate(tokens):
        whole = token.number == int(token.number) and token.number >= 1
        if token.kind != "number" or token.measure or not whole:
            continue
        if by and by[0] <= token.start < by[1]:
            continue
        if by and token.start < by[0] and _is_tied(tokens, place, by[0]):
            tied.append(token)
        before = tokens[place - 1].low if place else ""
        behind = [one.low for one in tokens[place + 1 : place + 3]]
        ranked = not _SUPERLATIVES.isdisjoint(behind) or before in _SUPERLATIVES
        counted = behind[:1] in (["rows"], ["entries"]) or behind in (
            ["of", "them"],
            ["of", "these"],
        )
        if ranked or counted or before in ("top", "first", "last", "limit"):
            strong.append(token)
        else:
            plain.append(token)
    counts = tied[-1:] or strong or (plain if own else [])
    values = {int(token.number) for token in counts}
    if len(values) != 1:
        return None, (0, 0)
    return values.pop(), (counts[0].start, counts[0].end)


def _is_tied(tokens: Sequence[Token], place: int, until: int) -> bool:
    """Return True if no mark or other number stands between the number and its superlative."""
    between = [t for t in tokens[place + 1 : place + 8] if t.start < until]
    near = place + 8 >= len(tokens) or tokens[place + 8].start > until
    return near and all(token.kind in ("word", "quoted") for token in between)


def _direction(
    tokens: Sequence[Token], column: Column | None
) -> tuple[bool | None, tuple[int, int]]:
    """Return whether the largest come first; None if nothing says so, or both are said."""
    said: dict[bool, Token] = {}
    for place, token in enumerate(tokens):
        behind = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if token.low in _ASCENDING:
            said[False] = token
        elif token.low in _DESCENDING:
            said[True] = token
        elif token.low in _AGE | _SPEED:
            largest = _largest_first(token.low, column)
            if largest is not None:
                said[largest] = token
        elif (
            token.low in ("min", "max", "minimum", "maximum", "top", "worst") and behind != "first"
        ):
            continue
        elif token.low in LEAST:
            said.setdefault(False, token)
        elif _is_superlative(token):
            said.setdefault(True, token)
    if len(said) != 1:
        return None, (0, 0)
    value, token = next(iter(said.items()))
    return value, (token.start, token.end)


def _largest_first(word: str, column: Column | None) -> bool | None:
    """Return what "oldest" or "fastest" means for the values of a column; None if that is open."""
    if column is None:
        return None
    if word in _AGE:
        aged = "age" in column.stems
        dated = column.kind in ("text", "unknown")
        return (word == "oldest") == aged if aged or dated else None
    if "per" in column.stems:
        return word == "fastest"
    return word in ("slowest", "longest") if column.unit[0] == "duration" else None


def _is_superlative(token: Token) -> bool:
    """Return True for a superlative, also a misspelt one."""
    if token.low in _SUPERLATIVES:
        return True
    return len(token.low) >= 6 and any(OSA.distance(token.low, one) == 1 for one in _LONG_MOST)


def _until_end(tokens: Sequence[Token], place: int) -> list[Token]:
    window: list[Token] = []
    for token in tokens[place : place + _WINDOW]:
        if token.kind not in ("word", "quoted") or (token.low in _ENDS and window):
            break
        window.append(token)
    return window
