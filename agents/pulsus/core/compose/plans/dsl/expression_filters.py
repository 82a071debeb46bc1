"""Filters and tests of expressions that would grow or take long without a limit (ADR 43). Pure.

One evaluation has a budget of work. It is spent by what repeats itself: text that grows, lists that
are added up, and searches in a list for each item of another. An expression that takes too long or
grows too large is refused here; allowed filters are listed in `expressions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from jinja2 import pass_environment
from jinja2.exceptions import SecurityError
from jinja2.filters import make_attrgetter

MAX_RESULT = 1_000_000
"""Longest text that an expression may make, in characters."""
MAX_WORK = 10_000_000
"""Most comparisons, list items and characters that one evaluation may spend: about a second."""

_spent: ContextVar[int] = ContextVar("spent", default=0)


@contextmanager
def limited_work() -> Iterator[None]:
    """Give the block a budget of its own."""
    before = _spent.set(0)
    try:
        yield
    finally:
        _spent.reset(before)


def spend(amount: int) -> None:
    """Take from the budget. Raises SecurityError if it is spent."""
    total = _spent.get() + amount
    _spent.set(total)
    if total > MAX_WORK:
        raise SecurityError("it takes too much work: give it shorter lists or texts")


def check_length(chars: int) -> None:
    """Raise SecurityError for a text of more than MAX_RESULT characters."""
    if chars > MAX_RESULT:
        raise SecurityError(f"a text of more than {MAX_RESULT} characters")


def join(texts: Iterable[str], separator: str) -> str:
    """Return the texts as one. Raises SecurityError before it is too long."""
    found: list[str] = []
    chars = 0
    for text in texts:
        chars += len(text) + len(separator)
        check_length(chars)
        found.append(text)
    spend(chars)
    return separator.join(found)


def is_in(value: Any, values: Any) -> bool:
    """Return True if `values` holds `value`."""
    if isinstance(values, list | tuple | str):
        spend(len(values))
    return value in values


def _replace(text: Any, old: str, new: str) -> str:
    before = str(text)
    chars = len(before) + before.count(old) * len(new)
    check_length(chars)
    spend(max(0, chars - len(before)))
    return before.replace(old, new)


@pass_environment
def _sum(environment: Any, values: Any, attribute: Any = None, start: Any = 0) -> Any:
    """Return the sum of numbers, or all items of lists if `start` is a list."""
    items = values if attribute is None else map(make_attrgetter(environment, attribute), values)
    if not isinstance(start, list):
        return sum(items, start)
    found = list(start)
    for each in items:
        if not isinstance(each, list):
            raise SecurityError(f"sum has a list to start with, and got {type(each).__name__}")
        spend(len(each))
        found += each
    return found


BOUNDED: dict[str, Callable[..., Any]] = {"replace": _replace, "sum": _sum}
"""Filters in place of those of jinja2."""
