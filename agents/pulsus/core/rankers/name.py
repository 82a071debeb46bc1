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


def named_in(text: str, tool: ToolSpec) -> bool:
    """Whether the request says this tool by id or name, not merely its words.

    `disk/usage/largest_files`, `largest_files`, `largest_files.py::run` anywhere; a one-word name
    or the name's words only as the whole request.
    """
    said = {w.strip("./:-").lower() for w in _IDENTIFIER.findall(text)}
    name = tool.name.lower()
    if tool.id.lower() in said or {f"{name}.py", f"{name}.py::{tool.entry}"} & said:
        return True
    return ("_" in name and name in said) or words(text) == words(tool.name)
