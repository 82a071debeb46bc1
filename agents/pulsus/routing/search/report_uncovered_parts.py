"""Report the parts of a request that no chosen tool covers, in the search result (§6). Pure.

If such a part asks for a change, `routing/route_outcome.py` refuses the request.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pulsus.core.compose.selection import uncovered_parts
from pulsus.core.types import ToolSpec
from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
from pulsus.routing.search.search_result import SearchResult
from pulsus.routing.search.several_calls import find_repeated_calls, is_change


def report_uncovered_parts(
    found: SearchResult, request: str, ranking: CatalogueRanking
) -> SearchResult:
    """Return the search with the parts of the request that its decision leaves out.

    If nothing was decided, the reason names the parts that a tool serves.
    """
    choice, search, tau = found.choice, ranking.rank_clause, ranking.config.threshold
    if choice.policy != "generate":
        chosen = [ranked.tool for ranked in choice.chosen]
        if any(tool.composed for tool in chosen):
            return found  # its summary is the whole request that it was composed for
        ids = [tool.id for tool in chosen]
        parts = uncovered_parts.find_uncovered_parts(request, ids, search, tau)
        repeated = _repeated_parts(request, chosen, parts, ranking)
        if choice.policy == "compose":
            lost = uncovered_parts.find_lost_orders(request, found.subintents, search)
            parts = tuple(dict.fromkeys((*parts, *(p for p in lost if p not in repeated))))
        return replace(found, unplaced=parts, repeated=repeated)
    good, rest = uncovered_parts.separate_served_parts(request, search, tau)
    if not good:
        return found
    notes = tuple(f"{part!r} is served by {r.tool.id} (p {r.p:.2f})" for part, r in good)
    unserved = ", ".join(map(repr, rest))
    told = f"{'; '.join(notes)}; nothing fits {unserved}: {choice.reason}"
    return replace(
        found,
        choice=replace(choice, reason=told),
        unplaced=rest,
        notes=(*found.notes, *notes),
    )


def _repeated_parts(
    request: str,
    chosen: Sequence[ToolSpec],
    uncovered: Collection[str],
    ranking: CatalogueRanking,
) -> tuple[str, ...]:
    """Return the parts that ask for another call of a chosen tool."""
    several = len(chosen) > 1
    # A second look is harmless and is not asked for: only a lost change is named in a plan.
    called = [tool for tool in chosen if not several or is_change(tool)]
    found = {
        part: None
        for tool in called
        for part in find_repeated_calls(
            request,
            tool,
            ranking.rank_clause,
            uncovered,
            floor=ranking.floor,
            now=ranking.now,
            several=several,
        )
    }
    return tuple(found)
