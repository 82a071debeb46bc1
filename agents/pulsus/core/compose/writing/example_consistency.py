"""Check that one tool can satisfy all examples of a request (spec §7). Pure.

Examples that conflict (the same inputs with different results) are refused here. More than five
examples are refused, too. The check runs before a model is asked, or missed: no answer could be
accepted, and all rounds would be wasted.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from itertools import combinations

from pulsus.core.contract.example_match import ANY, is_apart
from pulsus.core.types import Example
from pulsus.errors import ExamplesImpossible, UsageError

MAX_EXAMPLES = 5
"""More of them crowd the rules out of a small model's prompt."""
_SHOWN = 60


def check_examples(given: Sequence[Example]) -> tuple[Example, ...]:
    """Return the examples unchanged. Raises ExamplesImpossible if no single tool fits them all.

    Raises UsageError for too many.
    """
    if len(given) > MAX_EXAMPLES:
        raise UsageError(
            f"{len(given)} examples were given, and a request takes {MAX_EXAMPLES} at most",
            hint="keep the most telling ones",
        )
    for number, example in enumerate(given, 1):
        _check_argument_names(number, example)
    for (one, first), (two, second) in combinations(enumerate(given, 1), 2):
        if _build_input_key(first) == _build_input_key(second) and _is_contradiction(first, second):
            raise ExamplesImpossible(
                f"{_describe_example(one, first)} and {_describe_example(two, second)} "
                "have the same inputs and different results",
                hint="leave out the wrong one, or add the argument that makes the difference",
            )
    _check_connected(given)
    return tuple(given)


def _check_argument_names(number: int, example: Example) -> None:
    for name in example.inputs:
        if name.isidentifier() and not keyword.iskeyword(name):
            continue
        raise ExamplesImpossible(
            f"{_describe_example(number, example)} names an argument {name[:_SHOWN]!r}, "
            "which is not a valid name in Python",
            hint=f"call it {_suggest_name(name)!r} in every example",
        )


def _suggest_name(name: str) -> str:
    """Return a valid Python name close to `name`."""
    plain = re.sub(r"\W+", "_", name[:_SHOWN]).strip("_") or "value"
    return f"{plain}_" if keyword.iskeyword(plain) else plain if plain.isidentifier() else "value"


def _check_connected(given: Sequence[Example]) -> None:
    """Refuse two groups of examples without a common argument: they describe two tools."""
    named = [(n, e) for n, e in enumerate(given, 1) if e.inputs]
    known = set(named[0][1].inputs) if named else set()
    # Each pass adds arguments of examples that share one, until no more can follow.
    for _ in named:
        known |= {a for _, e in named if known & set(e.inputs) for a in e.inputs}
    for number, example in named:
        if not known & set(example.inputs):
            raise ExamplesImpossible(
                f"{_describe_example(*named[0])} and {_describe_example(number, example)} "
                "have no argument in common",
                hint="use the same argument names in every example, and null for a missing value",
            )


def _build_input_key(example: Example) -> tuple[str, frozenset[object]]:
    """Return a key of the inputs and files. 1, 1.0 and true have different keys."""
    return json.dumps(dict(example.inputs), sort_keys=True), frozenset(example.files)


def _is_contradiction(one: Example, other: Example) -> bool:
    if not (one.has_expected and other.has_expected):
        return False
    # A wildcard may stand for the difference, but two dicts without one must have the same keys.
    pair = one.expected, other.expected
    keys = [set(e) for e in pair if isinstance(e, dict) and ANY not in e]
    return is_apart(*pair) or (len(keys) == 2 and keys[0] != keys[1])


def _describe_example(number: int, example: Example) -> str:
    inputs, expected = (_shorten_json(value) for value in (dict(example.inputs), example.expected))
    return f"example {number} ({inputs}{f' -> {expected}' if example.has_expected else ''})"


def _shorten_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
