"""`lasts`: which words of a call say how long it runs.

Options with which a call never ends (`tail -f`) are the key `streams` of `program_table.py`
instead, and are refused in `commands/non_interactive.py`. `commands/cost/cost_estimate.py` computes
the seconds.

A mapping of roles to tokens. A token is options joined by commas or a number's place among the
operands that are numbers (`#1`), with `!` if 0 means without end, `/ms` or another unit,
and `=N` as the default: `{count: "-c!", every: "-i,--interval=1", limit: "-w"}`. Of operands
there are also `#all` (their sum), `#series` (seq), `#ports`, `#hosts`, `#format` (printf).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, get_args

from pulsus.commands.program_tables.yaml_values import BadTable, nearest, text_of
from pulsus.fast_dataclass import dataclass

Role = Literal["count", "every", "tries", "each", "time", "limit", "bytes", "lines", "walk", "high"]
"""count x every + tries x each + time + sizes; or until limit, if that is given.

`walk` and `high` name options (or `always`) with which a call reads a whole file system, or is
expensive."""


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of a call: the value of `options`, or the operands at `place` (`1`, `all`)."""

    options: frozenset[str] = frozenset()
    place: str = ""
    endless: bool = False
    """True if 0 means without end."""
    default: float | None = None
    unit: float = 1.0
    """Seconds (or bytes, or rounds) that a number without a unit stands for."""
    sure: bool = True
    """True if a value that is no number is without end. Inferred amounts skip it."""


@dataclass(frozen=True, slots=True)
class DurationDeclaration:
    """The words of a call that say how long it runs."""

    amounts: Mapping[str, tuple[Amount, ...]]
    walk: frozenset[str] = frozenset()
    high: frozenset[str] = frozenset()


ALWAYS: Final = "always"
_TOKEN: Final = re.compile(
    r"(?P<words>#(?:\d|all|series|ports|hosts|format)|[-+][^=!/]+|\d+(?:\.\d+)?)(?P<endless>!?)(?:/(?P<unit>[a-z]+))?"
    r"(?:=(?P<default>[0-9.]+))?"
)
_UNITS: Final = {
    **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "ds": 0.1, "s": 1.0, "min": 60.0, "h": 3600.0},
    **{"d": 86400.0, "b": 1.0, "k": 1024.0, "m": 1024.0**2, "g": 1024.0**3, "block": 512.0},
}


def parse_durations(raw: Mapping[str, object], name: str) -> DurationDeclaration:
    """Return the declaration that `raw` is. Raises BadTable."""
    known = get_args(Role)
    for role in raw:
        if role not in known:
            raise BadTable(f"{name}: lasts: unknown role {role!r}; {nearest(str(role), known)}")
    amounts = {
        role: tuple(_parse_amounts(text_of(raw, role, f"{name}: lasts"), name))
        for role in raw
        if role not in {"walk", "high"}
    }
    return DurationDeclaration(
        amounts=amounts,
        walk=frozenset(text_of(raw, "walk", name).split()),
        high=frozenset(text_of(raw, "high", name).split()),
    )


def _parse_amounts(text: str, name: str) -> Iterator[Amount]:
    for token in text.split():
        found = _TOKEN.fullmatch(token)
        if found is None or (found["unit"] and found["unit"] not in _UNITS):
            raise BadTable(f"{name}: lasts: {token!r} is not WORDS=NUMBER, as -i,--interval=1")
        words, default = found["words"], found["default"]
        number, place = words[0].isdigit(), words[0] == "#"
        yield Amount(
            options=frozenset() if number or place else frozenset(words.split(",")),
            place=words[1:] if place else "",
            endless=bool(found["endless"]),
            default=float(default or words) if default or number else None,
            unit=_UNITS.get(found["unit"] or "", 1.0),
        )


_WAITS: Final = re.compile(
    r"-+(?:[a-z]+-)*(?:timeout|delay|interval|duration|sleep|wait|time-?limit|deadline|max-time"
    r"|seconds|period)(?:-(?:s|sec|secs|seconds))?"
)
_WAITS_MS: Final = re.compile(
    r"-+(?:[a-z]+-)*(?:timeout|delay|interval|duration|wait|loop)-?(?:ms|millis|milliseconds)"
)
_ROUNDS: Final = re.compile(
    r"-+(?:[a-z]+-)*(?:count|iterations|iter|repeat|retries|retry|tries|cycles|samples|attempts"
    r"|loops)"
)


def infer_durations(options: frozenset[str]) -> DurationDeclaration | None:
    """Return the durations that names of long options imply, or None without such a name."""
    waits = sorted(filter(_WAITS.fullmatch, options))
    millis = sorted(filter(_WAITS_MS.fullmatch, options))
    rounds = sorted(filter(_ROUNDS.fullmatch, options))
    if not (waits or millis or rounds):
        return None
    every = [_infer_amount(each) for each in waits] + [_infer_amount(each, 1e-3) for each in millis]
    return DurationDeclaration(
        {
            "time": tuple(every),
            "tries": tuple(_infer_amount(each, default=1.0) for each in rounds),
            "each": tuple(every) or (Amount(default=1.0),),
        }
    )


def _infer_amount(option: str, unit: float = 1.0, default: float | None = None) -> Amount:
    return Amount(frozenset({option}), default=default, unit=unit, sure=False)
