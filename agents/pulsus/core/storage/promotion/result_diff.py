"""Compare two results of a tool for the same inputs (spec §10, ADR 20). Pure.

Whatever callers could read before must still be there and say the same; more keys break no caller.
`core/validators/example_replay.py` makes the two results. An expected result of an example is
compared in `core/contract/example_match.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pulsus.core.contract.example_match import ANY, matches
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

Place = tuple[str | int, ...]
"""Keys and indices from the result to a value in it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference at `at`. `old` means nothing if `what` is added, `new` where removed."""

    what: Literal["changed", "removed", "added", "length"]
    at: Place
    old: JsonValue = None
    new: JsonValue = None

    @property
    def breaks(self) -> bool:
        """True if a caller of the old result can notice."""
        return self.what != "added"


def find_differences(
    old: JsonValue, new: JsonValue, *, pattern: bool = False
) -> tuple[Difference, ...]:
    """Return every difference, in the order of `old`.

    With `pattern`, `old` is an example's expected output: where it says `...` nothing was promised.
    Numbers are compared by value, as `contract.matches` compares fractions.
    """
    return tuple(_list_differences(old, new, (), pattern))


def stable_differences(
    found: Sequence[Difference], noise: Sequence[Difference]
) -> tuple[Difference, ...]:
    """Return the differences outside places that differ between two calls (`noise`)."""
    places = [each.at for each in noise]
    return tuple(f for f in found if not any(f.at[: len(at)] == at for at in places))


def _list_differences(
    old: JsonValue, new: JsonValue, at: Place, pattern: bool
) -> Iterator[Difference]:
    if pattern and old == ANY:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _compare_members(old, new, at, pattern)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _compare_items(old, new, at, pattern)
    elif not _is_same_value(old, new):
        yield Difference("changed", at, old, new)


def _compare_members(
    old: dict[str, JsonValue], new: dict[str, JsonValue], at: Place, pattern: bool
) -> Iterator[Difference]:
    more = pattern and old.get(ANY) == ANY
    for key, value in old.items():
        if more and key == ANY:
            continue
        if key in new:
            yield from _list_differences(value, new[key], (*at, key), pattern)
        else:
            yield Difference("removed", (*at, key), old=value)
    for key, value in new.items() if not more else ():
        if key not in old:
            yield Difference("added", (*at, key), new=value)


def _compare_items(
    old: list[JsonValue], new: list[JsonValue], at: Place, pattern: bool
) -> Iterator[Difference]:
    more = pattern and bool(old) and old[-1] == ANY
    promised = old[:-1] if more else old
    if len(new) < len(promised) or (len(new) > len(promised) and not more):
        yield Difference("length", at, len(promised), len(new))
    for index, (was, now) in enumerate(zip(promised, new, strict=False)):
        yield from _list_differences(was, now, (*at, index), pattern)


def _is_same_value(old: JsonValue, new: JsonValue) -> bool:
    if ANY in (old, new):
        return old == new
    numbers = [n for n in (old, new) if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(numbers) == 2:  # 1 and 1.0: an example tells them apart, a caller need not
        return matches(float(numbers[0]), float(numbers[1])) is None
    return matches(old, new) is None
