"""Words of requests for numbers and units (factors: core/text/unit_factors.py). Tables only.

The numbers of a request are found by `find_spans.py`, and durations such as "two weeks" are read in
`measures.py`.
"""

from __future__ import annotations

from typing import Final

from pulsus.core.text.unit_factors import BYTES, SECONDS

_TO_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip

NUMBER_WORDS: Final[dict[str, float]] = {
    **{word: float(number) for number, word in enumerate(_TO_TWENTY)},
    **{"thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0},
    **{"eighty": 80.0, "ninety": 90.0, "hundred": 100.0, "dozen": 12.0, "half": 0.5},
    **{"once": 1.0, "twice": 2.0, "couple": 2.0, "single": 1.0},
}
WORDS_OF_COUNTS: Final = NUMBER_WORDS.keys() - {"zero", "one", "half", "once", "twice", "single"}
"""Words that say how many of several things. "the one biggest" may be no count."""

ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
ORDINAL_ENDINGS: Final = ("st", "nd", "rd", "th")
SCALES: Final = {
    "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
}  # fmt: skip

_WRITTEN_UNITS = {
    ("seconds", SECONDS["second"]): "s sec secs second seconds",
    ("seconds", SECONDS["millisecond"]): "ms msec millisecond milliseconds",
    ("seconds", SECONDS["minute"]): "min mins minute minutes",
    ("seconds", SECONDS["hour"]): "h hr hrs hour hours",
    ("seconds", SECONDS["day"]): "d day days",
    ("seconds", SECONDS["week"]): "w week weeks",
    ("seconds", SECONDS["month"]): "month months",
    ("seconds", SECONDS["year"]): "y year years yr yrs",
    ("bytes", BYTES["byte"]): "b byte bytes",
    ("bytes", BYTES["kilobyte"]): "kb kib kilobyte kilobytes",
    ("bytes", BYTES["megabyte"]): "mb mib megabyte megabytes meg",
    ("bytes", BYTES["gigabyte"]): "gb gib gigabyte gigabytes gig gigs",
    ("bytes", BYTES["terabyte"]): "tb tib terabyte terabytes",
    ("percent", 1.0): "% percent pct",
}
UNITS: Final[dict[str, tuple[str, float]]] = {
    **{name: unit for unit, names in _WRITTEN_UNITS.items() for name in names.split()},
    "per cent": ("percent", 1.0),
}
"""The base unit and the factor of each written unit. Sizes are binary: a KB is 1,024 bytes."""
