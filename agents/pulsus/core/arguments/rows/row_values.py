"""Read the value of a condition in the type and unit of its column. Pure.

A number is converted to the unit of the column here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pulsus.core.arguments.rows.clause_tokens import Token
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import STOP_WORDS, stem, words
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_TRUE = word_set("true yes on")
_FALSE = word_set("false no off")
_FILLERS = word_set("the a an text string word value user pattern regex")
_NO_VALUES = STOP_WORDS | word_set("""
    one ones same different known unknown set equal long short big small high low more less least
    most first last only
    """)
"""Words behind "is" that say something else than the value."""

_LAST_WORDS: Final = word_set("""
    and or but then as in into to for from on with of at please pls plz thx thanks only here now
    sorted ordered i.e eg e.g because so that which who when it among per over during is are has
    while until plus rows ones table
    """)
"""Words that may follow a value. Another word makes the value doubtful."""


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value, the number of the token behind it, and whether nothing speaks against it."""

    value: JsonValue
    behind: int
    sure: bool


def number_for(column: Column, token: Token) -> int | float | None:
    """Return the number in the unit of the column; None if the unit is another one.

    A number without a unit counts as being in the column's own.
    """
    if token.kind != "number" or column.kind not in ("number", "unknown"):
        return None
    kind, factor = column.unit
    if not token.measure:
        value = token.number
    elif token.measure == kind:
        value = round(token.base / factor, 9)
    else:
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def listed_value(column: Column, tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """Return the value of the column's list that stands here, and the place behind it.

    It may stand in another form: `zombies` for `zombie`, `this machine` as two words.
    """
    found: list[tuple[int, bool, str]] = []
    for value in column.values:
        wanted = words(value)
        said: list[str] = []
        for behind, token in enumerate(tokens[place : place + 4], start=place + 1):
            if token.kind not in ("word", "quoted"):
                break
            said.extend(words(token.value))
            if [stem(word) for word in said] == [stem(word) for word in wanted]:
                found.append((behind, said == wanted, value))
    best = max(found, default=None)
    # `expiring` and `expired` have one stem: then only the exact word counts.
    if best is None or (not best[1] and sum(one[:2] == best[:2] for one in found) > 1):
        return None
    return best[2], best[0]


def read_value(
    column: Column, tokens: Sequence[Token], place: int, known: frozenset[str]
) -> ReadValue | None:
    """Return the value of `column` that begins at this token, or None.

    `known` are stems of what the rows are about: "user root processes" has the value `root`.
    """
    while place < len(tokens) - 1 and tokens[place].low in _FILLERS:
        place += 1
    if place >= len(tokens):
        return None
    token = tokens[place]
    listed = listed_value(column, tokens, place)
    if listed:
        return ReadValue(listed[0], listed[1], _ends(tokens, listed[1], known))
    if column.kind == "flag":
        known_word = token.low in _TRUE | _FALSE
        return ReadValue(token.low in _TRUE, place + 1, True) if known_word else None
    if column.kind == "number":
        number = number_for(column, token)
        return None if number is None else ReadValue(number, place + 1, True)
    if token.kind == "quoted":
        return ReadValue(token.value, place + 1, True)
    if token.kind == "number":
        return ReadValue(_as_written(column, token), place + 1, not token.measure)
    if token.kind != "word" or token.low in _NO_VALUES:
        return None
    sure = not column.values and _ends(tokens, place + 1, known)
    return ReadValue(token.value, place + 1, sure)


def _as_written(column: Column, token: Token) -> JsonValue:
    number = token.number
    if column.kind == "unknown" and not token.measure:
        return int(number) if number == int(number) else number
    return token.value


def _ends(tokens: Sequence[Token], place: int, known: frozenset[str]) -> bool:
    if place >= len(tokens) or tokens[place].kind == "mark":
        return True
    return tokens[place].low in _LAST_WORDS or known.issuperset(tokens[place].stems)
