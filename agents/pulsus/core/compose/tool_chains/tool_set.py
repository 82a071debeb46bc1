"""Choose the tools of a plan together, because one tool decides for another. Pure.

Only `pulsus compose-eval` uses it. Routes choose the steps in
`core/compose/selection/step_candidates.py`, and missing producers in
`core/compose/selection/producer_closure.py`.

A step that needs a value adds the tool that gives it (producer closure). Two tools that do the same
for one clause exclude each other. Each tool is rated beside the others, and the set with the
highest sum of log probabilities wins (pseudo-likelihood, coordinate search).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pulsus.core.compose.tool_chains.chain_model import LinearModel, Matrix
from pulsus.core.compose.tool_chains.past_plans import PastPlans
from pulsus.core.compose.tool_chains.tool_evidence import ToolEvidence
from pulsus.core.compose.tool_chains.tool_signature import LOOSE, SignatureTable, ToolLink
from pulsus.core.compose.tool_chains.tool_support import logit

NAMES = (
    *("support", "gives_needed", "gives_needed_key", "gives_to_act", "alike_in_clause"),
    *("clause_taken", "fed_by_family", "fed_by_key", "lacks_family", "lacks_key"),
    *("clause_free", "clause_free_first", "clause_free_gap", "family_present"),
    *("family_unlinked", "alone", "one_other", "many_others", "gives_again", "alike"),
    *("gives_needed_support", "gives_needed_key_support", "acts_and_fed", "linked"),
    *("clause_taken_support", "clauses_left"),
)
PAST_NAMES = (
    *("past_feeds", "past_feeds_open", "past_lacks", "past_fed", "past_follows"),
    *("past_together", "past_never", "past_seen_tool", "near_plan_gain"),
)
"""Further columns with past plans."""

_FIRST, _EXPANDED, _PRODUCERS, _PAST_PRODUCERS = 14, 8, 4, 2
_LEAST = 0.04
"""A tool below this probability is only added if it feeds another one."""
_ROUNDS = 10

Steps = frozenset[int]


@dataclass(frozen=True)
class ToolSetChoice:
    """The candidates of one request, rated, from which a set is chosen.

    `p` is the probability of each candidate by evidence and support. All sets hold places in the
    table.
    """

    table: SignatureTable
    found: ToolEvidence
    p: Mapping[int, float]
    past: PastPlans | None

    @classmethod
    def of(
        cls, table: SignatureTable, found: ToolEvidence, p: Matrix, past: PastPlans | None
    ) -> ToolSetChoice:
        """Return the choice among the candidates of `found`, rated with `p` in their order."""
        rated = {tool: float(value) for tool, value in zip(found.tools, p, strict=True)}
        return cls(table, found, rated, past)

    @cached_property
    def support(self) -> Mapping[int, float]:
        """Return the logit of each candidate."""
        values = logit(np.array(list(self.p.values())))
        return {tool: float(value) for tool, value in zip(self.p, values, strict=True)}

    @cached_property
    def clause(self) -> Mapping[int, int]:
        """Return the clause of each candidate."""
        return dict(zip(self.found.tools, self.found.clause, strict=True))

    @cached_property
    def _near(self) -> Sequence[tuple[float, Steps]]:
        return self.past.near_plans(self.found.request) if self.past else ()

    def pool(self, extra: Iterable[int] = ()) -> list[int]:
        """Return the candidates worth a look: the best, and those that feed the best."""
        ranked = sorted(self.p, key=lambda tool: (-self.p[tool], tool))
        pool = {*ranked[:_FIRST], *extra}
        for tool in ranked[:_EXPANDED]:
            makers = [maker for maker in self.table.producers(tool) if maker in self.p]
            makers.sort(
                key=lambda m, c=tool: (not self.table.link(c, m).family, -self.p[m], m)  # type: ignore[misc]
            )
            pool.update(makers[:_PRODUCERS])
            if self.past:
                usual = self.past.pairs.feeding.get(tool, {})
                best = sorted(usual, key=lambda maker, of=usual: (-of[maker], maker))  # type: ignore[misc]
                pool.update(maker for maker in best[:_PAST_PRODUCERS] if maker in self.p)
        return sorted(pool)

    def reachable_pool(self) -> list[int]:
        """Return the pool without tools that are improbable and feed no probable one."""
        likely = [tool for tool, p in self.p.items() if p >= _LEAST]
        kept = [
            tool
            for tool in self.pool()
            if self.p[tool] >= _LEAST
            or any(self._link(other, tool).firm or self._has_fed(tool, other) for other in likely)
        ]
        return kept or [max(self.p, key=lambda tool: (self.p[tool], -tool))]

    def choose(self, model: LinearModel) -> Steps:
        """Return the best set that single additions, removals and swaps reach. Never empty."""
        pool = self.reachable_pool()
        top = max(pool, key=lambda tool: (self.p[tool], -tool))
        starts = [Steps(t for t in pool if self.p[t] >= 0.5) or Steps({top}), Steps({top})]
        if self._near:
            starts.append(self._near[0][1].intersection(pool) or Steps({top}))
        rated: dict[Steps, float] = {}

        def rate(steps: Steps) -> float:
            if steps not in rated:
                rated[steps] = self._rate(steps, pool, model)
            return rated[steps]

        ends = [_climb(start, pool, rate) for start in starts]
        return max(ends, key=rate)

    def _rate(self, steps: Steps, pool: Sequence[int], model: LinearModel) -> float:
        logits = model.logits(self.columns(steps, pool))
        signs = np.array([1.0 if tool in steps else -1.0 for tool in pool])
        return -float(np.log1p(np.exp(-logits * signs)).sum())

    def columns(self, steps: Steps, pool: Sequence[int]) -> Matrix:
        """Return one row for each tool of `pool`: how it stands beside the other `steps`."""
        rows = []
        for tool in pool:
            others = sorted(steps - {tool})
            row = self._beside(tool, others, pool)
            if self.past:
                row += self._in_past(tool, others, self.past)
            rows.append(row)
        return np.array(rows, dtype=np.float64)

    def _link(self, consumer: int, producer: int) -> ToolLink:
        return self.table.link(consumer, producer)

    def _has_fed(self, producer: int, consumer: int) -> bool:
        return self.past is not None and (producer, consumer) in self.past.pairs.fed

    def _linked(self, one: int, other: int) -> bool:
        return max(self._link(one, other).strength, self._link(other, one).strength) >= LOOSE

    def _beside(self, tool: int, others: Sequence[int], pool: Sequence[int]) -> list[float]:
        link, clause, support = self._link, self.clause, self.support
        table = self.table
        own = support[tool]
        to = {other: link(other, tool) for other in others}
        of = {other: link(tool, other) for other in others}
        by_family = [c for c in others if _by_family(to[c])]
        by_key = [c for c in others if _by_key(to[c])]

        def open_for(consumers: Sequence[int], fits: Callable[[ToolLink], bool]) -> list[int]:
            return [
                c for c in consumers if not any(fits(link(c, u)) for u in others if u not in (c,))
            ]

        needed = open_for(by_family, _by_family)
        needed_key = open_for(by_key, _by_key)
        to_act = any(table.tools[c].acts for c in needed)
        same = [c for c in others if clause[c] == clause[tool]]
        taken = any(not self._linked(c, tool) for c in same)
        alike_in_clause = max(
            (table.likeness(c, tool) for c in same if self.p[c] >= self.p[tool]), default=0.0
        )
        fed, fed_key = any(map(_by_family, of.values())), any(map(_by_key, of.values()))
        makers = table.producers(tool)
        may_family = any(link(tool, maker).family for maker in makers)
        may_key = any(link(tool, maker).by_key for maker in makers)
        rivals = (support[u] for u in pool if u != tool and clause[u] == clause[tool])
        gap = max(rivals, default=-5.0) - own
        family = any(to[c].family for c in others)
        return [
            *(own, bool(needed), bool(needed_key), to_act, alike_in_clause, taken, fed, fed_key),
            *(may_family and not fed, may_key and not fed_key, not same, not same and gap <= 0),
            *((not same) * min(3.0, max(-3.0, gap)), family),
            family and not (fed or needed or needed_key),
            *(not others, len(others) == 1, len(others) >= 4, bool(by_family) and not needed),
            max((table.likeness(c, tool) for c in others if support[c] >= own), default=0.0),
            *(bool(needed) * own, bool(needed_key) * own, table.tools[tool].acts and fed),
            any(self._linked(c, tool) for c in others),
            *(taken * own, len(self.found.request.clauses) - len(others)),
        ]

    def _in_past(self, tool: int, others: Sequence[int], past: PastPlans) -> list[float]:
        pairs = past.pairs
        count = pairs.plans_with
        feeds = {c: pairs.share_fed(tool, c) for c in others}
        open_feeds = [
            share
            for c, share in feeds.items()
            if not any((u, c) in pairs.fed for u in others if u != tool)
        ]
        fed = max((pairs.share_fed(c, tool) for c in others), default=0.0)
        never = [
            pairs.together(tool, c) == 0 and count.get(c, 0) >= 3 and count.get(tool, 0) >= 3
            for c in others
        ]
        together = (pairs.together(tool, c) / (count.get(c, 0) + 0.5) for c in others)
        before, after = Steps(others), Steps({*others, tool})
        gain = sum(
            alike * (_overlap(plan, after) - _overlap(plan, before)) for alike, plan in self._near
        )
        return [
            max(feeds.values(), default=0.0),
            max(open_feeds, default=0.0),
            *(pairs.needs(tool) * (fed == 0), fed),
            max((pairs.fed.get((c, tool), 0) / (count.get(c, 0) + 0.5) for c in others), default=0),
            max(together, default=0.0),
            sum(never) / len(never) if never else 0.0,
            *(float(count.get(tool, 0) > 0), gain),
        ]


def _climb(start: Steps, pool: Sequence[int], rate: Callable[[Steps], float]) -> Steps:
    steps = start
    for _ in range(_ROUNDS):
        near = [steps ^ {tool} for tool in pool]
        near += [steps - {out} | {new} for out in sorted(steps) for new in pool if new not in steps]
        best = max((one for one in near if one), key=rate, default=steps)
        if rate(best) <= rate(steps) + 1e-9:
            break
        steps = best
    return steps


def _by_family(link: ToolLink) -> bool:
    return link.firm and link.family


def _by_key(link: ToolLink) -> bool:
    return link.firm and link.by_key


def _overlap(one: Steps, other: Steps) -> float:
    return len(one & other) / max(1, len(one | other))
