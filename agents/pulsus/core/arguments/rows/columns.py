"""The columns of the rows that a tool returns, as its contract names them. Pure.

`Returns:` names the columns in backticks, with their values in brackets behind them. The expected
results of the examples say which type a column has. A column that words name is found in
`column_match.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from pulsus.core.arguments.input_roles import NO_UNIT, unit_of
from pulsus.core.text.tokens import stem, words
from pulsus.core.types import Example, JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

ColumnKind = Literal["flag", "number", "text", "list", "unknown"]

MAX_COLUMNS: Final = 100
"""Further columns of a contract are not read."""

_NAMED = late_pattern(r"`([A-Za-z_][\w.-]{0,60})`")
_BRACKETS = late_pattern(r"\s*\(([^()]*)\)")
_VALUE = late_pattern(r"`([^`]{1,40})`|([A-Za-z][\w-]{0,30})")
_BREAK = late_pattern(r",\s*(?:or\s+|and\s+)?|\s+or\s+|\s+and\s+|;\s*")
_NO_VALUES = frozenset(("null", "list", "none"))
_NO_UNITS = frozenset(("per", "timestamp"))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of rows.

    `stems` are those of the words of its name. `unit` is its kind and the factor to the base unit:
    ("duration", 3600.0) for `age_hours`. `values` are the texts that the contract lists for it.
    """

    name: str
    stems: tuple[str, ...]
    kind: ColumnKind
    unit: tuple[str, float]
    values: tuple[str, ...]


def read_columns(key: str, description: str, examples: Sequence[Example]) -> tuple[Column, ...]:
    """Return the columns of the output `key`, from its description and the examples' results."""
    seen = _example_values(key, examples)
    named = dict(_named_columns(description))
    # "for received (`rx_`) each `bytes`" names a part: the examples have the whole name.
    whole = [n for n in named if n in seen or not any(k.endswith(f"_{n}") for k in seen)]
    names = list(dict.fromkeys((*whole, *seen)))[:MAX_COLUMNS]
    return tuple(_column(name, named.get(name, ""), seen.get(name, ())) for name in names)


def _column(name: str, note: str, seen: Sequence[JsonValue]) -> Column:
    parts = words(name)
    unit = _unit_of(parts)
    values = _listed_values(note, seen)
    kind = _kind_of(seen)
    if kind == "unknown" and values:
        kind = "text"
    elif kind == "unknown" and unit[0]:
        kind = "number"
    elif kind == "unknown" and note.startswith("list"):
        kind = "list"
    unit = unit if kind == "number" else NO_UNIT
    return Column(name, tuple(stem(part) for part in parts), kind, unit, values)


def _named_columns(description: str) -> Iterator[tuple[str, str]]:
    """Yield each name in backticks outside brackets, with the text of the brackets behind it."""
    text = " ".join(description.split())
    flat = re.sub(r"\([^()]*\)", lambda found: " " * len(found.group()), text)
    # "One for `ram` and one for `swap`: `kind`": what stands before the colon are rows.
    first = flat.find("`")
    colon = flat.find(": `")
    start = colon if 0 <= first < colon else 0
    for found in _NAMED.finditer(flat, start):
        behind = _BRACKETS.match(text, found.end())
        yield found[1], behind[1] if behind else ""


def _example_values(key: str, examples: Iterable[Example]) -> dict[str, list[JsonValue]]:
    seen: dict[str, list[JsonValue]] = {}
    for example in examples:
        result = example.expected
        rows = result.get(key) if isinstance(result, Mapping) else None
        for row in rows if isinstance(rows, list) else ():
            for name, value in row.items() if isinstance(row, Mapping) else ():
                if name != "...":
                    seen.setdefault(name, []).append(value)
    return seen


def _kind_of(seen: Sequence[JsonValue]) -> ColumnKind:
    kinds: set[ColumnKind] = set()
    for value in seen:
        match value:
            case None | "...":
                continue
            case bool():
                kinds.add("flag")
            case int() | float():
                kinds.add("number")
            case str():
                kinds.add("text")
            case list():
                kinds.add("list")
            case _:
                kinds.add("unknown")
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _listed_values(note: str, seen: Sequence[JsonValue]) -> tuple[str, ...]:
    """Return the values that brackets list: "(`ok`, `changed`)", "(added, removed)".

    "(address, host or terminal)" is a list of kinds. So a list without backticks counts only if
    an example has one of its values. A list begins with a value: "(octal, as `stat` shows it)" is
    an explanation.
    """
    found: list[str] = []
    for place, item in enumerate(_BREAK.split(note.partition(" where ")[0])):
        value = _VALUE.match(item)
        if value and (value.end() == len(item) or item[value.end()] == ":"):
            found.append(value[1] or value[2])
        elif place == 0:
            return ()
    if note.startswith("`"):
        return tuple(found)
    known = {one.lower() for one in seen if isinstance(one, str)}
    values = tuple(one for one in found if one.lower() not in _NO_VALUES)
    return values if any(one.lower() in known for one in values) else ()


def _unit_of(parts: Sequence[str]) -> tuple[str, float]:
    """Return the unit of a column: none for a rate, a time stamp, or "second" as a place."""
    if not _NO_UNITS.isdisjoint(parts) or (parts[0] == "second" and len(parts) > 1):
        return NO_UNIT
    return unit_of(parts, "", "number")
