"""Conditions without an operator: `state zombie`, "owned by root", "weak keys". Pure.

`conditions.py` tries them after those with an operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pulsus.core.arguments.rows.clause_tokens import Token
from pulsus.core.arguments.rows.column_match import column_at
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.rows.condition import (
    BOUNDS,
    Condition,
    alternatives,
    inverted,
    is_left_out,
    make_equal,
)
from pulsus.core.arguments.rows.row_values import ReadValue, listed_value, read_value
from pulsus.core.arguments.words.word_set import word_set

_PREPOSITIONS = word_set("in with on at to from for of by over under through like")

_OWNERS = ("owner", "user", "account")
_VERBS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("owned by", "belonging to", "belong to"), ("==", _OWNERS)),
    **dict.fromkeys(("run by", "started by", "running as", "run as"), ("==", ("user",))),
    **dict.fromkeys(("calls", "calling", "invokes", "invoking"), ("contains", ("command",))),
    **dict.fromkeys(("leaving via", "leave via", "through"), ("==", ("interfac",))),
}
"""Verbs that name the column of their object, with the columns in the order of preference."""


def read_verbs(
    tokens: Sequence[Token], columns: Sequence[Column], known: frozenset[str]
) -> Iterator[Condition]:
    """Yield the condition of "owned by www-data" and "that calls rsync"."""
    for place in range(len(tokens) - 1):
        for words in ((tokens[place].low, tokens[place + 1].low), (tokens[place].low,)):
            op, names = _VERBS.get(" ".join(words), ("", ()))
            behind = place + len(words)
            column = next((c for name in names for c in columns if c.stems == (name,)), None)
            if column is None or behind >= len(tokens):
                continue
            read = read_value(column, tokens, behind, known)
            if read and tokens[behind].kind in ("word", "quoted"):
                end = tokens[read.behind - 1].end
                yield Condition(column, op, read.value, tokens[place].start, end, read.sure)


def read_beside(
    tokens: Sequence[Token], columns: Sequence[Column], known: frozenset[str]
) -> Iterator[Condition]:
    """Yield the conditions of `state zombie`, `exit code 137`, `weak: true`, `user root or ada`."""
    place = 0
    while place < len(tokens):
        named = column_at(tokens, place, columns)
        first = place + named[0] if named else place + 1
        if named and first < len(tokens):
            column = named[1]
            at = first + (tokens[first].low == ":" and column.kind == "flag")
            read = read_value(column, tokens, at, known)
            named_next = at < len(tokens) and column_at(tokens, at, columns)
            if read and not named_next and _is_value_beside(column, tokens, at, read):
                values, behind = alternatives(column, tokens, read, columns, known)
                sure = read.sure and not _is_verb(column, tokens, at, read)
                start, end = tokens[place].start, tokens[behind - 1].end
                yield make_equal(column, values, start, end, sure=sure)
                first = behind
        place = first


def _is_value_beside(column: Column, tokens: Sequence[Token], place: int, read: ReadValue) -> bool:
    """Return True for a value that cannot be an ordinary word of the sentence."""
    token = tokens[place]
    if read.value in column.values or token.kind in ("quoted", "number") or column.kind == "flag":
        return True
    return read.sure and not column.values and token.low not in BOUNDS and token.low[:1].isalnum()


def _is_verb(column: Column, tokens: Sequence[Token], place: int, read: ReadValue) -> bool:
    """Return True if the value may be the verb of "path lies in /srv"."""
    behind = tokens[read.behind].low if read.behind < len(tokens) else ""
    plain = tokens[place].kind == "word" and read.value not in column.values
    return plain and column.kind != "flag" and behind in _PREPOSITIONS


def read_listed(tokens: Sequence[Token], columns: Sequence[Column]) -> Iterator[Condition]:
    """Yield `column == value` for a value that the contract lists for one column only.

    "errors only, no warnings" says `error`: the value that is left out counts only if it is alone.
    """
    wanted: list[Condition] = []
    dropped: list[Condition] = []
    place = 0
    while place < len(tokens):
        found = [(c, v) for c in columns if (v := listed_value(c, tokens, place))]
        if len(found) != 1:
            place += 1
            continue
        column, (value, behind) = found[0]
        out = is_left_out(tokens, place)
        read = ReadValue(value, behind, True)
        values, behind = alternatives(column, tokens, read, columns, frozenset())
        start, end = tokens[place].start, tokens[behind - 1].end
        one = make_equal(column, values, start, end, sure=True)
        (dropped if out else wanted).append(inverted(one) if out else one)
        place = behind
    yield from wanted or dropped


def read_flags(tokens: Sequence[Token], columns: Sequence[Column]) -> Iterator[Condition]:
    """Yield `column == true` for a named column of yes and no: "weak keys", "aren't ok"."""
    flags = [c for c in columns if c.kind == "flag"]
    place = 0
    while place < len(tokens):
        named = column_at(tokens, place, flags)
        if named is None:
            place += 1
            continue
        behind = place + named[0]
        # "above the 80% mark" compares, and names no column.
        more = behind + (behind < len(tokens) and tokens[behind].low in ("the", "a", "about"))
        compared = more < len(tokens) and tokens[more].kind == "number"
        if not compared:
            value = not is_left_out(tokens, place)
            start, end = tokens[place].start, tokens[behind - 1].end
            yield Condition(named[1], "==", value, start, end, True)
        place = behind
