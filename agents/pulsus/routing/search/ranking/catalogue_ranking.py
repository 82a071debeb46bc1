"""The tools of one catalogue, ranked for a request, a clause or a step (spec §4, §9). Pure.

The scores are computed in `core/rankers/lexical_ranker.py`. A p is raised for values that a tool
takes in `routing/search/ranking/value_evidence.py` and `routing/search/ranking/clause_values.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pulsus.core.compose.selection import clause_search, row_operations
from pulsus.core.rankers.lexical.query_matches import POOL
from pulsus.core.rankers.ranking_protocol import RankingEngine
from pulsus.core.text.tokens import clean
from pulsus.core.types import Catalogue, ParsedIntent, Ranked, ToolHistory
from pulsus.fast_dataclass import dataclass
from pulsus.routing.search.access_filter import AccessFilter
from pulsus.routing.search.ranking.clause_values import search_by_subject, search_without_values
from pulsus.routing.search.ranking.value_evidence import SURE_BY_WORDS, with_value_evidence
from pulsus.routing.tool_discovery import select_pool

if TYPE_CHECKING:
    from pulsus.config.settings import RankerConfig

_PRODUCERS = 30
"""Tools looked at as producers of a key."""


@dataclass(frozen=True, slots=True)
class CatalogueRanking:
    """Ranks the tools of one catalogue.

    `unshadowed` ranks without shared tools that a domain tool shadows. These do not compete for a
    selection (spec §9), but may be steps; None if nothing is shadowed. `access` filters the
    candidates; None allows every tool.
    """

    catalogue: Catalogue
    index: RankingEngine
    history: Mapping[str, ToolHistory]
    now: datetime
    unshadowed: RankingEngine | None = None
    access: AccessFilter | None = None

    @property
    def config(self) -> RankerConfig:
        """Return the settings of the ranking."""
        return self.index.config

    @property
    def floor(self) -> float:
        """Return the least p of a step of a plan."""
        return self.config.threshold - self.config.compose_slack

    def pool(self, intent: ParsedIntent) -> frozenset[str]:
        """Return ids of the parsed folder's tools; none where nothing was parsed."""
        if intent.domain is None and intent.action is None:
            return frozenset()
        return frozenset(select_pool(self.catalogue, intent.domain, intent.action))

    def rank_request(
        self, intent: ParsedIntent, tools: Collection[str] | None, include: Collection[str]
    ) -> Sequence[Ranked]:
        """Return the candidates, where the values of the request may raise one.

        A request to keep some rows is left as it is: a tool that reads such a file takes the same
        values and does something else.
        """
        index, tau = self._competing(tools), self.config.threshold
        text = clean(intent.intent)
        found: Sequence[Ranked] = self._rank(intent, tools, include, index)
        asked = row_operations.match_row_operation(row_operations.strip_orders(text))
        if asked == row_operations.FILTER:
            return found
        found = with_value_evidence(intent.intent, found, tau=tau, now=self.now)

        def rank(wording: str) -> Sequence[Ranked]:
            return self._rank(wording, tools, (), index)

        found = search_without_values(text, found, tau, rank, sure_from=SURE_BY_WORDS)
        return search_by_subject(text, found, tau, rank, sure_from=SURE_BY_WORDS)

    def rank_inside(self, intent: ParsedIntent, tools: frozenset[str]) -> tuple[Ranked, ...]:
        """Return the candidates among these tools, by words alone."""
        return self._rank(intent, tools, (), self._competing(tools)) if tools else ()

    def rank_clause(self, text: str, *, include: Collection[str] = ()) -> Sequence[Ranked]:
        """Return candidates for one step: a composition is several steps already."""

        def rank(wording: str) -> list[Ranked]:
            found = self._rank(wording, None, include, self.index)
            return [ranked for ranked in found if not ranked.tool.composed]

        found = search_without_values(text, rank(text), self.floor, rank)
        return search_by_subject(text, found, self.floor, rank)

    def rank_steps(self, request: str, tools: Collection[str]) -> tuple[Ranked, ...]:
        """Return the tools of the catalogue among `tools`, each of them ranked."""
        known = frozenset(tool.id for tool in self.catalogue.tools).intersection(tools)
        return self._rank(request, known, known, self.index)

    def rank_producers(self, text: str) -> Sequence[Ranked]:
        """Return candidates that may give a key to a step."""
        found = self._rank(text, None, (), self.index, limit=_PRODUCERS)
        return [ranked for ranked in found if not ranked.tool.composed]

    def rank_followers(self, text: str) -> Sequence[Ranked]:
        """Return candidates for a step that works on what another gives, among the tools that
        do.
        """
        found = self._rank(text, None, (), self.index, limit=POOL)
        ids = {
            r.tool.id
            for r in found
            if not r.tool.composed and clause_search.needs_step_data(r.tool)
        }
        if not ids:
            return ()
        return self.index.rank(text, history=self.history, now=self.now, allowed=ids)

    def _competing(self, tools: Collection[str] | None) -> RankingEngine:
        """Return the index to select from.

        A shadowed tool stands in where its domain tool is no option: in the pool of another domain.
        """
        if self.unshadowed is None:
            return self.index
        stands_in = any(
            tool in (tools or ()) for tool in self.unshadowed.hidden - self.index.hidden
        )
        return self.index if stands_in else self.unshadowed

    def _rank(
        self,
        intent: ParsedIntent | str,
        tools: Collection[str] | None,
        include: Collection[str],
        index: RankingEngine,
        limit: int | None = None,
    ) -> tuple[Ranked, ...]:
        return index.rank(
            intent,
            limit=limit,
            tools=tools,
            history=self.history,
            now=self.now,
            include=include,
            kinds=self.access.kinds if self.access else None,
            allowed=self.access.allows if self.access else None,
        )
