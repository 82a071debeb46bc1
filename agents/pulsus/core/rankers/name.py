"""Name feature: how alike request and tool name are (spec §4 `name_similarity`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from pulsus.core.rankers.text import words
from pulsus.core.types import ToolSpec

_CLOSE = 85.0
"""rapidfuzz ratio (0 to 100) from which two stems count as one misspelt."""

_IDENTIFIER = re.compile(r"[\w./:-]+")
"""A word as written: `disk/usage/largest_files`, `ping.py::run`."""


def name_similarity(
    request: Mapping[str, float], name: Sequence[str], idf: Mapping[str, float], unseen: float
) -> float:
    """Token-set similarity in [0, 1] where a rare word counts more than a common one.

    `request` maps each stem asked for to a weight, `name` holds the name's stems. Twice the
    shared mass over the sum of both masses (Dice); a misspelt stem shares in proportion to its
    rapidfuzz ratio. 0.0 when either side is empty.
    """
    asked = sum(weight * idf.get(key, unseen) for key, weight in request.items())
    own = sum(idf.get(key, unseen) for key in name)
    if not asked or not own:
        return 0.0
    shared = sum(_share(key, request) * idf.get(key, unseen) for key in name)
    return min(1.0, 2 * shared / (asked + own))


def _share(key: str, request: Mapping[str, float]) -> float:
    if key in request:
        return request[key]
    close = (fuzz.ratio(key, other, score_cutoff=_CLOSE) / 100 * w for other, w in request.items())
    return max(close, default=0.0) if len(key) > 3 else 0.0


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
    said = {w.strip("./:-").lower() for w in _IDENTIFIER.findall(text)}
    return frozenset(said | {"=" + " ".join(words(text))})
