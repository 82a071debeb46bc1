"""From an intent to a choice: rank, widen, split, decide (spec §4 to §6). Pure.

The decision by p and τ is `core/compose/selection/choose_policy.py`; the scores are
`core/rankers/lexical_ranker.py`. A stale composition is left out here. A plan has at most
`compose.max_steps` steps.

`pulsus route` and `pulsus eval` both decide here, so that what is measured is what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pulsus.core.compose.selection import (
    accepted_plan,
    choose_policy,
    promoted_plan,
    request_split,
    row_operations,
)
from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.compose.selection.producer_closure import (
    ClosedDecision,
    add_producers,
    needs_key,
)
from pulsus.core.memory.accepted_plans import AcceptedPlan
from pulsus.core.text.tokens import clean
from pulsus.core.types import ParsedIntent, Ranked, SubIntent, ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.routing.search.deprecations import Deprecations
from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
from pulsus.routing.search.ranking.value_evidence import take_values
from pulsus.routing.search.report_uncovered_parts import report_uncovered_parts
from pulsus.routing.search.search_result import SearchResult

_EMPTY = "the catalogue is empty: `pulsus init` copies the starter tools, or write one"


@dataclass(frozen=True, slots=True)
class Searcher:
    """Search over one ranked catalogue. `max_steps` bounds a plan.

    `last_resort` includes deprecated tools, for requests that nothing else fits; None without any.
    `stale_steps` says why a composition cannot run any more, or None if it can; without the
    function, every composition can. `accepted` are accepted plans, the latest first.
    """

    ranking: CatalogueRanking
    max_steps: int
    deprecations: Deprecations | None = None
    last_resort: Searcher | None = None
    stale_steps: Callable[[ToolSpec], str | None] | None = None
    accepted: tuple[AcceptedPlan, ...] = ()

    def search(
        self,
        intent: ParsedIntent,
        *,
        include: Collection[str] = (),
        hinted: Collection[str] = (),
    ) -> SearchResult:
        """Search and decide. `include` adds tools to explain beyond the usual number.

        Of equally good tools for a step of a plan, one of `hinted` is taken (spec §14).
        """
        found = self._search(intent, include, hinted)
        if found.choice.policy == "generate" and self.last_resort:
            late = self.last_resort.search(intent, include=include, hinted=hinted)
            if late.choice.policy != "generate":
                found = late
        if self.deprecations is None:
            return found
        chosen = [ranked.tool for ranked in found.choice.chosen]
        return replace(found, notes=(*found.notes, *self.deprecations.notes(chosen)))

    def search_inside(
        self, intent: ParsedIntent, places: Collection[tuple[str | None, str]]
    ) -> SearchResult:
        """Select the best tool of these folders (domain and action), which a person named.

        The p of each tool is conditioned on the answer: one of the tools in these folders is meant.
        """
        tools = self.ranking.catalogue.tools
        ids = frozenset(t.id for t in tools if (t.domain, t.action) in set(places))
        ranked = self.ranking.rank_inside(intent, ids)
        where = " or ".join(sorted({domain or "shared" for domain, _ in places}))
        total = sum(r.p for r in ranked) or 1.0
        candidates = tuple(replace(r, p=r.p / total, p_before_answer=r.p) for r in ranked)
        if not candidates:
            reason = f"no tool of {where} shares a word with the request"
            return SearchResult((), (), PolicyChoice("generate", (), reason), widened=False)
        best = candidates[0]
        reason = f"{best.tool.id}: the best tool of {where}, the answer to the question"
        choice = PolicyChoice("select", (best,), f"{reason} (p {best.p:.2f} among its tools)")
        return SearchResult(candidates, (), choice, widened=False)

    def _search(
        self, intent: ParsedIntent, include: Collection[str], hinted: Collection[str]
    ) -> SearchResult:
        ranking, config = self.ranking, self.ranking.config

        def rank(tools: Collection[str] | None) -> Sequence[Ranked]:
            return ranking.rank_request(intent, tools, include)

        looked = choose_policy.narrow_then_widen(ranking.pool(intent), rank, tau=config.threshold)
        does = row_operations.match_given_rows(clean(intent.intent))
        if does:
            following = ranking.rank_followers(f"{intent.intent} {does}")
            looked = choose_policy.put_first(following, looked, tau=config.threshold)
        found = request_split.split_request(
            intent.intent,
            ranking.rank_clause,
            floor=ranking.floor,
            following=ranking.rank_followers,
        )
        if len(found) > 1:
            from pulsus.core.compose.selection import step_candidates  # only with steps

            found = step_candidates.put_formats_first(found)
        choice = choose_policy.decide_policy(
            looked.candidates,
            found,
            tau=config.threshold,
            slack=config.compose_slack,
            max_steps=self.max_steps,
        )
        choice = choose_policy.prefer_hinted(choice, found, hinted, floor=ranking.floor)
        filtered, tools = None, ranking.catalogue.tools
        if ranking.access and not looked.candidates:
            filtered = ranking.access.explain_no_tools(tools)
            left_out = f"{choice.reason} and is let through by {ranking.access.named}"
            choice = replace(choice, reason=filtered or left_out)
        if not len(tools):
            choice = replace(choice, reason=_EMPTY)
        ranked = looked.candidates
        notes: tuple[str, ...] = ()
        again = promoted_plan.find_promoted_plan(intent.intent, ranked)
        stale = self.stale_steps(again.tool) if again and self.stale_steps else None
        if again and stale:
            notes = (f"{again.tool.id} was promoted for this request and is not used: {stale}",)
        elif again:
            choice, ranked = promoted_plan.select_promoted_plan(again, ranked, choice)
        before = None if again else accepted_plan.find_accepted_plan(intent.intent, self.accepted)
        repeated = self._repeat_accepted(before, intent.intent, choice, found)
        if repeated:
            choice, found = repeated
        elif not again and any(needs_key(each.tool) for each in choice.chosen):
            closed = self._add_producers(intent.intent, choice, found)
            choice, found, notes = closed.choice, closed.subintents, (*notes, *closed.notes)
        notes = (*notes, *accepted_plan.lost_terms_note(before, choice.chosen))
        return self.with_omissions(
            SearchResult(
                choose_policy.put_steps_first(ranked, choice),
                choose_policy.put_chosen_first(found, choice),
                choice,
                looked.widened,
                filtered=filtered is not None,
                notes=notes,
            ),
            intent.intent,
        )

    def with_omissions(self, found: SearchResult, request: str) -> SearchResult:
        """Return the search with the parts of the request that its decision leaves out."""
        return report_uncovered_parts(found, request, self.ranking)

    def _add_producers(
        self, request: str, choice: PolicyChoice, subintents: Sequence[SubIntent]
    ) -> ClosedDecision:
        """Return the decision with tools that give the keys which the request lacks."""

        def taken(clause: str, tool: ToolSpec) -> Collection[str]:
            return take_values(clause, tool, self.ranking.now).names

        search = self.ranking.rank_producers
        return add_producers(request, choice, subintents, search, taken, max_steps=self.max_steps)

    def _repeat_accepted(
        self,
        before: AcceptedPlan | None,
        request: str,
        choice: PolicyChoice,
        clauses: Sequence[SubIntent],
    ) -> tuple[PolicyChoice, tuple[SubIntent, ...]] | None:
        """Return the decision of the plan that was accepted for this request, if there is one."""
        if before is None or len(before.tools) > self.max_steps:
            return None

        def rank(tools: Collection[str]) -> Sequence[Ranked]:
            return self.ranking.rank_steps(request, tools)

        return accepted_plan.repeat_accepted_plan(request, before.tools, choice, clauses, rank)
