"""Name feature: how alike request and tool name are (spec §4 `name_similarity`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from pulsus.core.rankers.doc import DocIndex
from pulsus.core.rankers.text import words
from pulsus.core.types import ToolSpec

_CLOSE = 85.0
"""rapidfuzz ratio (0 to 100) from which two stems count as one misspelt."""

_SHORTEST = 4

_IDENTIFIER = re.compile(r"[\w./:-]+")
"""A word as written: `disk/usage/largest_files`, `ping.py::run`."""


@dataclass(frozen=True, slots=True)
class NameShares:
    """What one request says of names. `asked` maps each stem looked for to a weight in (0, 1]."""

    asked: Mapping[str, float]
    index: DocIndex
    mass: float
    known: dict[str, float]

    @classmethod
    def of(cls, asked: Mapping[str, float], index: DocIndex) -> NameShares:
        """The shares of a request, each name's stem looked at once."""
        return cls(asked, index, sum(w * index.weight(key) for key, w in asked.items()), {})

    def similarity(self, name: Sequence[str]) -> float:
        """Token-set similarity in [0, 1] where a rare word counts more than a common one.

        Twice the shared idf mass over the sum of both masses (Dice); a misspelt stem shares in
        proportion to its rapidfuzz ratio. 0.0 when either side is empty.
        """
        own = sum(self.index.weight(key) for key in name)
        if not own or not self.mass:
            return 0.0
        return min(1.0, 2 * self._shared(name) / (self.mass + own))

    def cover(self, name: Sequence[str]) -> float:
        """Share of the name's idf mass the request says, in [0, 1]."""
        own = sum(self.index.weight(key) for key in name)
        return min(1.0, self._shared(name) / own) if own else 0.0

    def _shared(self, name: Sequence[str]) -> float:
        return sum(self._share(key) * self.index.weight(key) for key in name)

    def _share(self, key: str) -> float:
        if key not in self.known:
            self.known[key] = self.asked[key] if key in self.asked else self._misspelt(key)
        return self.known[key]

    def _misspelt(self, key: str) -> float:
        if len(key) < _SHORTEST:
            return 0.0
        close = process.extract(key, self.asked.keys(), scorer=fuzz.ratio, score_cutoff=_CLOSE)
        return max((ratio / 100 * self.asked[said] for said, ratio, _ in close), default=0.0)


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
