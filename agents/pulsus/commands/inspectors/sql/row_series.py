"""Estimate the rows and characters that SQL makes without a table: `generate_series(1, 1e12)`.

More than 100 million generated rows are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from math import inf
from typing import Final

from pulsus.commands.cost.quantities import number, seconds
from pulsus.commands.inspectors.sql.split_statements import SqlToken, words
from pulsus.commands.inspectors.sql.syntax_tree import Endless

MOST_ROWS: Final = 1e8
"""A server counts so many in some seconds, and sends them in minutes."""

_SERIES: Final = words("generate_series range numbers numbers_mt zeros zeros_mt sequence")
_FILLS: Final = words(
    "repeat replicate rpad lpad space zeroblob randomblob leftpad rightpad array_fill"
)
_LONGER: Final = words("replace regexp_replace hex quote encode to_hex")
_FORMATS: Final = words("printf format")
_WIDTH: Final = re.compile(r"%[^a-zA-Z%]*?(\d+)")
MOST_BYTES: Final = 1e9
"""All the texts that a query makes out of nothing."""
_DAY: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def find_endless_rows(tokens: Sequence[SqlToken]) -> list[Endless]:
    """Return the calls that make too many rows, or so many that cannot be told."""
    rows, widest, product, found = 1.0, 1.0, 1.0, list[Endless]()
    # Within these a text stands many times in another: `replace(hex(x), '0', hex(x))`.
    longer = 2.0 ** sum(token.text.lower() in _LONGER for token in tokens)
    for at in range(len(tokens) - 1):
        name = tokens[at].text.lower()
        if name not in _SERIES | _FILLS | _FORMATS:
            continue
        if tokens[at + 1].text != "(" or tokens[at].kind not in {"word", "name"}:
            continue
        arguments = list(_call_arguments(tokens, at + 2))
        if name in _SERIES:
            amount = _count_rows(arguments)
            rows *= max(amount, 1.0)
        else:
            amount = _widest_field(arguments) if name in _FORMATS else _filled(name, arguments)
            widest = max(widest, amount)
            product *= max(amount, 1.0)
        most = product * longer if longer > 1 else widest
        if rows > MOST_ROWS or max(most, widest) >= MOST_ROWS or rows * most > MOST_BYTES:
            rule = "how many rows it makes cannot be told" if amount == inf else "it makes too much"
            found.append(Endless(tokens[at].text, rule))
    return found


def _filled(name: str, arguments: Sequence[Sequence[SqlToken]]) -> float:
    """Return how long a text or array becomes. One within another multiplies its length."""
    if name == "array_fill":
        numbers = (number(token.text) for each in arguments for token in each)
        return max((value for value in numbers if value is not None), default=1.0)
    inner = 1.0
    for each in arguments:
        for at, token in enumerate(each[:-1]):
            if token.text.lower() in _FILLS and each[at + 1].text == "(":
                within = list(_call_arguments(each, at + 2))
                inner = max(inner, _filled(token.text.lower(), within))
    return max(_largest_literal(arguments), 1.0) * inner


def _widest_field(arguments: Sequence[Sequence[SqlToken]]) -> float:
    """Return the width of printf's widest field, or of one that an argument gives (`%*d`)."""
    texts = [token.text for each in arguments[:1] for token in each if token.kind == "string"]
    widths = [float(width) for text in texts for width in _WIDTH.findall(text)]
    if any("*" in text for text in texts):
        widths.append(_largest_literal(arguments[1:]))
    return max(widths, default=1.0)


def _call_arguments(tokens: Sequence[SqlToken], at: int) -> Iterator[list[SqlToken]]:
    """Yield the arguments of a call whose first token is at `at`."""
    depth, argument = 0, list[SqlToken]()
    for token in tokens[at:]:
        depth += token.text in {"(", "["} and token.kind == "mark"
        depth -= token.text in {")", "]"} and token.kind == "mark"
        if depth < 0:
            break
        if token.text == "," and not depth:
            yield argument
            argument = []
        else:
            argument.append(token)
    if argument:
        yield argument


def _count_rows(arguments: Sequence[Sequence[SqlToken]]) -> float:
    """Return the rows between two numbers or days, or `inf` if they are no literals."""
    values = [_parse_number(each) for each in arguments]
    known = [value for value in values if value is not None]
    if len(known) == len(values) and known:
        first, last = (0.0, known[0]) if len(known) == 1 else known[:2]
        step = known[2] if len(known) > 2 else 1.0
        # numbers(OFFSET, COUNT) makes COUNT of them.
        return max(abs(last - first), abs(last)) / abs(step) + 1 if step else inf
    return _count_rows_by_days(arguments)


def _count_rows_by_days(arguments: Sequence[Sequence[SqlToken]]) -> float:
    days = [_parse_day(each) for each in arguments[:2]]
    texts = [token.text for each in arguments[2:3] for token in each if token.kind == "string"]
    step = seconds(texts[0].replace(" ", "")) if len(texts) == 1 else None
    if len(days) < 2 or days[0] is None or days[1] is None or not step:
        return inf
    return abs((days[1] - days[0]).days + 1) * 86400.0 / step


def _parse_day(argument: Sequence[SqlToken]) -> date | None:
    found = [_DAY.match(token.text) for token in argument if token.kind == "string"]
    if len(found) != 1 or found[0] is None or any(token.text == "+" for token in argument):
        return None
    try:
        return date(*map(int, found[0].groups()))
    except ValueError:
        return None


def _parse_number(argument: Sequence[SqlToken]) -> float | None:
    texts = [token.text for token in argument]
    sign = -1.0 if texts[:1] == ["-"] else 1.0
    bare = texts[1:] if texts[:1] in (["-"], ["+"]) else texts
    if len(bare) >= 3 and bare[1:3] == [":", ":"]:
        bare = bare[:1]
    value = number(bare[0]) if len(bare) == 1 else None
    return None if value is None else sign * value


def _largest_literal(arguments: Sequence[Sequence[SqlToken]]) -> float:
    """Return the largest literal number. A width from a column is that of the data."""
    return max((abs(v) for v in map(_parse_number, arguments) if v is not None), default=0.0)
