"""Whether one tool can give what all the examples ask (spec §7). Pure.

Asked before a model is: no answer could be accepted, and every round would be spent on it.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from itertools import combinations

from pulsus.core.contract.example_match import ANY, apart
from pulsus.core.types import Example
from pulsus.errors import ExamplesImpossible

_SHOWN = 60


def check_examples(given: Sequence[Example]) -> tuple[Example, ...]:
    """The examples as they are. Raises ExamplesImpossible where no one tool can satisfy them."""
    for number, example in enumerate(given, 1):
        _names(number, example)
    for (one, first), (two, second) in combinations(enumerate(given, 1), 2):
        if _input(first) == _input(second) and _disagree(first, second):
            raise ExamplesImpossible(
                f"{_told(one, first)} and {_told(two, second)} give the same and expect different "
                "results",
                hint="leave out the one that is wrong, or add the argument that they differ in",
            )
    _connected(given)
    return tuple(given)


def _names(number: int, example: Example) -> None:
    for name in example.inputs:
        if name.isidentifier() and not keyword.iskeyword(name):
            continue
        raise ExamplesImpossible(
            f"{_told(number, example)} names an argument {name[:_SHOWN]!r}, which no Python "
            "function can have",
            hint=f"call it {_usable(name)!r} in every example",
        )


def _usable(name: str) -> str:
    """A name as near to that as Python has it."""
    plain = re.sub(r"\W+", "_", name[:_SHOWN]).strip("_") or "value"
    return f"{plain}_" if keyword.iskeyword(plain) else plain if plain.isidentifier() else "value"


def _connected(given: Sequence[Example]) -> None:
    """Two groups of examples without a common argument are calls of two tools, or a slip."""
    named = [(n, e) for n, e in enumerate(given, 1) if e.inputs]
    known = set(named[0][1].inputs) if named else set()
    for _ in named:
        known |= {a for _, e in named if known & set(e.inputs) for a in e.inputs}
    for number, example in named:
        if not known & set(example.inputs):
            raise ExamplesImpossible(
                f"{_told(*named[0])} and {_told(number, example)} have no argument in common",
                hint="name the arguments alike in every example; null stands for one that is not "
                "given",
            )


def _input(example: Example) -> tuple[str, frozenset[object]]:
    """What the tool is given; 1, 1.0 and true are three things."""
    return json.dumps(dict(example.inputs), sort_keys=True), frozenset(example.files)


def _disagree(one: Example, other: Example) -> bool:
    if not (one.has_expected and other.has_expected):
        return False
    pair = one.expected, other.expected
    keys = [set(e) for e in pair if isinstance(e, dict) and ANY not in e]
    return apart(*pair) or (len(keys) == 2 and keys[0] != keys[1])


def _told(number: int, example: Example) -> str:
    inputs, expected = (_short(value) for value in (dict(example.inputs), example.expected))
    return f"example {number} ({inputs}{f' -> {expected}' if example.has_expected else ''})"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
