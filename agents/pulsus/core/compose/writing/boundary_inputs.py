"""Propose boundary inputs that no example covers, for the caller to decide on (ADR 33). Pure.

They are derived from the types and shapes of the examples. Small models write code that fits the
examples and fails close to them: three of four wrong modules of a 1.5B model were wrong there.
`pulsus generate` shows these edge cases; nothing tests them by itself.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pulsus.core.types import Example, JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

MAX_PROPOSED = 6
_PAIRS = late_pattern(r"(?m)^[^=\n]+=.*$")
_COLONS = late_pattern(r"(?m)^[\w-]+:[ \t]+\S.*$")
_DATE = late_pattern(r"\d{4}-\d\d-\d\d")
_PERCENT = late_pattern(r"\d+(\.\d+)?\s?%")


@dataclass(frozen=True, slots=True)
class BoundaryInput:
    """A value for an argument, or for a file of an example. `why` says what is special about it."""

    argument: str
    value: JsonValue
    why: str

    def describe(self) -> str:
        """Return it in words, such as `text = "" (empty)`."""
        return f"{self.argument} = {json.dumps(self.value, ensure_ascii=False)} ({self.why})"


def propose_boundaries(given: Sequence[Example]) -> tuple[BoundaryInput, ...]:
    """Return the first few boundary inputs that no example has; none without examples."""
    covered: dict[str, list[JsonValue]] = {}
    for example in given:
        paths = [file.path for file in example.files]
        for name, value in example.inputs.items():
            if not (isinstance(value, str) and value in paths):
                covered.setdefault(name, []).append(value)
        for file in example.files:
            text = file.content.decode("utf-8", "replace")
            name = next((n for n, v in example.inputs.items() if v == file.path), file.path)
            covered.setdefault(f"the file {name}", []).append(text)
    turns = [_list_boundaries(name, values) for name, values in covered.items()]
    # One for each argument in turn, so that a long list of the first leaves room for the others.
    found = [boundary for turn in zip_longest(*turns) for boundary in turn if boundary]
    return tuple(found[:MAX_PROPOSED])


def _list_boundaries(name: str, values: Sequence[JsonValue]) -> Iterator[BoundaryInput]:
    """Yield the boundary inputs of one argument, the most useful first."""
    for value, why in _propose_values(values):
        # Types are compared too: True == 1, and 1 == 1.0.
        if not any(type(value) is type(each) and value == each for each in values):
            yield BoundaryInput(name, value, why)


def _propose_values(values: Sequence[JsonValue]) -> Iterator[tuple[JsonValue, str]]:
    first = next((value for value in values if value is not None), None)
    match first:
        case bool():
            yield from ((True, "true"), (False, "false"))
        case int():
            yield from ((0, "zero"), (-1, "negative"))
        case float():
            yield from ((0.0, "zero"), (-1.0, "negative"))
        case list():
            yield [], "empty list"
            if not any(isinstance(each, list) and len(each) == 1 for each in values) and first:
                yield first[:1], "one item"
        case dict():
            yield {}, "empty object"
        case str():
            yield from _propose_texts([each for each in values if isinstance(each, str)])
        case _:
            pass


def _propose_texts(values: Sequence[str]) -> Iterator[tuple[JsonValue, str]]:
    sample = values[0]
    if network := _parse_network(sample):
        whole = 32 if network.version == 4 else 128
        address = sample.partition("/")[0]
        yield f"{address}/{whole}", "one address"
        yield ("0.0.0.0/0" if network.version == 4 else "::/0"), "every address"
        return  # other boundaries of text, such as "", are no address at all
    yield "", "empty"
    if _PAIRS.search(sample) and not any(_has_line_without(text, "=") for text in values):
        yield f"{sample.rstrip()}\nno_value", "a line without ="
    elif _COLONS.search(sample) and not any(_has_line_without(text, ":") for text in values):
        yield f"{sample.rstrip()}\nno_value", "a line without :"
    elif "," in sample and "\n" in sample:
        yield sample.split("\n", 1)[0] + "\n", "a header without rows"
    if _DATE.fullmatch(sample):
        yield "2024-02-29", "a leap day"
    elif _PERCENT.fullmatch(sample):
        yield from (("0%", "zero"), ("100%", "all"))
    elif sample.lstrip("+-").isdecimal():
        yield "0", "zero"
    elif "\n" in sample and sample.endswith("\n") and all(t.endswith("\n") for t in values if t):
        yield sample.rstrip("\n"), "no line end at the end"
    elif sample.isascii() and sample.strip() == sample and sample:
        yield f" {sample} ", "blanks around it"


def _parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    if "/" not in text:
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _has_line_without(text: str, sign: str) -> bool:
    return any(line.strip() and sign not in line for line in text.split("\n"))
