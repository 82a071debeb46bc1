"""Past requests with their plans: what they say for tools, neighbours and edges. Pure.

Only `pulsus compose-eval` uses it. Plans that a person accepted are remembered in
`core/memory/accepted_plans.py`.

Requests are compared with their values masked: "encrypt 'a'" and "encrypt 'b'" are the same.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pulsus.core.compose.tool_chains.chain_model import Matrix
from pulsus.core.compose.tool_chains.clause_alignment import align_steps
from pulsus.core.compose.tool_chains.tool_evidence import RequestScores
from pulsus.core.compose.tool_chains.tool_signature import SignatureTable, Words
from pulsus.core.compose.tool_chains.verb_clauses import VALUE
from pulsus.core.text.tokens import stems

NAMES = (
    *("past_frequency", "past_seen", "near_votes", "nearest_plan", "clause_votes"),
    *("nearest_clause", "most_alike", "most_alike_lead", "votes_together"),
)
"""Columns, in order; those of the evidence come before them."""

_NEIGHBOURS, _CLAUSES, _NEAR_PLANS = 6, 5, 4
"""Past requests and past clauses that vote, and plans that the set of tools is compared with."""

Edge = tuple[int, int]
"""The positions of two steps in a plan: the second uses an output of the first."""


@dataclass(frozen=True)
class PastPlan:
    """A past request with its steps, as places in the table, and its edges.

    `clause_tools` holds the tools of each clause of the request.
    """

    words: Words
    clauses: Sequence[Words]
    steps: Sequence[int]
    edges: frozenset[Edge]
    clause_tools: Sequence[frozenset[int]]

    @classmethod
    def of(
        cls,
        request: RequestScores,
        tools: Sequence[str],
        edges: Collection[Edge],
        table: SignatureTable,
    ) -> PastPlan:
        """Return the plan with each step in its clause. All tools must be in the table."""
        places = [table.place[tool] for tool in tools]
        aligned = align_steps(request, tools)
        return cls(
            content(request.spans.text),
            clause_words(request),
            places,
            frozenset(edges),
            tuple(
                frozenset(place for place, at in zip(places, aligned, strict=True) if at == n)
                for n in range(len(request.spans.clauses))
            ),
        )


@dataclass(frozen=True)
class PairCounts:
    """Counts of two tools in one plan: in this order, and with the first feeding the second."""

    both: Mapping[tuple[int, int], int]
    fed: Mapping[tuple[int, int], int]
    plans_with: Mapping[int, int]
    feeding: Mapping[int, Mapping[int, int]]
    """For each tool, the tools that fed it, with how often."""
    feeds: Mapping[int, int]

    def rate(self, producer: int, consumer: int) -> float:
        """Return the share of plans with both in which the first fed the second."""
        both = self.both.get((producer, consumer), 0)
        return self.fed.get((producer, consumer), 0) / (both + 0.5)

    def share_fed(self, producer: int, consumer: int) -> float:
        """Return the share of the consumer's plans in which the producer fed it."""
        return self.fed.get((producer, consumer), 0) / (self.plans_with.get(consumer, 0) + 0.5)

    def needs(self, consumer: int) -> float:
        """Return the share of the consumer's plans in which its usual producer fed it."""
        most = max(self.feeding.get(consumer, {}).values(), default=0)
        return most / (self.plans_with.get(consumer, 0) + 0.5)

    def together(self, one: int, other: int) -> int:
        """Return in how many plans both occurred, in any order."""
        return self.both.get((one, other), 0) + self.both.get((other, one), 0)


