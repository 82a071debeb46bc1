"""Find what makes a jq program fill the memory (out of memory): long repeats, far indexes, and many
rows.

The tokens are read without their data, so a form that may grow without measure counts as one that
does: `"x" * 1e10`, `.[1e9] = 1`. What doubles its input again and again is in `doubling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, prod
from typing import Final

from pulsus.commands.inspectors.jq.doubling import find_doubling
from pulsus.commands.inspectors.jq.jq_tokens import OPENS, JqToken, operand_behind

MOST_TIMES: Final = 1_000_000
"""A repeat of a text up to this is some megabytes."""

MOST_ROWS: Final = 1e8
_ASSIGNS: Final = frozenset({"=", "|=", "+=", "-=", "*=", "/=", "%=", "//="})
_HUGE: Final = frozenset({"now", "infinite", "pow", "exp", "exp2", "exp10", "pow10", "mktime"})
_NUMBERS: Final = frozenset({"now", "length", "floor", "ceil", "round", "tonumber", "mktime"})
_MOST_COMBINED: Final = 4
_MOST_BOUND: Final = 1000
"""A larger number in a variable may be multiplied with itself."""


def find_growth(found: Sequence[JqToken]) -> str | None:
    """Return the word by which the program may grow without measure, or None."""
    return (
        _find_long_repeat(found)
        or _find_far_index(found)
        or _find_many_rows(found)
        or find_doubling(found)
    )


def _value(token: JqToken) -> float | None:
    if token.kind != "number":
        return None
    try:
        return float(token.text)
    except ValueError:
        return inf


def _is_large(token: JqToken) -> bool:
    value = _value(token)
    return value is not None and value > MOST_TIMES


# -- "x" * 1e10


def _find_long_repeat(found: Sequence[JqToken]) -> str | None:
    bound = _bound_variables(found)
    times = 1.0
    for at, token in enumerate(found):
        if token.kind != "mark" or token.text not in {"*", "*="}:
            continue
        before, behind = _operand_before(found, at), operand_behind(found, at)
        sizes = [v for side in (before, behind) if (v := _single_number(side)) is not None]
        if len(sizes) == 2 or not (_is_surely_number(before) or _is_surely_number(behind)):
            times *= prod(max(size, 1.0) for size in sizes)
        if not _is_measured(before, behind, sizes, bound) or times > MOST_ROWS:
            return token.text
    if any(_is_large(one) and after.text == "as" for one, after in pairwise(found)):
        return "as"
    return None


def _single_number(side: Sequence[JqToken]) -> float | None:
    return _value(side[0]) if len(side) == 1 else None


def _is_measured(
    before: Sequence[JqToken],
    behind: Sequence[JqToken],
    sizes: Sequence[float],
    bound: frozenset[str],
) -> bool:
    """Return True if the product is a number, or a text that is repeated not too often."""
    if len(sizes) == 2 or (sizes and max(sizes) <= MOST_TIMES):
        return True
    if sizes:
        other = before if _single_number(before) is None else behind
        return _is_surely_number(other)
    parts = [*before, *behind]
    unsure = any(
        part.kind in {"string", "format"}
        or part.text in _HUGE
        or _is_large(part)
        or (part.kind == "variable" and part.text not in bound)
        for part in parts
    )
    return not unsure


def _is_surely_number(side: Sequence[JqToken]) -> bool:
    """Return True for `now`, `length` and `(… - …)`: a text has no difference."""
    if side and side[-1].kind == "name" and side[-1].text in _NUMBERS:
        return True
    return len(side) > 1 and any(part.text in {"-", "/"} and part.kind == "mark" for part in side)


def _bound_variables(found: Sequence[JqToken]) -> frozenset[str]:
    """Return the variables that the program itself sets. Others come from options."""
    names: set[str] = set()
    for at in range(1, len(found)):
        before, one = found[at - 1], found[at]
        if one.kind == "variable" and before.text in {"as", "[", ",", ":", "{", "("}:
            size = _value(found[at - 2]) if at > 1 and before.text == "as" else None
            if size is None or size <= _MOST_BOUND:
                names.add(one.text)
    return frozenset(names)


def _operand_before(found: Sequence[JqToken], at: int) -> Sequence[JqToken]:
    depth, start = 0, at
    while start > 0:
        token = found[start - 1]
        if token.kind == "mark":
            depth += token.text in OPENS.values()
            depth -= token.text in OPENS
        start -= 1
        if depth <= 0:
            break
    return found[start:at]


# -- .[1e9] = 1


def _find_far_index(found: Sequence[JqToken]) -> str | None:
    assigns = any(
        (token.kind == "mark" and token.text in _ASSIGNS) or token.text in {"setpath", "insert"}
        for token in found
    )
    far = next((token for token in found if token.inside == "[" and _is_large(token)), None)
    return far.text if assigns and far is not None else None


# -- range(1e5) | range(1e5)


def _find_many_rows(found: Sequence[JqToken]) -> str | None:
    rows = 1.0
    for at, token in enumerate(found):
        if token.kind != "name" or token.text not in {"range", "combinations"}:
            continue
        group = operand_behind(found, at)
        if token.text == "combinations" and (not group or group[0].text != "("):
            return token.text
        sizes = [size for part in group if (size := _value(part)) is not None]
        if token.text == "range":
            rows *= max(sizes, default=1.0) or 1.0
        elif group[:1] and group[0].text == "(" and max(sizes, default=inf) > _MOST_COMBINED:
            return token.text
        if rows > MOST_ROWS:
            return token.text
    return None
