"""Compare the inputs that a request fills with the wanted ones (`pulsus eval`). Pure.

Numbers are equal within a tolerance of 1e-9. Inputs are filled in `routing/inputs/route_inputs.py`.

A row names them as `{INPUT: value}`, in a composition as `{TOOL.INPUT: value}`. If several values
are right, it says `{"any": [value, …]}`. A value that is the tool's default counts as given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pulsus.core.types import InputValue, JsonValue

_TOLERANCE = 1e-9
"""Numbers are equal within this share, as in the examples of a contract."""


@dataclass(frozen=True, slots=True)
class InputDifference:
    """One input that is not as wanted.

    `what` is `wrong` for another value, `missing` if the request filled none, and `unwanted` for a
    value that the row does not name. `filled` is the value it has, also by default, and `text` the
    words of the request that it came from. `wanted` is None for an unwanted value.
    """

    name: str
    what: Literal["wrong", "missing", "unwanted"]
    filled: JsonValue
    text: str
    wanted: JsonValue

    @property
    def sentence(self) -> str:
        """Return the difference in words: the name, the filled value and the wanted one."""
        words = f" from {self.text!r}" if self.text else ""
        if self.what == "missing":
            words = " by default"
        filled = "nothing" if self.filled is None else f"{_shown(self.filled)}{words}"
        wanted = "nothing" if self.what == "unwanted" else _shown_wanted(self.wanted)
        return f"{self.name}: filled {filled}, wanted {wanted}"


@dataclass(frozen=True, slots=True)
class InputCounts:
    """The rows with `inputs`, counted.

    `right` have every value right, `wrong` a wrong or unwanted value, `missing` a missing one (a
    row may have both). `other_tools` were not routed to the tools of the row, so their values are
    not judged.
    """

    rows: int
    right: int
    wrong: int
    missing: int
    other_tools: int


def compare_inputs(
    wanted: Mapping[str, JsonValue], filled: Mapping[str, InputValue]
) -> tuple[InputDifference, ...]:
    """Return the inputs that differ, those of the row first.

    `filled` has every input by its own name, in a plan as `TOOL.INPUT`. Unwanted values of a plan
    are not counted: its steps may share a parameter.
    """
    keys = {name: _filled_name(name, filled) for name in wanted}
    found = [
        difference
        for name, value in wanted.items()
        if (difference := _compare(name, value, filled.get(keys[name] or "")))
    ]
    taken = set(keys.values())
    more = (
        InputDifference(name, "unwanted", value.value, value.text, None)
        for name, value in filled.items()
        if value.source == "request"
        and name not in taken
        and "." not in name
        and not value.is_default
    )
    return (*found, *more)


def count_inputs(judged: Sequence[Sequence[InputDifference] | None]) -> InputCounts:
    """Return the counts of the rows. None stands for a row that was routed to other tools."""
    known = [found for found in judged if found is not None]
    return InputCounts(
        rows=len(judged),
        right=sum(not found for found in known),
        wrong=sum(any(each.what != "missing" for each in found) for found in known),
        missing=sum(any(each.what == "missing" for each in found) for found in known),
        other_tools=len(judged) - len(known),
    )


def same_value(value: JsonValue, wanted: JsonValue, spelling: Callable[[str], str] = str) -> bool:
    """Return True for the wanted value, or for one of several that are right.

    Two texts are the same if their `spelling` is: by default every character counts.
    """
    if is_choice(wanted):
        assert isinstance(wanted, dict)
        choices = wanted["any"]
        return isinstance(choices, list) and any(same_value(value, c, spelling) for c in choices)
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(
            same_value(one, other, spelling) for one, other in zip(value, wanted, strict=True)
        )
    if isinstance(value, str) and isinstance(wanted, str):
        return spelling(value) == spelling(wanted)
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return abs(value - wanted) <= _TOLERANCE * max(1.0, abs(wanted))
    return value == wanted or str(value) == str(wanted)


def is_choice(wanted: JsonValue) -> bool:
    """Return True for `{"any": [value, …]}`."""
    return isinstance(wanted, dict) and set(wanted) == {"any"}


def _compare(name: str, wanted: JsonValue, given: InputValue | None) -> InputDifference | None:
    if given is None:
        return InputDifference(name, "missing", None, "", wanted)
    if same_value(given.value, wanted):
        return None
    is_left = given.source == "default" or given.is_default
    what: Literal["wrong", "missing"] = "missing" if is_left else "wrong"
    return InputDifference(name, what, given.value, given.text, wanted)


def _filled_name(name: str, filled: Mapping[str, InputValue]) -> str | None:
    """Return the name of the filled input that a row's name means, or None."""
    tool, _, own = name.rpartition(".")
    short = f"{tool.rpartition('/')[2]}.{own}"
    if short in filled or own in filled:
        return short if short in filled else own
    steps = [each for each in filled if each.endswith(f".{own}")] if not tool else []
    return next(
        (each for each in steps if filled[each].source == "request"), next(iter(steps), None)
    )


def _shown_wanted(wanted: JsonValue) -> str:
    return " or ".join(_choices(wanted))


def _choices(wanted: JsonValue) -> Iterator[str]:
    if isinstance(wanted, dict) and is_choice(wanted) and isinstance(wanted["any"], list):
        yield from map(_shown, wanted["any"])
    else:
        yield _shown(wanted)


def _shown(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
