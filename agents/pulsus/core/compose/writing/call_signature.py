"""Infer from examples how an unwritten tool is called: its arguments and its result. Pure.

`scaffold.py` writes the signature. That of an existing module is read in
`core/contract/entry_point.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pulsus.core.types import Example, JsonValue
from pulsus.fast_dataclass import dataclass

_NUMBERS = ("int", "float")


@dataclass(frozen=True, slots=True)
class CallParameter:
    """One argument. It is `optional` if some example leaves it out; `default` is source text."""

    name: str
    hint: str
    optional: bool = False
    default: str = ""

    def render(self) -> str:
        """Return the argument as it is written in a `def`."""
        if self.default:
            return f"{self.name}: {self.hint} = {self.default}"
        if not self.optional:
            return f"{self.name}: {self.hint}"
        hint = self.hint if self.hint.endswith("None") else f"{self.hint} | None"
        return f"{self.name}: {hint} = None"


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The signature of `run`. `result` describes the result in words, or is "" if unknown."""

    parameters: tuple[CallParameter, ...]
    returns: str
    result: str
    keys: tuple[tuple[str, str], ...] = ()

    def render(self) -> str:
        """Return the line of the `def`."""
        listed = ", ".join(p.render() for p in self.parameters)
        return f"def run({listed}) -> {self.returns}:"


def infer_signature(given: Sequence[Example]) -> CallSignature | None:
    """Return the signature that fits every example, or None without examples.

    A text that is the path of one of the example's files becomes a `Path`.
    """
    if not given:
        return None
    names = list(dict.fromkeys(name for e in given for name in e.inputs))
    parameters = [_infer_parameter(name, given) for name in names]
    ordered = sorted(parameters, key=lambda p: p.optional)
    expected = [e.expected for e in given if e.has_expected]
    returns = reduce(_join_hints, map(_infer_hint, expected)) if expected else "dict[str, Any]"
    keys = _infer_keys(expected)
    return CallSignature(tuple(ordered), returns, _describe_result(expected, keys, returns), keys)


def _infer_parameter(name: str, given: Sequence[Example]) -> CallParameter:
    hints = [_infer_argument(e.inputs[name], e) for e in given if name in e.inputs]
    return CallParameter(name, reduce(_join_hints, hints), len(hints) < len(given))


def _infer_argument(value: JsonValue, example: Example) -> str:
    paths = [file.path for file in example.files]
    # A folder of the example's files is a path too.
    if isinstance(value, str) and any(p == value or p.startswith(f"{value}/") for p in paths):
        return "Path"
    return _infer_hint(value)


def _infer_hint(value: JsonValue) -> str:
    match value:
        case None:
            return "None"
        case bool() | int() | float() | str():
            return type(value).__name__
        case list():
            inner = reduce(_join_hints, map(_infer_hint, value)) if value else "Any"
            return f"list[{inner}]"
        case dict():
            return "dict[str, Any]"


def _join_hints(one: str, other: str) -> str:
    if one == other or other == "None":
        return one if one == other else f"{one} | None" if "None" not in one else one
    if one == "None":
        return f"{other} | None"
    if {one, other} <= set(_NUMBERS):
        return "float"
    if one.startswith("list[") and other.startswith("list["):
        items = one.removeprefix("list[")[:-1], other.removeprefix("list[")[:-1]
        # "Any" is the item of an empty list, which fits the other list.
        known = [item for item in items if item != "Any"]
        return f"list[{reduce(_join_hints, known)}]"
    return "Any"


def _infer_keys(expected: Sequence[JsonValue]) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for value in expected:
        if not isinstance(value, dict):
            return ()
        for key, item in value.items():
            if key != "...":
                hint = _infer_hint(item)
                found[key] = _join_hints(found.get(key, hint), hint)
    return tuple(found.items())


def _describe_result(
    expected: Sequence[JsonValue], keys: Sequence[tuple[str, str]], hint: str
) -> str:
    if not expected:
        return ""
    if keys:
        listed = ", ".join(f"{name} ({kind})" for name, kind in keys)
        return f"a dict with the keys {listed}"
    return f"a value of type {hint}, not wrapped in anything"
