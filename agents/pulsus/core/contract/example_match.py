"""Compares a result with an example's expected output (docs/tool-contract.md). Pure.

Here the wildcard `...` and the tolerance of floats are decided. It also compares the result of a
`Verify:` with what it expects. `core/validators/steps/smoke_and_dry_run.py` fails the module. Two
results of different versions are compared in `core/storage/promotion/result_diff.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from pulsus.core.types import DeclaredCall, Example, JsonValue

ANY = "..."
RELATIVE = 1e-9  # docs/tool-contract.md
_SHOWN = 80


def matches(expected: JsonValue, actual: JsonValue) -> str | None:
    """Return None if `actual` fits the pattern `expected`, else the first difference.

    Such as `rows[0].bytes: expected 5, got 6`. `...` stands for any one value, a last item `...`
    for any further items, a key `...: ...` for any further keys.
    """
    return _find_difference(expected, actual, "")


def is_concrete(expected: JsonValue) -> bool:
    """Return True if the pattern names a value: `...` and keys alone give the shape only."""
    if expected == ANY:
        return False
    if isinstance(expected, dict):
        return not expected or any(is_concrete(v) for k, v in expected.items() if k != ANY)
    if isinstance(expected, list):
        return not expected or any(map(is_concrete, expected))
    return True


def expects_value(one: Example | DeclaredCall) -> bool:
    """Return True if the output that the example or the call expects names a value."""
    return one.has_expected and is_concrete(one.expected)


def input_values(example: Example) -> Iterator[JsonValue]:
    """Yield an example's inputs, and the text of its files."""
    yield from example.inputs.values()
    for file in example.files:
        yield file.content.decode("utf-8", "replace")


def is_apart(one: JsonValue, other: JsonValue) -> bool:
    """Return True if no value fits both patterns, by a value that each names."""
    if ANY in (one, other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return bool(one) != bool(other) or any(
            is_apart(value, other[key]) for key, value in one.items() if key in other
        )
    if isinstance(one, list) and isinstance(other, list):
        (least, most), (less, more) = _length_bounds(one), _length_bounds(other)
        inner = zip(one[:least], other[:less], strict=False)
        return least > more or less > most or any(is_apart(a, b) for a, b in inner)
    return not (_is_same_value(one, other) or _is_equal_number(one, other))


def _length_bounds(items: list[JsonValue]) -> tuple[int, float]:
    """Return the least and the greatest number of items that fit."""
    return (len(items) - 1, math.inf) if items[-1:] == [ANY] else (len(items), len(items))


def _find_difference(expected: JsonValue, actual: JsonValue, at: str) -> str | None:
    if expected == ANY:
        return None
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _find_mapping_difference(expected, actual, at)
    if isinstance(expected, list) and isinstance(actual, list):
        return _find_sequence_difference(expected, actual, at)
    return None if _is_same_value(expected, actual) else _describe_difference(at, expected, actual)


def _find_mapping_difference(
    expected: dict[str, JsonValue], actual: dict[str, JsonValue], at: str
) -> str | None:
    open_ended = expected.get(ANY) == ANY
    for key, value in expected.items():
        if key == ANY and open_ended:
            continue
        if key not in actual:
            return f"{_join_key(at, key)}: expected {_show_json(value)}, but the key is missing"
        if difference := _find_difference(value, actual[key], _join_key(at, key)):
            return difference
    if not open_ended:
        for key, value in actual.items():
            if key not in expected:
                return f"{_join_key(at, key)}: not expected, got {_show_json(value)}"
    return None


def _find_sequence_difference(
    expected: list[JsonValue], actual: list[JsonValue], at: str
) -> str | None:
    open_ended = bool(expected) and expected[-1] == ANY
    wanted = expected[:-1] if open_ended else expected
    for index, (want, got) in enumerate(zip(wanted, actual, strict=False)):
        if difference := _find_difference(want, got, f"{at}[{index}]"):
            return difference
    if len(actual) < len(wanted) or (len(actual) > len(wanted) and not open_ended):
        least = "at least " if open_ended else ""
        return f"{at or 'result'}: expected {least}{len(wanted)} items, got {len(actual)}"
    return None


def _is_same_value(expected: JsonValue, actual: JsonValue) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, float) and isinstance(actual, float):
        return expected == actual or math.isclose(expected, actual, rel_tol=RELATIVE)
    return type(expected) is type(actual) and expected == actual


def _is_equal_number(one: JsonValue, other: JsonValue) -> bool:
    """Return True if both are one number, such as 2 and 2.0."""
    numbers = [n for n in (one, other) if isinstance(n, int | float) and not isinstance(n, bool)]
    return len(numbers) == 2 and numbers[0] == numbers[1]


def _describe_difference(at: str, expected: JsonValue, actual: JsonValue) -> str:
    return f"{at or 'result'}: expected {_show_json(expected)}, got {_show_json(actual)}"


def _join_key(at: str, key: str) -> str:
    if not key.isidentifier():
        return f"{at or 'result'}[{_show_json(key)}]"
    return f"{at}.{key}" if at else key


def _show_json(value: JsonValue) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
