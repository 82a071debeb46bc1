"""The type of an extractor, and results as short text. Pure; no result raises an error.

The table of extractors is `all_extractors.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from pulsus.agent.knowledge.session_fact import fact_key, one_line
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

CallArgs = Mapping[str, JsonValue]
KeyedValue = tuple[str, str]
"""The key and the value of one fact."""

_SHOWN = 5
"""Names that are listed in one value. The rest is a number."""


def _no_keys(args: CallArgs) -> tuple[str, ...]:
    del args
    return ()


@dataclass(frozen=True, slots=True)
class FactExtractor:
    """Facts of one action of one tool.

    `facts` returns keys and values from the arguments and the result. `keys` returns the keys that
    the call would give, before it runs: at least one of them is among its facts, if it gives any.
    """

    facts: Callable[[CallArgs, JsonValue], Iterable[KeyedValue]]
    keys: Callable[[CallArgs], tuple[str, ...]] = field(default=_no_keys)


def fixed_keys(*keys: str) -> Callable[[CallArgs], tuple[str, ...]]:
    """Return a function that gives these keys for any arguments."""
    return lambda args: keys


def resource_of(args: CallArgs) -> str:
    """Return the resource that a call names, or an empty text."""
    return text_of(args, "target_resource_id", "resource_id")


def host_of(args: CallArgs) -> str:
    """Return the host or resource in whose context a call runs, or an empty text."""
    return text_of(args, "target_host", "target_resource_id", "target_id", "host", "node")


def text_of(value: object, *names: str) -> str:
    """Return the first member of `names` that is a text or a number, as one line; else ""."""
    if not isinstance(value, dict | Mapping):  # an instance of `dict` is told much faster
        return ""
    for name in names:
        found = value.get(name)
        if isinstance(found, str | int | float) and not isinstance(found, bool) and found != "":
            return one_line(str(found))
    return ""


def number_of(value: object, *path: str) -> float | None:
    """Return the number at `path` below the value, or None."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def object_of(value: object, *path: str) -> Mapping[str, Any]:
    """Return the object at `path` below the value; or an empty object."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def rows_of(value: object, *names: str) -> list[Mapping[str, Any]]:
    """Return the objects of the first list among `names`, or of the value if it is a list."""
    if isinstance(value, Mapping):
        lists = (value.get(name) for name in names)
        value = next((each for each in lists if isinstance(each, list)), [])
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def has_list(value: object, *names: str) -> bool:
    """Return True if the value has one of these lists, or is a list itself."""
    if isinstance(value, Mapping):
        return any(isinstance(value.get(name), list) for name in names)
    return isinstance(value, list)


def count_of(value: object, rows: list[Any], name: str = "total") -> int:
    """Return the stated total, which may exceed the listed rows, else the number of rows."""
    total = number_of(value, name)
    return len(rows) if total is None else max(int(total), len(rows))


def percent(name: str, number: float | None, digits: int = 1) -> str:
    """Return "name=12.3%", or an empty text without a number."""
    return "" if number is None else f"{name}={number:.{digits}f}%"


def named(name: str, value: object) -> str:
    """Return "name=value", or an empty text for None and ""."""
    if isinstance(value, bool):
        return f"{name}={str(value).lower()}"
    return "" if value in (None, "") else f"{name}={one_line(str(value))}"


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with commas."""
    return ", ".join(part for part in parts if part)


def listed(names: Iterable[str]) -> str:
    """Return the first five names, and the number of the others."""
    names = [name for name in names if name]
    more = f" +{len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def with_list(text: str, names: Iterable[str]) -> str:
    """Return "text: a, b", or the text alone without names."""
    shown = listed(names)
    return f"{text}: {shown}" if shown else text


def tally(rows: Iterable[Mapping[str, Any]], *names: str) -> str:
    """Return how often each value of the first member among `names` occurs: "2 running"."""
    counts: dict[str, int] = {}
    for row in rows:
        state = text_of(row, *names) or "unknown"
        counts[state] = counts.get(state, 0) + 1
    return listed(f"{count} {state}" for state, count in counts.items())


def marker_and_rows(
    marker: str, counted: str, rows: Iterable[tuple[str, str]]
) -> Iterator[KeyedValue]:
    """Yield `marker:queried` with the count, and `marker:name` for each row with a name."""
    yield fact_key(marker, "queried"), counted
    yield from ((fact_key(marker, name), value) for name, value in rows if name)
