"""The result of a search: candidates, clauses and the decision (spec §4 to §6).

`routing/search/searcher.py` makes it.
"""

from __future__ import annotations

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.types import Ranked, SubIntent
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The candidates looked at, the clauses found and what they lead to.

    `unplaced` are the parts of the request that the chosen tools do not cover, or that no tool
    serves while one serves another part. `repeated` are parts that ask for a second call of the
    selected tool. `filtered`: the filters leave no tool at all.
    """

    candidates: tuple[Ranked, ...]
    subintents: tuple[SubIntent, ...]
    choice: PolicyChoice
    widened: bool
    unplaced: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    filtered: bool = False
    notes: tuple[str, ...] = ()
