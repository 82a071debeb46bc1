"""What a request may call a tool (spec §4 `name_similarity`: the exact part of it)."""

from __future__ import annotations

import re

from pulsus.core.rankers.text import words
from pulsus.core.types import ToolSpec

_IDENTIFIER = re.compile(r"[\w./:-]+")
"""A word as written: `disk/usage/largest_files`, `ping.py::run`."""


def similarity(said: float, asked: float, own: float) -> float:
    """Token-set similarity in [0, 1] of request and name where a rare word counts more (Dice).

    `said` is the idf mass of the name's words that the request says, `asked` that of the request,
    `own` that of the name. 0.0 when either side is empty.
    """
    return min(1.0, 2 * said / (asked + own)) if own and asked else 0.0


def cover(said: float, own: float) -> float:
    """Share of the name's idf mass the request says, in [0, 1]."""
    return min(1.0, said / own) if own else 0.0


def spellings(tool: ToolSpec) -> frozenset[str]:
    """What a request may say to mean this very tool, not merely its words.

    Its id, `name.py`, `name.py::run`, or a name of several words; the bare words of a name only
    as the whole request (`=` and the words).
    """
    name = tool.name.lower()
    file = f"{name}.py"
    said = {file, f"{file}::{tool.entry}", "=" + " ".join(words(tool.name))}
    return frozenset(said | {full for full in (tool.id.lower(), name) if not full.isalnum()})


def mentions(text: str) -> frozenset[str]:
    """Everything in a request that may be one of a tool's `spellings`."""
    said = {w.strip("./:-").lower() for w in _IDENTIFIER.findall(text) if not w.isalnum()}
    return frozenset({w for w in said if not w.isalnum()} | {"=" + " ".join(words(text))})
