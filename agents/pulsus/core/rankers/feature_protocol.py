"""Protocols of ranking signals (spec §4) and of other sources about a request.

`lexical_ranker.py` and `scorer.py` use them. Features of plugins are checked in
`plugins/contributions.py`, and one that fails counts 0 in `plugins/plugin_failures.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pulsus.core.types import ParsedIntent, ToolSpec, Vote
from pulsus.fast_dataclass import dataclass


class Feature(Protocol):
    """One ranking signal. Pure: same intent and tool, same number.

    Its value is clamped to [0, 1]. A feature whose name has no weight in the settings weighs 0:
    it is shown and decides nothing.
    """

    @property
    def name(self) -> str:
        """Unique; the key in `features` and `weights`."""
        ...

    def __call__(self, intent: ParsedIntent, tool: ToolSpec) -> float:
        """Return how well the tool fits, from 0 (not at all) to 1."""
        ...


class EmbeddingSimilarity(Protocol):
    """Similarity of meaning, part of the doc bucket (spec §5). Pure: same text, same numbers."""

    def similar(self, text: str) -> Mapping[int, float]:
        """Cosine in [-1, 1] by position in the index's tools, which are in id order.

        A tool left out has none. A tool may be a candidate for this alone, without a shared word.
        """
        ...


@dataclass(frozen=True, slots=True)
class PastVotes:
    """The votes of past requests for one tool: `value` in [-1, 1], and the strongest votes.

    `text` is what their words hold of this request, in the unit of `Evidence.relative_overlap`.
    """

    value: float
    votes: tuple[Vote, ...] = ()
    text: float = 0.0


class Memory(Protocol):
    """Past requests like this one, part of the history bucket. Pure: same text, same answer."""

    @property
    def known(self) -> float:
        """The share of the catalogue's tools that have a past, in [0, 1]."""
        ...

    def recall(self, text: str) -> Mapping[str, PastVotes]:
        """By tool id; a tool left out is as if it had no past. Unknown ids are passed over.

        A tool with a value above 0 may be a candidate for this alone, without a shared word.
        """
        ...
