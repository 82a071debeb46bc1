"""Find the column that words of a request name: `used percent`, `paths`, `mem over 1 GiB`. Pure.

`columns.py` reads the columns of a tool from its contract. Columns of a printed table are chosen in
`cli/results/fit_columns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rapidfuzz.distance import OSA

from pulsus.core.arguments.rows.clause_tokens import Token
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import STOP_WORDS
from pulsus.fast_dataclass import dataclass

_MEANS = {
    "usernam": ("user", "account"), "own": ("owner", "user"), "owner": ("user",),
    "login": ("user",), "mem": ("memori",), "ram": ("memori",), "size": ("byte",),
    "util": ("use",), "usag": ("use",), "msg": ("messag",), "pct": ("percent",),
    "nic": ("interfac",), "cmd": ("command",), "filenam": ("path", "file"),
    "receiv": ("rx",), "reciev": ("rx",), "incom": ("rx",),
    "sent": ("tx",), "transmit": ("tx",), "outgo": ("tx",),
    "time": ("count",), "occurr": ("count",), "full": ("use",),
}  # fmt: skip
"""Stems that people use for the words of a column's name, in the order of preference."""

_OF_MEASURE = {
    "percent": frozenset(("percent", "pct")),
    "size": frozenset(("byte",)),
    "duration": word_set("day hour minut second millisecond ms"),
}
BENIGN: Final = word_set("""
    value column field entri row item one number amount total point part show keep take has have had
    with get got ha list give find see result thing record group count time filter print return
    select want need left name
    """)
"""Words beside a column that do not change which column is meant."""

_LEAST_LETTERS = 5


@dataclass(frozen=True, slots=True)
class ColumnMatch:
    """The column that words name.

    `whole` says that they have all words of its name, and `only` that they have a word of no other
    column. `others` are content words beside them that the name does not have. The words stand in
    `text[start:end]`.
    """

    column: Column
    whole: bool
    only: bool
    others: tuple[str, ...]
    start: int
    end: int


def find_column(
    tokens: Sequence[Token],
    columns: Iterable[Column],
    fits: Callable[[Column], bool],
    measure: str = "",
    *,
    behind: bool = False,
) -> ColumnMatch | None:
    """Return the one column that the tokens name best; None without one, or with several alike.

    `measure` is the kind of a value's unit: "over 80 %" names a part of `used_percent`. The tokens
    stand before the value, or `behind` it: "more than 500 sockets open". Of two columns that are
    named as well, the nearer one counts, and words beyond it are no part of a name.
    """
    said = _said_stems(tokens)
    scored = []
    for column in columns:
        if not fits(column):
            continue
        places = {s: place for s in column.stems if (place := _place_of(s, said)) is not None}
        implied = _OF_MEASURE.get(measure, frozenset()) if column.unit[0] == measure else ()
        matched = [s for s in column.stems if s in places or s in implied]
        if not places:
            continue
        whole = len(matched) == len(column.stems)
        nearest = -min(places.values()) if behind else max(places.values())
        score = (whole, len(places) if whole else 0, len(matched) / len(column.stems), nearest)
        scored.append((score, column, whole, sorted(places.values())))
    if not scored:
        return None
    scored.sort(key=lambda one: one[0], reverse=True)
    best = scored[0]
    if len(scored) > 1 and scored[1][0] == best[0]:
        return None
    used = set(best[3])
    said = said[: max(used) + 1] if behind else said
    others = tuple(
        word
        for place, (word, low) in enumerate(said)
        if place not in used and low not in STOP_WORDS and word not in BENIGN
    )
    ranges = [token for token in tokens if _has_place(token, tokens, used)]
    return ColumnMatch(best[1], best[2], len(scored) == 1, others, ranges[0].start, ranges[-1].end)


def find_by_measure(columns: Iterable[Column], measure: str) -> Column | None:
    """Return the one column with this kind of unit, or the one whose name is nothing but the unit.

    "larger than 1 GB" means `bytes`, also beside `disk_bytes`.
    """
    found = [c for c in columns if measure and c.unit[0] == measure]
    plain = [c for c in found if len(c.stems) == 1]
    best = found if len(found) == 1 else plain
    return best[0] if len(best) == 1 else None


def exact_column(token: Token, columns: Iterable[Column]) -> Column | None:
    """Return the column whose name is the token as it stands."""
    return next((c for c in columns if c.name.lower() == token.low), None)


def column_at(
    tokens: Sequence[Token], place: int, columns: Sequence[Column]
) -> tuple[int, Column] | None:
    """Return the column whose whole name begins at this token, and the number of its tokens.

    The words stand in the order of the name (`exit code`). A misspelt word is not taken.
    """
    best: tuple[int, Column] | None = None
    for column in columns:
        said: list[str] = []
        for count, token in enumerate(tokens[place : place + 4], start=1):
            if token.kind not in ("word", "quoted"):
                break
            said.extend(token.stems)
            if tuple(said) == column.stems and (best is None or count > best[0]):
                best = (count, column)
    return best


def _said_stems(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    return [(s, t.low) for t in tokens if t.kind in ("word", "quoted") for s in t.stems]


def _has_place(token: Token, tokens: Sequence[Token], used: set[int]) -> bool:
    place = 0
    for one in tokens:
        count = len(one.stems) if one.kind in ("word", "quoted") else 0
        if one is token:
            return any(place <= at < place + count for at in used)
        place += count
    return False


def _place_of(wanted: str, said: Sequence[tuple[str, str]]) -> int | None:
    """Return the last place of the stem: as it is, by a word for it, or misspelt."""
    for place in range(len(said) - 1, -1, -1):
        if said[place][0] == wanted:
            return place
    for place in range(len(said) - 1, -1, -1):
        if wanted in _MEANS.get(said[place][0], ()):
            return place
    if len(wanted) < _LEAST_LETTERS:
        return None
    for place in range(len(said) - 1, -1, -1):
        if len(said[place][0]) >= _LEAST_LETTERS and OSA.distance(wanted, said[place][0]) == 1:
            return place
    return None