@dataclass(frozen=True)
class PastPlans:
    """Past plans of one catalogue. `left_out` is a plan that does not count, for fits."""

    plans: Sequence[PastPlan]
    left_out: int | None = None

    def without(self, number: int) -> PastPlans:
        """Return the same plans without one: to judge it by the others."""
        return PastPlans(self.plans, number)

    @cached_property
    def counted(self) -> Sequence[PastPlan]:
        """Return the plans that count."""
        return [plan for n, plan in enumerate(self.plans) if n != self.left_out]

    @cached_property
    def pairs(self) -> PairCounts:
        """Return the counts of pairs."""
        both: Counter[tuple[int, int]] = Counter()
        fed: Counter[tuple[int, int]] = Counter()
        plans_with: Counter[int] = Counter()
        feeding: dict[int, Counter[int]] = defaultdict(Counter)
        feeds: Counter[int] = Counter()
        for plan in self.counted:
            steps = plan.steps
            plans_with.update(set(steps))
            both.update((a, b) for n, a in enumerate(steps) for b in steps[n + 1 :])
            for first, second in plan.edges:
                fed[steps[first], steps[second]] += 1
                feeding[steps[second]][steps[first]] += 1
                feeds[steps[first]] += 1
        return PairCounts(both, fed, plans_with, feeding, feeds)

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        counts = Counter(word for plan in self.counted for word in plan.words)
        return {word: self._rarity(count) for word, count in counts.items()}

    def _rarity(self, count: int) -> float:
        return math.log(1 + max(1, len(self.counted)) / (count + 0.5)) ** 2

    def alike(self, one: Words, other: Words) -> float:
        """Return the cosine of two requests, 0 to 1."""
        shared = one & other
        if not shared:
            return 0.0
        return self._mass(shared) / math.sqrt(self._mass(one) * self._mass(other))

    def _mass(self, words: Iterable[str]) -> float:
        unseen = self._rarity(0)
        return math.fsum(self._weights.get(word, unseen) for word in words)

    def nearest(self, request: RequestScores) -> list[tuple[float, PastPlan]]:
        """Return the plans whose requests are most alike, best first."""
        words = content(request.spans.text)
        rated = [(self.alike(words, plan.words), plan) for plan in self.counted]
        rated.sort(key=lambda row: -row[0])  # stable: equal ones stay in file order
        return rated[:_NEIGHBOURS]

    def near_plans(self, request: RequestScores) -> list[tuple[float, frozenset[int]]]:
        """Return the tools of the nearest plans, with how alike their requests are."""
        return [(alike, frozenset(p.steps)) for alike, p in self.nearest(request)[:_NEAR_PLANS]]

    def tools(self, request: RequestScores) -> frozenset[int]:
        """Return the tools that past requests bring in: all of near plans and near clauses."""
        near = frozenset(tool for _, plan in self.nearest(request) for tool in plan.steps)
        votes = self._clause_votes(request)
        return near.union(*(tools for found in votes for _, tools in found))

    def votes(self, request: RequestScores, tools: Sequence[int]) -> Matrix:
        """Return one row of `NAMES` for each tool."""
        near = self.nearest(request)
        total = sum(alike**2 for alike, _ in near) + 0.05
        clauses = self._clause_votes(request)
        words = content(request.spans.text)
        most: dict[int, float] = {}
        for plan in self.counted:
            alike = self.alike(words, plan.words)
            for tool in plan.steps:
                most[tool] = max(most.get(tool, 0.0), alike)
        ranked = sorted(most.values(), reverse=True)
        second = ranked[1] if len(ranked) > 1 else 0.0
        count = self.pairs.plans_with
        rows = []
        for tool in tools:
            seen = count.get(tool, 0)
            voted = sum(alike**2 for alike, plan in near if tool in plan.steps) / total
            first = near[0][0] if near and tool in near[0][1].steps else 0.0
            of_clause = max(
                (
                    sum(alike**2 for alike, found in one if tool in found)
                    / (sum(alike**2 for alike, _ in one) + 0.1)
                    for one in clauses
                ),
                default=0.0,
            )
            nearest_clause = max(
                (one[0][0] for one in clauses if one and tool in one[0][1]), default=0.0
            )
            alike = most.get(tool, 0.0)
            rows.append(
                [
                    math.log((seen + 0.3) / (len(self.counted) + 1)),
                    *(float(seen > 0), voted, first, of_clause, nearest_clause, alike),
                    *(alike - second, voted * of_clause),
                ]
            )
        return np.array(rows, dtype=np.float64).reshape(len(tools), len(NAMES))

    def _clause_votes(self, request: RequestScores) -> list[list[tuple[float, frozenset[int]]]]:
        """Return for each clause the past clauses most alike, with their tools."""
        found = []
        for words in clause_words(request):
            rated = [
                (self.alike(words, other), tools)
                for plan in self.counted
                for other, tools in zip(plan.clauses, plan.clause_tools, strict=True)
                if tools
            ]
            rated.sort(key=lambda row: -row[0])
            found.append(rated[:_CLAUSES])
        return found


def content(text: str) -> Words:
    """Return the stems of a text, without masked values and numbers."""
    return Words(word for word in stems(text) if word != VALUE and not word.isdigit())


def clause_words(request: RequestScores) -> list[Words]:
    """Return the stems of each clause."""
    return [content(request.spans.clause_text(n)) for n in range(len(request.spans.clauses))]
