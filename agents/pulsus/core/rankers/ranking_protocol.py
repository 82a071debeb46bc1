"""The protocol of ranking engines: a catalogue made ready for ranking (spec §5).

`ranker.engine` chooses one: `lexical` is `lexical_ranker.Ranker`, and `spec` is
`spec.spec_ranker.SpecRanker`. `bootstrap/ranking_setup.py` makes the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from pulsus.core.types import Kind, ParsedIntent, Ranked, ToolHistory, ToolSpec

if TYPE_CHECKING:
    from typing import Self

    from pulsus.config.settings import RankerConfig
    from pulsus.core.rankers.calibration import Calibration

Allowed = Callable[[str], bool] | Collection[str]
"""Decides by id if a tool may be routed to at all."""


class RankingEngine(Protocol):
    """Ranks the tools of one catalogue. Pure once built: same request, same candidates.

    `tools` are in id order. Tools of the ids in `hidden` are no candidates. `calibration` says
    where `p` comes from.
    """

    @property
    def tools(self) -> Sequence[ToolSpec]: ...
    @property
    def config(self) -> RankerConfig: ...
    @property
    def calibration(self) -> Calibration: ...
    @property
    def hidden(self) -> frozenset[str]: ...

    def hiding(self, ids: Collection[str]) -> Self:
        """Return an engine that also hides the tools of these ids."""
        ...

    def weights(self) -> dict[str, float]:
        """Return the weight of every feature as configured."""
        ...

    def rank(
        self,
        request: ParsedIntent | str,
        *,
        tools: Collection[str] | None = None,
        history: Mapping[str, ToolHistory] | None = None,
        now: datetime | None = None,
        limit: int | None = None,
        include: Collection[str] = (),
        without: Collection[str] = (),
        kinds: Collection[Kind] | None = None,
        allowed: Allowed | None = None,
    ) -> tuple[Ranked, ...]:
        """Return the candidates of a request, best first.

        `tools` keeps only these ids, and ranks count among them. `limit` defaults to the settings.
        `include` adds ids beyond it. `kinds`, `allowed` and `without` filter before anything is
        ranked. Raises ValueError for `history` without `now` (aware UTC).
        """
        ...
