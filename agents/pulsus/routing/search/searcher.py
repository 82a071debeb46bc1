"""From an intent to a choice: rank, widen, split, decide (spec §4 to §6). Pure.

`pulsus route` and `pulsus eval` both decide here, so that what is measured is what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pulsus.core.compose.selection import (
    accepted_plan,
    clause_search,
    promoted_plan,
    request_split,
    row_operations,
    selector,
    uncovered_parts,
)
from pulsus.core.compose.selection.producer_closure import (
    ClosedDecision,
    add_producers,
    needs_key,
)
from pulsus.core.compose.selection.selector import Decision
from pulsus.core.rankers.lexical.query_matches import POOL
from pulsus.core.rankers.ranking_engine import RankingEngine
from pulsus.core.text.tokens import clean
from pulsus.core.types import Catalogue, ParsedIntent, Ranked, SubIntent, ToolHistory, ToolSpec
from pulsus.fast_dataclass import dataclass
from pulsus.routing.search.access_filter import AccessFilter
from pulsus.routing.search.clause_values import search_by_subject, search_without_values
from pulsus.routing.search.deprecations import Deprecations
from pulsus.routing.search.repeated_calls import find_repeated_calls, is_change
from pulsus.routing.search.value_evidence import take_values, with_value_evidence
from pulsus.routing.tool_discovery import select_pool

_PRODUCERS = 30
"""Tools looked at as producers of a key."""
_EMPTY = "the catalogue is empty: `pulsus init` copies the starter tools, or write one"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The candidates looked at, the clauses found and what they lead to.

    `unplaced` are the parts of the request that the chosen tools do not cover, or that no tool
    serves while one serves another part. `repeated` are parts that ask for a second call of the
    selected tool. `filtered`: the filters leave no tool at all.
    """

    candidates: tuple[Ranked, ...]
    subintents: tuple[SubIntent, ...]
    choice: Decision
    widened: bool
    unplaced: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    filtered: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searcher:
    """Search over one ranked catalogue. `max_steps` bounds a plan.

    `unshadowed` ranks without shared tools that a domain tool shadows. These do not compete for a
    selection (spec §9), but may be steps; None if nothing is shadowed. `access` filters the
    candidates; None allows every tool. `last_resort` includes deprecated tools, for requests that
    nothing else fits; None without any. `stale_steps` says why a composition cannot run any more,
    or None if it can; without the function, every composition can. `accepted` are the requests of
    accepted plans with the ids of their steps, the latest first.
    """

    catalogue: Catalogue
    index: RankingEngine
    history: Mapping[str, ToolHistory]
    now: datetime
    max_steps: int
    unshadowed: RankingEngine | None = None
    access: AccessFilter | None = None
    deprecations: Deprecations | None = None
    last_resort: Searcher | None = None
    stale_steps: Callable[[ToolSpec], str | None] | None = None
    accepted: tuple[tuple[str, tuple[str, ...]], ...] = ()

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
        ids = frozenset(t.id for t in self.catalogue.tools if (t.domain, t.action) in set(places))
        ranked = self._rank(intent, ids, (), self._competing(ids)) if ids else ()
        where = " or ".join(sorted({domain or "shared" for domain, _ in places}))
        total = sum(r.p for r in ranked) or 1.0
        candidates = tuple(replace(r, p=r.p / total, p_before_answer=r.p) for r in ranked)
        if not candidates:
            reason = f"no tool of {where} shares a word with the request"
            return SearchResult((), (), Decision("generate", (), reason), widened=False)
        best = candidates[0]
        reason = f"{best.tool.id}: the best tool of {where}, the answer to the question"
        choice = Decision("select", (best,), f"{reason} (p {best.p:.2f} among its tools)")
        return SearchResult(candidates, (), choice, widened=False)

    def _search(
        self, intent: ParsedIntent, include: Collection[str], hinted: Collection[str]
    ) -> SearchResult:
        config = self.index.config

        def rank(tools: Collection[str] | None) -> Sequence[Ranked]:
            return self._rank_by_values(intent, tools, include)

        looked = selector.narrow_then_widen(self._pool(intent), rank, tau=config.threshold)
        does = row_operations.match_given_rows(clean(intent.intent))
        if does:
            following = self._following(f"{intent.intent} {does}")
            looked = selector.put_first(following, looked, tau=config.threshold)
        found = request_split.split_request(
            intent.intent,
            self.clause,
            floor=config.threshold - config.compose_slack,
            following=self._following,
        )
        choice = selector.decide_policy(
            looked.candidates,
            found,
            tau=config.threshold,
            slack=config.compose_slack,
            max_steps=self.max_steps,
        )
        floor = config.threshold - config.compose_slack
        choice = selector.prefer_hinted(choice, found, hinted, floor=floor)
        filtered = None
        if self.access and not looked.candidates:
            filtered = self.access.left_none(self.catalogue.tools)
            left_out = f"{choice.reason} and is let through by {self.access.named}"
            choice = replace(choice, reason=filtered or left_out)
        if not len(self.catalogue.tools):
            choice = replace(choice, reason=_EMPTY)
        ranked = looked.candidates
        notes: tuple[str, ...] = ()
        again = promoted_plan.find_promoted_plan(intent.intent, ranked)
        stale = self.stale_steps(again.tool) if again and self.stale_steps else None
        if again and stale:
            notes = (f"{again.tool.id} was promoted for this request and is not used: {stale}",)
        elif again:
            choice, ranked = promoted_plan.select_promoted_plan(again, ranked, choice)
        repeated = None if again else self._repeat_accepted(intent.intent, choice, found)
        if repeated:
            choice, found = repeated
        elif not again and any(needs_key(each.tool) for each in choice.chosen):
            closed = self._add_producers(intent.intent, choice, found)
            choice, found, notes = closed.choice, closed.subintents, (*notes, *closed.notes)
        return self.with_omissions(
            SearchResult(
                selector.put_steps_first(ranked, choice),
                selector.put_chosen_first(found, choice),
                choice,
                looked.widened,
                filtered=filtered is not None,
                notes=notes,
            ),
            intent.intent,
        )

    def with_omissions(self, found: SearchResult, request: str) -> SearchResult:
        """Return the search with the parts of the request that its decision leaves out.

        If nothing was decided, the reason names the parts that a tool serves.
        """
        choice, config = found.choice, self.index.config
        if choice.policy != "generate":
            chosen = [ranked.tool for ranked in choice.chosen]
            if any(tool.composed for tool in chosen):
                return found  # its summary is the whole request that it was composed for
            ids = [tool.id for tool in chosen]
            parts = uncovered_parts.find_uncovered_parts(
                request, ids, self.clause, config.threshold
            )
            repeated = self._repeated_calls(request, chosen, parts)
            if choice.policy == "compose":
                lost = uncovered_parts.find_lost_orders(request, found.subintents, self.clause)
                parts = tuple(dict.fromkeys((*parts, *(p for p in lost if p not in repeated))))
            return replace(found, unplaced=parts, repeated=repeated)
        good, rest = uncovered_parts.separate_served_parts(request, self.clause, config.threshold)
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

    def _repeated_calls(
        self, request: str, chosen: Sequence[ToolSpec], uncovered: Collection[str]
    ) -> tuple[str, ...]:
        config = self.index.config
        several = len(chosen) > 1
        floor = config.threshold - config.compose_slack
        # A second look is harmless and is not asked for: only a lost change is named in a plan.
        called = [tool for tool in chosen if not several or is_change(tool)]
        found = {
            part: None
            for tool in called
            for part in find_repeated_calls(
                request,
                tool,
                self.clause,
                uncovered,
                floor=floor,
                now=self.now,
                several=several,
            )
        }
        return tuple(found)

    def _add_producers(
        self, request: str, choice: Decision, subintents: Sequence[SubIntent]
    ) -> ClosedDecision:
        """Return the decision with tools that give the keys which the request lacks."""

        def search(text: str) -> Sequence[Ranked]:
            found = self._rank(text, None, (), self.index, limit=_PRODUCERS)
            return [ranked for ranked in found if not ranked.tool.composed]

        def taken(clause: str, tool: ToolSpec) -> Collection[str]:
            return take_values(clause, tool, self.now).names

        return add_producers(request, choice, subintents, search, taken, max_steps=self.max_steps)

    def _repeat_accepted(
        self, request: str, choice: Decision, clauses: Sequence[SubIntent]
    ) -> tuple[Decision, tuple[SubIntent, ...]] | None:
        """Return the decision of the plan that was accepted for this request, if there is one."""
        ids = accepted_plan.find_accepted_steps(request, self.accepted)
        if not ids or len(ids) > self.max_steps:
            return None

        def rank(tools: Collection[str]) -> Sequence[Ranked]:
            known = frozenset(tool.id for tool in self.catalogue.tools).intersection(tools)
            return self._rank(request, known, known, self.index)

        return accepted_plan.repeat_accepted_plan(request, ids, choice, clauses, rank)

    def _rank_by_values(
        self, intent: ParsedIntent, tools: Collection[str] | None, include: Collection[str]
    ) -> Sequence[Ranked]:
        """Return the candidates, where the values of the request may raise one.

        A request to keep some rows is left as it is: a tool that reads such a file takes the same
        values and does something else.
        """
        index, tau = self._competing(tools), self.index.config.threshold
        text = clean(intent.intent)
        found: Sequence[Ranked] = self._rank(intent, tools, include, index)
        asked = row_operations.match_row_operation(row_operations.strip_orders(text))
        if asked == row_operations.FILTER:
            return found
        found = with_value_evidence(intent.intent, found, tau=tau, now=self.now)

        def rank(wording: str) -> Sequence[Ranked]:
            return self._rank(wording, tools, (), index)

        found = search_without_values(text, found, tau, rank)
        return search_by_subject(text, found, tau, rank)

    def _pool(self, intent: ParsedIntent) -> frozenset[str]:
        """Return ids of the parsed folder's tools; none where nothing was parsed."""
        if intent.domain is None and intent.action is None:
            return frozenset()
        pool = select_pool(self.catalogue, intent.domain, intent.action)
        return frozenset(tool.id for tool in pool)

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

    def clause(self, text: str, *, include: Collection[str] = ()) -> Sequence[Ranked]:
        """Return candidates for one step: a composition is several steps already."""

        def rank(wording: str) -> list[Ranked]:
            found = self._rank(wording, None, include, self.index)
            return [ranked for ranked in found if not ranked.tool.composed]

        config = self.index.config
        floor = config.threshold - config.compose_slack
        found = search_without_values(text, rank(text), floor, rank)
        return search_by_subject(text, found, floor, rank)

    def _following(self, text: str) -> Sequence[Ranked]:
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
