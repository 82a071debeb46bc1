"""Compose a chain of tools for a request, without a model of language (spec §6, ADR 41). Pure.

Only `pulsus compose-eval` uses this package; routes compose plans by the types of contracts:
`core/compose/selection/step_candidates.py` chooses the steps, `core/compose/plans/build_plan.py`
makes the plan.

Clauses are ranked, candidates are rated, a set is chosen, put in order and wired. Past plans, where
there are any, count as further evidence in each step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pulsus.core.compose.tool_chains.chain_edges import StepPairs
from pulsus.core.compose.tool_chains.chain_model import ChainModel, Matrix, shipped_model
from pulsus.core.compose.tool_chains.past_plans import Edge, PairCounts, PastPlan, PastPlans
from pulsus.core.compose.tool_chains.step_order import order_steps
from pulsus.core.compose.tool_chains.tool_evidence import (
    RankText,
    RequestScores,
    ToolEvidence,
    collect_evidence,
)
from pulsus.core.compose.tool_chains.tool_set import ToolSetChoice
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable
from pulsus.core.compose.tool_chains.tool_support import collect_support


@dataclass(frozen=True)
class ToolChain:
    """Tools in order with their edges. `why` says for each step where it comes from."""

    tools: tuple[str, ...]
    edges: frozenset[Edge]
    p: tuple[float, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChainComposer:
    """A catalogue made ready for composing. `rank` ranks it for a text."""

    table: SignatureTable
    rank: RankText
    model: ChainModel
    past: PastPlans | None = None

    @classmethod
    def of(cls, table: SignatureTable, rank: RankText) -> ChainComposer:
        """Return a composer with the shipped weights and without past plans."""
        return cls(table, rank, shipped_model(past_plans=False))

    def remembering(
        self, plans: Sequence[tuple[str, Sequence[str], Collection[Edge]]]
    ) -> ChainComposer:
        """Return the composer with past plans: request, tools in order, edges.

        All tools must be in the table. Without plans the composer stays as it is.
        """
        if not plans:
            return self
        past = PastPlans(
            [
                PastPlan.of(RequestScores.of(request, self.rank), tools, edges, self.table)
                for request, tools, edges in plans
            ]
        )
        return replace(self, past=past, model=shipped_model(past_plans=True))

    def compose(self, request: str) -> ToolChain:
        """Return the chain for a request; empty if no tool shares a word with it."""
        scores = RequestScores.of(request, self.rank)
        found = self.collect(scores)
        if not found.tools:
            return ToolChain((), frozenset())
        choice = ToolSetChoice.of(self.table, found, self.rate(found), self.past)
        chosen = choice.choose(self.model.tool_set)
        steps = order_steps(chosen, found, self.table, self._pairs)
        edges = StepPairs(scores, steps, self.table, self._pairs).choose(self.model.edges)
        return ToolChain(
            tuple(self.table.tools[step].id for step in steps),
            edges,
            tuple(choice.p[step] for step in steps),
            tuple(self._explain(at, steps, edges, found) for at in range(len(steps))),
        )

    def wire(self, request: str, tools: Sequence[str]) -> frozenset[Edge]:
        """Return the edges between given tools in order. All must be in the table."""
        scores = RequestScores.of(request, self.rank)
        steps = [self.table.place[tool] for tool in tools]
        return StepPairs(scores, steps, self.table, self._pairs).choose(self.model.edges)

    def collect(self, scores: RequestScores) -> ToolEvidence:
        """Return the candidates of a request with their evidence and the votes of past plans."""
        recalled = self.past.tools(scores) if self.past else ()
        found = collect_evidence(scores, self.table, recalled)
        if self.past is None:
            return found
        votes = self.past.votes(scores, found.tools)
        return replace(found, columns=np.hstack([found.columns, votes]))

    def rate(self, found: ToolEvidence) -> Matrix:
        """Return p of each candidate by its evidence and the support of the others."""
        alone = self.model.evidence.probabilities(found.columns)
        return self.model.support.probabilities(collect_support(found, alone, self.table))

    @property
    def _pairs(self) -> PairCounts | None:
        return self.past.pairs if self.past else None

    def _explain(
        self, at: int, steps: Sequence[int], edges: Collection[Edge], found: ToolEvidence
    ) -> str:
        """Return in one clause why a step is in the chain."""
        step = steps[at]
        fed = [self.table.tools[steps[to]].id for of, to in sorted(edges) if of == at]
        clause = found.clause[found.tools.index(step)]
        spans = found.request.spans
        words = spans.clause_text(clause).strip(" ,.;") if spans.clauses else spans.text
        gives = f"; feeds {', '.join(dict.fromkeys(fed))}" if fed else ""
        return f"for {words!r}{gives}"
