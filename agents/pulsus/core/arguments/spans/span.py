"""One reading of a place in a request, and the kinds that readings have. Pure.

A place may have several readings: `404` is a number, and in `/27` the digits are a prefix length.
The assignment decides later which input takes which (core/arguments/assignment.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pulsus.fast_dataclass import dataclass

UNMISTAKABLE: Final = frozenset(
    ("url", "email", "cron", "network", "address", "path", "file", "host", "glob", "sysctl")
)
"""Kinds that are written like nothing else. What lies inside such a span is no span of its own."""


@dataclass(frozen=True, slots=True)
class Span:
    """One reading of `request[start:end]`, which is `text`.

    `kind` is a kind of value_patterns.py, or a part of one (`port`, `name`, `phrase`). `value` is a
    finite number or a text. For a measure it is the amount in base units (seconds, bytes, percent)
    and `unit` is the unit as written, in lower case. `quoted` says that it stood in quotes.
    `sign_follows` marks a word with a sign behind it that belongs to it (`C#`, `C++`).
    """

    kind: str
    start: int
    end: int
    text: str
    value: str | float
    unit: str = ""
    quoted: bool = False
    sign_follows: bool = False


@dataclass(frozen=True, slots=True)
class RequestSpans:
    """The readings of one request: typed values, plain words in order, names and phrases.

    `now` is the moment of the request, or None if nothing may depend on it.
    """

    request: str
    values: Sequence[Span]
    words: Sequence[Span]
    phrases: Sequence[Span]
    now: datetime | None = None
