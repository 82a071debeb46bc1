"""Find sizes and percentages of an answer that no source has with this unit. Pure.

`28 MB` is no reading of a result that says `28G`, although it has the number. Sizes below ten count
too: `5Gi in use` is a reading. A number that a source has without a unit may be in any, and a large
one may be counted in bytes.

All modules about what a model made up: `agent/answers/phantom_claims.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

_SIZE: Final = re.compile(
    r"(?<![\w.,/-])(?P<number>\d{1,15}(?:,\d{3})*(?:\.\d{1,6})?)"
    r"(?: ?(?P<unit>%|(?i:percent|[kmgtpe]i?b?|bytes?|b))(?![\w%]))?"
)
_POWERS: Final = "bkmgtpe"
_LEAST_BYTES: Final = 1000.0


def find_ungrounded_sizes(answer: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the sizes and percentages of the answer, as written, that no source has."""
    known: dict[float, set[str]] = {}
    for text in sources:
        for found in _SIZE.finditer(text):
            known.setdefault(_number(found), set()).add(_unit(found))
    wrong = _wrong_sizes(unicodedata.normalize("NFKC", answer), known)
    return tuple(dict.fromkeys(wrong))


def _wrong_sizes(answer: str, known: Mapping[float, set[str]]) -> Iterator[str]:
    for found in _SIZE.finditer(answer):
        unit, number = _unit(found), _number(found)
        if not unit or not number:
            continue
        places = len(found["number"].partition(".")[2])
        units = [units for value, units in known.items() if _rounds_to(value, number, places)]
        if any({"", unit} & each for each in units):
            continue
        if not any(_is_in_bytes(value, number, unit, places) for value in known):
            yield found[0].strip()


def _rounds_to(value: float, number: float, places: int) -> bool:
    return f"{value:.{places}f}" == f"{number:.{places}f}"


def _is_in_bytes(value: float, number: float, unit: str, places: int) -> bool:
    """Return True if the value, counted in bytes or in thousands of them, is this size."""
    if value < _LEAST_BYTES or unit == "%":
        return False
    powers = range(1, _POWERS.index(unit) + 1)
    return any(
        _rounds_to(value / base**power, number, places) for base in (1000, 1024) for power in powers
    )


def _number(found: re.Match[str]) -> float:
    return float(found["number"].replace(",", ""))


def _unit(found: re.Match[str]) -> str:
    """Return `%`, the first letter of a unit of bytes, or an empty text."""
    unit = (found["unit"] or "").casefold()
    return "%" if unit in {"%", "percent"} else unit[:1]
