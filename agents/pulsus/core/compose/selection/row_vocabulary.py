"""Read the words for a tool's rows and inputs from its contract. Pure.

They tell whether a part of a request belongs to the tool before it, or works on that tool's rows.
Columns for values of a condition are read in `core/arguments/rows/columns.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pulsus.core.contract import type_hints
from pulsus.core.text.tokens import STOP_WORDS, WEAK_WORDS, stem, words
from pulsus.core.types import ArgSpec, OutputSpec, ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_FIELD = late_pattern(r"`([\w]+)`(?:\s+\(([^()]*)\))?")
_ORDER = late_pattern(r"([\w-]+(?:\s+[\w-]+)?)\s+first\b|\bby\s+(frequency)\b", re.IGNORECASE)
_UNITS = {
    "ms": "milliseconds",
    "%": "percent",
    "pct": "percent",
    "s": "seconds",
    "sec": "seconds",
    "secs": "seconds",
    "kb": "bytes",
    "mb": "bytes",
    "gb": "bytes",
    "tb": "bytes",
    "times": "count",
    "hits": "count",
}
"""Names of units in inputs and fields, by the unit as people write it."""

_LIMITS = late_pattern(r"limit|top|n|count|max_(?:rows|results|items|entries)")
_SAYS_LIMIT = late_pattern(r"(?i)\b(?:list|return|show|rows|results)\b")


@dataclass(frozen=True, slots=True)
class RowVocabulary:
    """The words that a tool's contract has for its rows.

    `fields` are the names of the fields. `values` maps each stem that a field's description lists
    as a value to the names of its fields. `order` are the stems of "largest first".
    """

    fields: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    order: frozenset[str]


def row_vocabulary(tool: ToolSpec) -> RowVocabulary:
    """Return the words of the rows that a tool gives; without rows, all is empty."""
    return _read_outputs(tuple(tool.returns))


@lru_cache(maxsize=4096)
def _read_outputs(returns: tuple[OutputSpec, ...]) -> RowVocabulary:
    described = next((o.description for o in returns if _is_rows(o)), "")
    fields: dict[str, None] = {}
    values: dict[str, dict[str, None]] = {}
    for name, listed in _FIELD.findall(described):
        fields[name] = None
        for word in words(listed):
            if word not in STOP_WORDS and word not in WEAK_WORDS and not word.isdecimal():
                values.setdefault(stem(word), {})[name] = None
    order = {
        stem(word) for match in _ORDER.findall(described) for part in match for word in words(part)
    }
    return RowVocabulary(tuple(fields), {k: tuple(v) for k, v in values.items()}, frozenset(order))


def _is_rows(output: OutputSpec) -> bool:
    hint = type_hints.parse_hint(output.type_hint)
    return any(
        shape.name == "list" and shape.args and not shape.args[0].scalar for shape in hint.concrete
    )


def gives_rows(tool: ToolSpec) -> bool:
    """Return True if a step for rows can work on what the tool gives, or if it declares none."""
    return not tool.returns or any(map(_is_rows, tool.returns))


def takes_format(tool: ToolSpec, wording: str) -> bool:
    """Return True if an input of the tool takes the format that a part names: "as json"."""
    said = {stem(word) for word in words(wording)}
    return any(
        stem("format") in (found := input_stems(arg)) and not said.isdisjoint(found)
        for arg in tool.args
    )


def unit_word(word: str) -> str:
    """Return the word of contracts for a unit: `milliseconds` for `ms`."""
    return _UNITS.get(word.lower(), word.lower())


def limit_input(tool: ToolSpec) -> ArgSpec | None:
    """Return the input by which a tool limits the number of its rows, or None."""
    for arg in tool.args:
        whole = (arg.type_hint or "").startswith("int")
        if whole and _LIMITS.fullmatch(arg.name) and _SAYS_LIMIT.search(arg.description):
            return arg
    return None


def input_stems(arg: ArgSpec) -> frozenset[str]:
    """Return the stems of an input's name and description."""
    return frozenset(_stems(f"{arg.name} {arg.description}"))


def owned_stems(tool: ToolSpec) -> frozenset[str]:
    """Return the stems of the names and descriptions of all inputs."""
    return frozenset(key for arg in tool.args for key in input_stems(arg))


def field_stems(tool: ToolSpec) -> frozenset[str]:
    """Return the stems of the words in the names of the fields."""
    return frozenset(key for field in row_vocabulary(tool).fields for key in _stems(field))


def has_mapping_input(tool: ToolSpec) -> bool:
    """Return True if an input takes names with values, such as `dict[str, str]`."""
    return any("dict[str, str]" in (arg.type_hint or "") for arg in tool.args)


def has_target_input(tool: ToolSpec) -> bool:
    """Return True if a tool that writes has an input for the file that it writes."""
    return tool.kind == "write" and any(
        arg.name.rpartition("_")[2] in ("path", "file", "target") for arg in tool.args
    )


def name_stems(args: Sequence[ArgSpec]) -> frozenset[str]:
    """Return the stems of the names of inputs."""
    return frozenset(key for arg in args for key in _stems(arg.name))


@lru_cache(maxsize=4096)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(text) if word not in STOP_WORDS)
