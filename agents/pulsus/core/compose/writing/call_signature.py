"""How examples call a tool that is not written yet: its arguments and its result. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pulsus.core.types import Example, JsonValue
from pulsus.fast_dataclass import dataclass

_NUMBERS = ("int", "float")


@dataclass(frozen=True, slots=True)
class CallParameter:
    """One argument. An `optional` one is left out by some example."""

    name: str
    hint: str
    optional: bool = False

    def text(self) -> str:
        """As it stands in a `def`."""
        if not self.optional:
            return f"{self.name}: {self.hint}"
        hint = self.hint if self.hint.endswith("None") else f"{self.hint} | None"
        return f"{self.name}: {hint} = None"


@dataclass(frozen=True, slots=True)
class CallSignature:
    """A call of `run`. `result` says in words what comes back; "" where no example says."""

    parameters: tuple[CallParameter, ...]
    returns: str
    result: str
    keys: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """The line of the `def`."""
        listed = ", ".join(p.text() for p in self.parameters)
        return f"def run({listed}) -> {self.returns}:"


def infer_signature(given: Sequence[Example]) -> CallSignature | None:
    """The call that fits every example; None without examples.

    A text that is the path of one of the example's files is a `Path`.
    """
    if not given:
        return None
    names = list(dict.fromkeys(name for e in given for name in e.inputs))
    parameters = [_parameter(name, given) for name in names]
    ordered = sorted(parameters, key=lambda p: p.optional)
    expected = [e.expected for e in given if e.has_expected]
    returns = reduce(_joined, map(_hint, expected)) if expected else "dict[str, Any]"
    keys = _keys(expected)
    return CallSignature(tuple(ordered), returns, _result(expected, keys, returns), keys)


def _parameter(name: str, given: Sequence[Example]) -> CallParameter:
    hints = [_argument(e.inputs[name], e) for e in given if name in e.inputs]
    return CallParameter(name, reduce(_joined, hints), len(hints) < len(given))


def _argument(value: JsonValue, example: Example) -> str:
    paths = [file.path for file in example.files]
    if isinstance(value, str) and any(p == value or p.startswith(f"{value}/") for p in paths):
        return "Path"
    return _hint(value)


def _hint(value: JsonValue) -> str:
    match value:
        case None:
            return "None"
        case bool() | int() | float() | str():
            return type(value).__name__
        case list():
            inner = reduce(_joined, map(_hint, value)) if value else "Any"
            return f"list[{inner}]"
        case dict():
            return "dict[str, Any]"


def _joined(one: str, other: str) -> str:
    if one == other or other == "None":
        return one if one == other else f"{one} | None" if "None" not in one else one
    if one == "None":
        return f"{other} | None"
    if {one, other} <= set(_NUMBERS):
        return "float"
    if one.startswith("list[") and other.startswith("list["):
        inner = "Any" if "Any]" in (one[5:], other[5:]) else _joined(one[5:-1], other[5:-1])
        return f"list[{_known(one, other) or inner}]"
    return "Any"


def _known(one: str, other: str) -> str:
    """The item of the list that has one, where the other is empty."""
    if one == "list[Any]":
        return other[5:-1]
    return one[5:-1] if other == "list[Any]" else ""


def _keys(expected: Sequence[JsonValue]) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for value in expected:
        if not isinstance(value, dict):
            return ()
        for key, item in value.items():
            if key != "...":
                found[key] = _joined(found[key], _hint(item)) if key in found else _hint(item)
    return tuple(found.items())


def _result(
    expected: Sequence[JsonValue], keys: Mapping[str, str] | Sequence[tuple[str, str]], hint: str
) -> str:
    if not expected:
        return ""
    if keys:
        listed = ", ".join(f"{name} ({kind})" for name, kind in dict(keys).items())
        return f"a dict with the keys {listed}"
    return f"a value of type {hint}, not wrapped in anything"
